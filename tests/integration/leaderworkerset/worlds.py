"""A namespace of a control plane and what lives in it: to write, to look, to wait, to judge.

Nothing here knows a rule of the operator: what is right stands in the tests. All looking is at
what watches have brought, so waiting costs the API server nothing.
"""

import contextlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from harness import kwok, pods
from harness.audit import Count, Request
from harness.kube import Json, Kube
from harness.operator import Operator
from harness.plane import OPERATOR, Plane
from harness.waiting import eventually
from harness.watching import Recorder
from tests.integration.leaderworkerset.judging import Bounds, leaders, ready_groups, whole_groups
from tests.integration.leaderworkerset.manifests import NAME, PREFIX, leader_worker_set, pods_of

SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
REVISIONS = "controllerrevisions"
SECONDS_MAX = 90.0
"""Two cores may be busy with a dozen such worlds."""
REST_SECONDS = 1.2
_STATUS_SECONDS = 6.0
"""No status is later than five seconds (docs/decisions/0010)."""
"""Counters of a status are folded for a second; a write that is due comes within this time."""
_ROUNDS_MAX = 15
"""So often for so long something may still be written before a world counts as restless."""


class World:
    """One namespace. `with World(plane, operator) as world: …`"""

    def __init__(self, plane: Plane, operator: Operator) -> None:
        self.plane, self.operator = plane, operator
        self.kube: Kube = plane.kube
        self.namespace = f"world-{secrets.token_hex(4)}"
        self._open = contextlib.ExitStack()

    def __enter__(self) -> "World":
        """Make the namespace and begin to watch it."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        self.kube.create(namespace)
        with contextlib.ExitStack() as opened:
            self.pods, self.statefulsets, self._sets, self._revisions = (
                opened.enter_context(Recorder(self.kube, self.namespace, resource=resource))
                for resource in ("pods", "statefulsets", SETS, REVISIONS)
            )
            self._open = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop to watch; an error is told with what the world looks like."""
        if error is not None:
            error.add_note(self.story())
        self._open.__exit__(kind, error, trace)

    # A user's writes

    def create(self, name: str = NAME, *, ready: bool = True, **manifest: Any) -> None:
        """Create a set (`leader_worker_set`), and wait until it has settled."""
        self.kube.create(leader_worker_set(name, **manifest), self.namespace)
        if ready:
            self.until(lambda: self.has_settled(name), what=f"{name} is there and ready")

    def change(self, spec: Json, *, name: str = NAME) -> None:
        """Merge into the spec."""
        changed = self.kube.patch(SETS, name, {"spec": spec}, self.namespace)["metadata"]
        self.until(
            lambda: self.lws(name)["metadata"]["generation"] >= changed["generation"],
            what="our own change was seen",
        )

    def push(self, image: str, *, name: str = NAME, **template: Any) -> None:
        """Another template (`pods_of`)."""
        self.change({"leaderWorkerTemplate": pods_of(image=image, **template)}, name=name)

    def roll(self, *, name: str = NAME, **configuration: Any) -> None:
        """Merge into rollingUpdateConfiguration, by its own names."""
        strategy = {"rollingUpdateConfiguration": configuration}
        self.change({"rolloutStrategy": strategy}, name=name)

    def annotate(self, name: str = NAME, **annotations: str | None) -> None:
        """Set annotations of a set that begin with our prefix; `_` stands for `-`."""
        change = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
        self.kube.patch(SETS, name, {"metadata": {"annotations": change}}, self.namespace)

    def delete(self, name: str = NAME, *, propagation: str = "Background") -> None:
        """Delete a set."""
        self.kube.delete(SETS, name, self.namespace, propagation=propagation)

    # What befalls groups

    def release(self, *groups: int, name: str = NAME) -> None:
        """Let the held leaders of these groups start, as far as they are there and held."""
        held = {
            group: pod
            for group, pod in self.leaders(name).items()
            if kwok.HOLD in pod["metadata"].get("annotations", {})
        }
        for group in held.keys() & set(groups):
            pods.release(self.kube, self.namespace, f"{name}-{group}", kwok.HOLD)

    def releasing(self, *groups: int, name: str = NAME) -> Callable[[], None]:
        """To pass as `meanwhile`: what is held of these groups is released as it comes."""
        return lambda: self.release(*groups, name=name)

    def break_group(self, group: int, *, name: str = NAME) -> None:
        """Its leader is no longer ready."""
        pods.set_ready(self.kube, self.namespace, f"{name}-{group}", False)
        self.until(lambda: group not in self.ready(name), what=f"group {group} is not ready")

    # Looking

    def lws(self, name: str = NAME) -> Json:
        """The set as last seen; empty if there is none."""
        return self._sets.live().get(name, {})

    def status(self, name: str = NAME) -> Json:
        """Of the set."""
        found: Json = self.lws(name).get("status", {})
        return found

    def condition(self, kind: str, name: str = NAME) -> Json:
        """A condition of the set; empty if it is not listed."""
        conditions = self.status(name).get("conditions") or []
        return next((one for one in conditions if one["type"] == kind), {})

    def is_true(self, kind: str, name: str = NAME) -> bool:
        """Whether a condition holds, said of the spec that stands."""
        current = self.lws(name).get("metadata", {}).get("generation")
        found = self.condition(kind, name)
        return found.get("status") == "True" and found.get("observedGeneration") == current

    def statefulset(self, name: str = NAME) -> Json:
        """As last seen; empty if there is none."""
        return self.statefulsets.live().get(name, {})

    def leaders(self, name: str = NAME) -> dict[int, Json]:
        """Leader pods by group, those that are being deleted too."""
        return leaders(self.pods.live(), name)

    def keys(self, name: str = NAME) -> dict[int, str]:
        """The revision key of each leader pod."""
        found = self.leaders(name).items()
        return {
            group: pod["metadata"]["labels"][f"{PREFIX}template-revision-hash"]
            for group, pod in found
        }

    def images(self, name: str = NAME) -> Counter[str]:
        """How many pods of the set serve which image."""
        return Counter(
            pod["spec"]["containers"][0]["image"]
            for pod in self.pods.live().values()
            if pod["metadata"]["labels"].get(f"{PREFIX}name") == name
        )

    def groups_of(self, image: str, name: str = NAME) -> set[int]:
        """The groups whose leader serves it."""
        found = self.leaders(name).items()
        return {
            group
            for group, pod in found
            if pod["spec"]["containers"][0]["image"] == image
            and "deletionTimestamp" not in pod["metadata"]
        }

    def taken(self, image: str, name: str = NAME) -> set[int]:
        """Of `groups_of`, those of which every pod is there."""
        return self.groups_of(image, name) & whole_groups(self.pods.live(), name)

    def leaving(self, name: str = NAME) -> set[str]:
        """Pods that are on their way out: a worker of a group whose leader has gone, for one."""
        return {
            pod["metadata"]["name"]
            for pod in self.pods.live().values()
            if pod["metadata"]["labels"].get(f"{PREFIX}name") == name
            and "deletionTimestamp" in pod["metadata"]
        }

    def ready(self, name: str = NAME) -> set[int]:
        """Groups of which every pod is ready."""
        return ready_groups(self.pods.live(), name)

    def revisions(self, name: str = NAME, *, retired: bool = False) -> dict[str, Json]:
        """A set's own ControllerRevisions by key: those in use, or those put away."""
        label = f"{PREFIX}history-of" if retired else f"{PREFIX}name"
        return {
            one["metadata"]["labels"][f"{PREFIX}template-revision-hash"]: one
            for one in self._revisions.live().values()
            if one["metadata"]["labels"].get(label) == name
            and one["metadata"]["ownerReferences"][0]["kind"] == "LeaderWorkerSet"
        }

    def events(self, reason: str, name: str = NAME) -> list[Json]:
        """Events on a set with this reason."""
        return [
            event
            for event in self.kube.items("events.events.k8s.io", self.namespace)
            if event["reason"] == reason and event["regarding"]["name"] == name
        ]

    # Waiting

    def until(
        self,
        check: Callable[[], Any],
        *,
        what: str,
        timeout: float = SECONDS_MAX,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """Wait until `check` is true of what was seen, doing `meanwhile` again and again."""

        def checked() -> bool:
            meanwhile()
            return bool(check())

        eventually(checked, timeout=timeout, every=0.03, what=what, retry_on=(KeyError,))

    def until_quota_is_known(self, name: str) -> None:
        """A quota refuses nothing before its controller has counted once."""
        eventually(
            lambda: self.kube.get("resourcequotas", name, self.namespace)["status"].get("used"),
            what=f"quota {name} is counted",
            every=0.2,
        )

    def has_settled(self, name: str = NAME, *, image: str | None = None) -> bool:
        """Whether nothing is left to do: all groups of the wanted template and ready, and said so.

        Of a canary only the groups from its partition on must be of the wanted template.
        `image` is for a template whose leader is not written out.
        """
        lws, statefulset = self.lws(name), self.statefulset(name)
        if not lws or not statefulset:
            return False
        spec, status = lws["spec"], lws.get("status", {})
        replicas = spec["replicas"]
        rolling = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
        updated = range(rolling["partition"], replicas)
        key = statefulset["metadata"]["labels"][f"{PREFIX}template-revision-hash"]
        wanted = (
            image
            or spec["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["image"]
        )
        return (
            status.get("observedGeneration") == lws["metadata"]["generation"]
            and self.is_true("Available", name)
            and status.get("readyReplicas", 0) == status.get("replicas", 0) == replicas
            and status.get("updatedReplicas", 0) >= len(updated)
            and set(updated) <= self.groups_of(wanted, name)
            and all(self.keys(name)[group] == key for group in updated)
            and self.ready(name) == set(range(replicas))
            and len(self.leaders(name)) == replicas == statefulset["spec"]["replicas"]
            and not self.leaving(name)
            and statefulset["spec"]["updateStrategy"]["type"] == "RollingUpdate"
            and (rolling["partition"] > 0 or len(self.revisions(name)) == 1)
        )

    def settle(
        self,
        name: str = NAME,
        *,
        timeout: float = SECONDS_MAX,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """Wait until nothing is left to do, then see that nothing is done."""
        self.until(
            lambda: self.has_settled(name),
            what=f"{name} has settled",
            timeout=timeout,
            meanwhile=meanwhile,
        )
        partition = self.statefulset(name)["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
        rolling = self.lws(name)["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
        assert partition == rolling["partition"], "at rest the partition is the spec's"
        self.rest()

    def rest(self, seconds: float = REST_SECONDS) -> None:
        """See that the operator comes to rest in this namespace, and then writes nothing.

        What it had begun may end first. Events are written one after the other, of all worlds:
        those that are late may come at any time, if they do come to an end. A counter that moved
        may be told late, once.
        """
        for _ in range(_ROUNDS_MAX):
            written = self._written_within(seconds)
            if not written:
                break
        assert not written, f"written again and again: {written}"
        others = self._others_within(seconds)
        if others and all("/status " in line for line in others):
            others = self._others_within(_STATUS_SECONDS)
        assert not others, f"writes at rest: {others}"

    def _others_within(self, seconds: float) -> list[str]:
        return [line for line in self._written_within(seconds) if " events " not in line]

    def _written_within(self, seconds: float) -> list[str]:
        with self.counting() as count:
            time.sleep(seconds)
            return [f"{one.verb} {one.key} {one.name}" for one in self.writes(count)]

    # Judging

    @contextlib.contextmanager
    def watched(
        self, name: str = NAME, *, floor: int = 0, ceiling: int | None = None
    ) -> Iterator["Watched"]:
        """Count what becomes of a set's pods from here on.

        After every change of any of them at least `floor` groups are ready, and there are at most
        `ceiling` groups.
        """
        bounds = Bounds(name, floor=floor, ceiling=ceiling)
        watched = Watched(self, name, bounds)
        with watched:
            yield watched
            watched.require_clean()

    @contextlib.contextmanager
    def counting(self) -> Iterator[Count]:
        """Count the operator's requests, all namespaces'; see `writes`."""
        with self.plane.counting(user=OPERATOR) as count:
            yield count

    def writes(self, count: Count) -> list[Request]:
        """What the operator wrote in this namespace."""
        return [request for request in count.writes if request.namespace == self.namespace]

    def story(self) -> str:
        """What the world looks like, in a few lines: for the message of a failure."""
        lines = [f"namespace {self.namespace}"]
        for name, lws in self._sets.live().items():
            lines.append(f"{name}: {json.dumps(lws.get('status', {}))}")
            lines += [f"  {_strategy(self.statefulset(name))}"]
        lines += [f"  {_pod_line(pod)}" for _, pod in sorted(self.pods.live().items())]
        return "\n".join(lines)


class Watched(Recorder):
    """A set's pods, and how far its bounds were used."""

    def __init__(self, world: World, name: str, bounds: Bounds) -> None:
        selector = f"{PREFIX}name={name}"
        super().__init__(world.kube, world.namespace, selector=selector, invariant=bounds)
        self.world, self.bounds = world, bounds


def _strategy(statefulset: Mapping[str, Any]) -> str:
    if not statefulset:
        return "no leader StatefulSet"
    spec, labels = statefulset["spec"], statefulset["metadata"]["labels"]
    words = {
        "replicas": spec["replicas"],
        "key": labels.get(f"{PREFIX}template-revision-hash"),
        **spec["updateStrategy"],
    }
    return f"StatefulSet {json.dumps(words)}"


def _pod_line(pod: Json) -> str:
    meta = pod["metadata"]
    going = " going" if "deletionTimestamp" in meta else ""
    state = "ready" if pods.is_ready(pod) else pod["status"]["phase"]
    key = meta["labels"].get(f"{PREFIX}template-revision-hash")
    return f"{meta['name']} {pod['spec']['containers'][0]['image']} {key} {state}{going}"
