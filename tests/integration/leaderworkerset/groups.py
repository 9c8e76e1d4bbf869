"""What tests of single groups share: sets with parts of their own, and who was made anew."""

from collections import Counter
from typing import Any

from harness import pods
from harness.kube import Json
from harness.operator import Operator
from harness.waiting import eventually
from harness.watching import Recorder
from tests.integration.leaderworkerset.manifests import NAME, PREFIX, leader_worker_set
from tests.integration.leaderworkerset.worlds import World

CONTAINER = "serve"


def make(
    world: World,
    *,
    replicas: int = 1,
    size: int = 3,
    ready: bool = True,
    both: Json | None = None,
    leader: Json | None = None,
    worker: Json | None = None,
    template: Json | None = None,
    **more: Any,
) -> None:
    """Create a set. `both`, `leader` and `worker` are merged into the pod templates, `template`
    into leaderWorkerTemplate; the rest is what `leader_worker_set` takes."""
    name = more.setdefault("name", NAME)
    lws = leader_worker_set(replicas=replicas, size=size, **more)
    whole = lws["spec"]["leaderWorkerTemplate"]
    for part, own in (("leaderTemplate", leader), ("workerTemplate", worker)):
        whole[part] = merged(merged(whole[part], both or {}), own or {})
    lws["spec"]["leaderWorkerTemplate"] = merged(whole, template or {})
    world.kube.create(lws, world.namespace)
    if ready:
        world.until(lambda: world.has_settled(name), what=f"{name} is there and ready")


def merged(base: Json, over: Json) -> Json:
    """`over` on `base`, dictionaries key by key."""
    both = {key: value for key, value in over.items() if isinstance(value, dict)}
    return {**base, **over, **{key: merged(base.get(key) or {}, both[key]) for key in both}}


def with_init(*, sidecar: bool = False) -> Json:
    """For a pod template: an init container."""
    always = {"restartPolicy": "Always"} if sidecar else {}
    return {"spec": {"initContainers": [{"name": "setup", "image": "setup:1", **always}]}}


def annotated(**annotations: str) -> Json:
    """For a pod template: annotations that steer the kubelets' stand-in (`harness.kwok`)."""
    return {"metadata": {"annotations": annotations}}


def names_of(group: int, *, size: int = 3, name: str = NAME) -> list[str]:
    """The pods of one group, the leader first."""
    leader = f"{name}-{group}"
    return [leader, *(f"{leader}-{worker}" for worker in range(1, size))]


def uids(world: World) -> dict[str, str]:
    """Who lives now, by pod name."""
    return {name: pod["metadata"]["uid"] for name, pod in world.pods.live().items()}


def restarts(world: World, name: str = NAME) -> list[Json]:
    """`status.groupRestarts`."""
    found: list[Json] = world.status(name).get("groupRestarts") or []
    return found


def recreations(world: World, name: str = NAME) -> int:
    """How often an event told of a recreated group."""
    events = world.events("RecreateGroup", name)
    return sum((event.get("series") or {}).get("count", 1) for event in events)


def require_once(seen: Recorder, group: int, *, size: int = 3, lost: str | None = None) -> None:
    """Every pod of the group was replaced once, nothing else was.

    The one that was `lost` may have been made once more, by the StatefulSet controller, before
    the StatefulSet itself was taken away.
    """
    seen.catch_up()
    once = Counter(names_of(group, size=size))
    twice = once + Counter([lost] if lost else [])
    created, deleted = seen.creations(), seen.deletions()
    assert created in (once, twice), f"made: {created}"
    assert deleted == created, f"gone: {deleted}"


def fail(world: World, pod: str, **how: Any) -> None:
    """A container of a pod ends and is restarted; returns when that was seen."""
    before = world.pods.live()[pod]["metadata"]["uid"]
    pods.fail_container(world.kube, world.namespace, pod, **how)
    world.until(
        lambda: (
            world.pods.live().get(pod, {}).get("metadata", {}).get("uid") != before
            or _restarted(world.pods.live()[pod])
        ),
        what=f"the restart in {pod} was seen",
    )


def _restarted(pod: Json) -> bool:
    status = pod["status"]
    entries = [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
    return any(entry["restartCount"] for entry in entries)


def worker_set(world: World, group: int, name: str = NAME) -> Json:
    """The worker StatefulSet of a group; empty if there is none."""
    return world.statefulsets.live().get(f"{name}-{group}", {})


def label(pod: Json, key: str) -> str | None:
    """One of our labels."""
    found: str | None = pod["metadata"]["labels"].get(PREFIX + key)
    return found


def annotation(item: Json, key: str) -> str | None:
    """One of our annotations."""
    found: str | None = item["metadata"].get("annotations", {}).get(PREFIX + key)
    return found


def tracebacks(operator: Operator) -> list[str]:
    """Lines of an operator's log that show a mistake of ours."""
    with operator.log.open(encoding="utf-8", errors="replace") as log:
        return [line for line in log if '"exception":' in line or "Traceback" in line]


def comes_to_rest(world: World) -> None:
    """See that the operator writes nothing any more, once the cluster's own controllers, who may
    be late on a busy machine, have nothing new to tell it."""

    def rests() -> bool:
        world.rest()
        return True

    eventually(rests, what="nothing more is written")
