"""The steps, each checked: what is told is true, or the demo fails."""

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from demo.view import PREFIX, View
from harness import pods
from harness.controlplane import ControlPlane
from harness.kwok import READY_AFTER
from harness.operator import Operator
from harness.up import UpPlane
from harness.waiting import NotYetError, eventually
from harness.watching import Recorder

Plane = ControlPlane | UpPlane
NAMESPACE = "demo"
NAME = "vllm"
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "vllm" / "leaderworkerset.yaml"
STEP_SECONDS = 60.0
"""No step of the story takes nearly so long; it fails instead of waiting on."""


class UntrueError(Exception):
    """What the demo was about to tell did not happen."""


class Story:
    """One LeaderWorkerSet from its first pod to its last."""

    def __init__(self, plane: Plane, view: View) -> None:
        self.kube = plane.kube
        self.view = view
        self.fewest_ready = 0
        self._floor: int | None = None
        self.recorder = Recorder(self.kube, NAMESPACE, invariant=self._invariant)

    def tell(self) -> None:
        """All steps, in order."""
        self.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        with self.recorder:
            self.view.watch(self.recorder.live)
            for step in (self.create, self.restart, self.roll, self.scale, self.delete):
                step()

    def create(self) -> None:
        """Two groups of three come up."""
        self.view.say(f"create {EXAMPLE.parent.name}/{EXAMPLE.name}: 2 groups of 3, Ray head leads")
        self.kube.create(manifest(), NAMESPACE)
        self._until(lambda: self._is_available(ready=2), "both groups are ready")
        env = self._env(self._pod(f"{NAME}-1-2"))
        wanted = f"{NAME}-1.{NAME}.{NAMESPACE}"
        self._true(env.get("LWS_LEADER_ADDRESS") == wanted, f"a worker is told {wanted}", env)
        self.view.told(f"6 pods are ready; a worker knows its leader as {wanted}")
        self.view.picture()

    def restart(self) -> None:
        """A worker's container dies: its whole group is made anew, once; the other one stays."""
        before = {name: pod["metadata"]["uid"] for name, pod in self.recorder.live().items()}
        created = self.recorder.creations()
        self.view.say(f"kill the container of {NAME}-0-1 (exit code 137)")
        pods.fail_container(self.kube, NAMESPACE, f"{NAME}-0-1")
        self._until(
            lambda: (
                self._uid(f"{NAME}-0") not in ("", before[f"{NAME}-0"])
                and self._is_available(ready=2)
            ),
            "the group is back",
        )
        self.recorder.catch_up()
        made = self.recorder.creations() - created
        wanted = Counter({f"{NAME}-0": 1, f"{NAME}-0-1": 1, f"{NAME}-0-2": 1})
        self._true(made == wanted, "each pod of the group was made once", made)
        event = self._event("RecreateGroup")
        self.view.told("group 0 was recreated, once; group 1 was not touched")
        for part in f"the event says: {event}".split("; "):
            self.view.say(f"    {part}")
        self.view.picture()

    def roll(self) -> None:
        """A new image with maxSurge 1: a third group helps out, two are always ready."""
        self.view.say("roll out image v0.9.2 with maxSurge 1, maxUnavailable 0")
        self._floor, self.fewest_ready = 2, 2
        template = manifest(image_tag="v0.9.2")["spec"]["leaderWorkerTemplate"]
        change = {"spec": {"leaderWorkerTemplate": template}}
        self.kube.patch("leaderworkersets", NAME, change, NAMESPACE)
        self._until(lambda: self._is_available(ready=2, updated=2), "both groups are updated")
        self.recorder.catch_up()
        self._floor = None
        self._true(not self.recorder.violations, "2 groups were ready", self.recorder.violations)
        images = {pod["spec"]["containers"][0]["image"] for pod in self.recorder.live().values()}
        self._true(images == {"vllm/vllm-openai:v0.9.2"}, "all run the new image", images)
        self.view.told("both groups run v0.9.2; never fewer than 2 were ready on the way")
        self.view.picture()

    def scale(self) -> None:
        """By the scale subresource, as kubectl and autoscalers do."""
        for replicas in (4, 1):
            self.view.say(f"scale to {replicas} by the scale subresource")
            change = {"spec": {"replicas": replicas}}
            self.kube.patch("leaderworkersets", NAME, change, NAMESPACE, subresource="scale")
            self._until(partial(self._has_groups, replicas), f"{replicas} groups are there")
            seen = self._scale()["status"]["replicas"]
            self._true(seen == replicas, f"the scale subresource says {replicas}", seen)
            are_ready = "groups are ready" if replicas > 1 else "group is ready"
            self.view.told(f"{replicas} {are_ready}, {3 * replicas} pods")
            self.view.picture()

    def delete(self) -> None:
        """All that was made goes."""
        self.view.say("delete the LeaderWorkerSet")
        self.kube.delete("leaderworkersets", NAME, NAMESPACE, propagation="Background")
        kinds = ("pods", "statefulsets", "services", "controllerrevisions")
        self._until(
            lambda: not any(self.kube.items(kind, NAMESPACE) for kind in kinds),
            "nothing is left",
        )
        self.view.told("no pod, StatefulSet, Service or revision is left")

    # What is true

    def _invariant(self, live: Mapping[str, Any]) -> str | None:
        """While it rolls: the floor of ready groups, after every change of any pod."""
        if self._floor is None:
            return None
        ready = ready_groups(live)
        self.fewest_ready = min(self.fewest_ready, ready)
        return None if ready >= self._floor else f"{ready} groups ready"

    def _is_available(self, *, ready: int, updated: int | None = None) -> bool:
        lws = self.kube.get("leaderworkersets", NAME, NAMESPACE)
        status = lws.get("status", {})
        true = {one["type"] for one in status.get("conditions", []) if one["status"] == "True"}
        return (
            status.get("observedGeneration") == lws["metadata"]["generation"]
            and "Available" in true
            and status.get("readyReplicas") == ready
            and status.get("updatedReplicas") == (ready if updated is None else updated)
        )

    def _has_groups(self, count: int) -> bool:
        return self._is_available(ready=count) and len(self.recorder.live()) == 3 * count

    def _scale(self) -> dict[str, Any]:
        path = self.kube.resource("leaderworkersets").path(NAMESPACE, NAME, "scale")
        return self.kube.request("GET", path)

    def _until(self, check: Callable[[], bool], what: str) -> None:
        try:
            eventually(check, timeout=STEP_SECONDS, what=what)
        except NotYetError as error:
            raise UntrueError(str(error)) from error

    def _true(self, holds: bool, what: str, seen: object) -> None:
        if not holds:
            raise UntrueError(f"not true: {what}; instead: {seen}")

    def _pod(self, name: str) -> Mapping[str, Any]:
        return self.kube.get("pods", name, NAMESPACE)

    def _uid(self, name: str) -> str:
        pod = self.recorder.live().get(name)
        return "" if pod is None else str(pod["metadata"]["uid"])

    def _env(self, pod: Mapping[str, Any]) -> dict[str, str]:
        entries = pod["spec"]["containers"][0].get("env", [])
        return {entry["name"]: entry.get("value", "") for entry in entries}

    def _event(self, reason: str) -> str:
        def find() -> str:
            events = self.kube.items("events.events.k8s.io", NAMESPACE)
            return next((one["note"] for one in events if one.get("reason") == reason), "")

        try:
            return eventually(find, timeout=10, what=f"an event {reason}")
        except NotYetError as error:
            raise UntrueError(str(error)) from error


def ready_groups(live: Mapping[str, Any]) -> int:
    """Groups whose three pods are all ready."""
    ready = Counter(
        pod["metadata"]["labels"].get(PREFIX + "group-index", "")
        for pod in live.values()
        if pods.is_ready(pod) and not pod["metadata"].get("deletionTimestamp")
    )
    return sum(count == 3 for index, count in ready.items() if index)


def manifest(image_tag: str | None = None) -> dict[str, Any]:
    """The example, with pods that take a moment to be ready (here nobody loads a model)."""
    lws: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    template = lws["spec"]["leaderWorkerTemplate"]
    for part, seconds in (("leaderTemplate", "1500ms"), ("workerTemplate", "700ms")):
        pod = template[part]
        annotations = pod.setdefault("metadata", {}).setdefault("annotations", {})
        annotations[READY_AFTER] = seconds
        pod["spec"]["terminationGracePeriodSeconds"] = 1
        for container in pod["spec"]["containers"]:
            if image_tag:
                container["image"] = f"vllm/vllm-openai:{image_tag}"
    return copy.deepcopy(lws)


def run(plane: Plane, view: View) -> None:
    """The operator as a process of its own, and the story told against it."""
    view.say("start the operator: lws run, with its webhooks")
    with Operator(plane) as operator:
        view.told(f"the operator is ready, process {operator.pid}")
        Story(plane, view).tell()
        cpu, memory = operator.cpu_seconds(), operator.memory_bytes() / 1e6
        view.say(f"the operator took {cpu:.1f} s of CPU and {memory:.0f} MB for all of it")
