"""What must be so once nothing disturbs any more."""

from collections.abc import Iterator

from lws.api import names
from lws.simulation.judge.books import Books
from lws.simulation.judge.wire import (
    Json,
    budgets,
    is_leader,
    is_terminating,
    labels_of,
    owner_of,
    place_of,
    uid_of,
)

OURS = ("statefulsets", "services", "controllerrevisions", "pods")


def unsettled(books: Books) -> Iterator[str]:
    """What is not as its user wants it, set by set."""
    for lws in books.all("leaderworkersets"):
        for words in _unsettled_set(books, lws):
            yield f"leaderworkersets/{place_of(lws)[1]}: {words}"
    for whole in books.all("disaggregatedsets"):
        for words in _unsettled_roles(books, whole):
            yield f"disaggregatedsets/{place_of(whole)[1]}: {words}"


def _unsettled_set(books: Books, lws: Json) -> Iterator[str]:
    if is_terminating(lws):
        yield "is being deleted"
        return
    yield from _conditions(lws)
    spec, namespace, name = lws["spec"], *place_of(lws)
    replicas = int(spec.get("replicas", 1))
    workload = books.get("statefulsets", (namespace, name))
    if workload is None or owner_of(workload) != uid_of(lws):
        yield "has no leader StatefulSet"
        return
    standing = int(workload["spec"].get("replicas", 1))
    surge = budgets(spec, replicas)[0] if _partition(spec) else 0  # a canary keeps its surge
    if not replicas <= standing <= replicas + surge:
        yield f"its StatefulSet has {standing} of {replicas} groups"
    yield from _strategy(spec, workload)
    groups = books.groups(namespace, name)
    led = [index for index, pods in groups.items() if any(map(is_leader, pods))]
    if led != list(range(standing)):
        yield f"groups {led} of {standing}"
    for index in led:
        if not books.standing((namespace, name, index)).is_ready:
            yield f"group {index} is not ready"
    yield from _images(lws, groups)
    counts = {key: (lws.get("status") or {}).get(key, 0) for key in _COUNTS}
    if any(count != standing for count in counts.values()):
        yield f"status says {counts} of {standing}"


_COUNTS = ("replicas", "readyReplicas")


def _strategy(spec: Json, workload: Json) -> Iterator[str]:
    strategy = workload["spec"].get("updateStrategy") or {}
    wanted = _partition(spec)
    found = (strategy.get("rollingUpdate") or {}).get("partition", 0)
    if strategy.get("type", "RollingUpdate") != "RollingUpdate" or found != wanted:
        yield f"its StatefulSet's strategy is {strategy}, the partition is to be {wanted}"


def _partition(spec: Json) -> int:
    strategy = spec.get("rolloutStrategy") or {}
    configuration = strategy.get("rollingUpdateConfiguration") or {}
    return int(configuration.get("partition") or 0)


def _images(lws: Json, groups: dict[int, list[Json]]) -> Iterator[str]:
    """Every group in range is of the wanted template, all its pods."""
    template = lws["spec"]["leaderWorkerTemplate"]
    worker = _image(template["workerTemplate"])
    leader = _image(template["leaderTemplate"]) if template.get("leaderTemplate") else worker
    size = int(template.get("size", 1))
    for index, pods in groups.items():
        if index < _partition(lws["spec"]):
            continue
        found = sorted(_image(pod) for pod in pods)
        if found != sorted([leader] + [worker] * (size - 1)):
            yield f"group {index} runs {found}"


def _image(pod: Json) -> str:
    return str(pod["spec"]["containers"][0]["image"])


def _conditions(obj: Json) -> Iterator[str]:
    status = obj.get("status") or {}
    if status.get("observedGeneration") != obj["metadata"]["generation"]:
        yield f"generation {obj['metadata']['generation']} is not observed"
    true = sorted(one["type"] for one in status.get("conditions") or () if one["status"] == "True")
    if true != ["Available"]:
        yield f"conditions {true}"


def _unsettled_roles(books: Books, whole: Json) -> Iterator[str]:
    if is_terminating(whole):
        yield "is being deleted"
        return
    yield from _conditions(whole)
    spec = whole["spec"]
    owned = [one for one in books.all("leaderworkersets") if owner_of(one) == uid_of(whole)]
    wanted = {
        (str(index), role["name"]): int(role["spec"].get("replicas", 1))
        for index in range(int(spec.get("slices", 1)))
        for role in spec["roles"]
    }
    found: dict[tuple[str, str], int] = {}
    for lws in owned:
        labels = labels_of(lws)
        place = labels.get(names.DS_SLICE, "0"), labels.get(names.DS_ROLE, "")
        found[place] = found.get(place, 0) + int(lws["spec"].get("replicas", 1))
    if found != wanted:
        yield f"roles have {found}, wanted are {wanted}"
    if len(owned) != len(wanted):
        yield f"there are {len(owned)} LeaderWorkerSets for {len(wanted)} roles"


def orphans(books: Books) -> Iterator[str]:
    """What is left of sets that have gone."""
    for plural in OURS:
        for obj in books.all(plural):
            labels = labels_of(obj)
            if "simulation/foreign" in labels:
                continue
            if {names.NAME, names.HISTORY_OF, names.DS_NAME} & set(labels):
                yield f"{plural}/{place_of(obj)[1]}"
