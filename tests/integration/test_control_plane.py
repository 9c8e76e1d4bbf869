"""The control plane itself: what the other tests of this folder stand on."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness import kwok, nodes, pods
from harness.binaries import MissingError, find_binaries
from harness.controlplane import ControlPlane
from harness.guard import marked_processes
from harness.kube import ApiError, Json, Kube
from harness.plane import OPERATOR, Plane
from harness.waiting import eventually
from harness.watching import Recorder

_ROOT = Path(__file__).resolve().parents[2]


def stateful_set(
    name: str = "web", *, replicas: int = 3, annotations: dict[str, str] | None = None
) -> Json:
    """A plain StatefulSet whose pods carry these annotations."""
    labels = {"app": name}
    containers = [{"name": "main", "image": "app:1"}, {"name": "side", "image": "side:1"}]
    init = [{"name": "prepare", "image": "prepare:1"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations or {}},
                "spec": {
                    "terminationGracePeriodSeconds": 30,
                    "containers": containers,
                    "initContainers": init,
                },
            },
        },
    }


def ready_replicas(kube: Kube, namespace: str, name: str = "web") -> int:
    """What the StatefulSet's status says."""
    found: int = kube.get("statefulsets", name, namespace)["status"].get("readyReplicas", 0)
    return found


def start_set(kube: Kube, namespace: str, *, replicas: int = 1) -> Json:
    """A StatefulSet, all ready; its first pod."""
    kube.create(stateful_set(replicas=replicas), namespace)
    eventually(lambda: ready_replicas(kube, namespace) == replicas, what="all ready")
    return kube.get("pods", "web-0", namespace)


def wait_for_another(kube: Kube, namespace: str, old: Json) -> Json:
    """The pod of the same name and another identity, once it is ready."""

    def replaced() -> Json | None:
        pod = kube.find("pods", old["metadata"]["name"], namespace)
        if pod is None or pod["metadata"]["uid"] == old["metadata"]["uid"]:
            return None
        return pod if pods.is_ready(pod) else None

    found = eventually(replaced, what="the pod was replaced")
    assert found is not None
    return found


def test_kubectl_talks_to_it(control_plane: Plane) -> None:
    version = json.loads(control_plane.kubectl("version", "-o", "json"))
    assert version["serverVersion"]["gitVersion"].startswith("v1.")
    listed = control_plane.kubectl("get", "nodes", "-o", "name").split()
    assert listed == [f"node/{name}" for name in control_plane.nodes]


def test_nodes_have_topology_labels(kube: Kube) -> None:
    labels = [item["metadata"]["labels"] for item in kube.items("nodes")]
    assert {label[nodes.ZONE] for label in labels} == {"zone-0", "zone-1"}
    assert len({label[nodes.RACK] for label in labels}) == 4


def test_a_statefulset_becomes_ready(kube: Kube, namespace: str) -> None:
    kube.create(stateful_set(), namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 3, timeout=20, what="3 ready")
    pod = kube.get("pods", "web-0", namespace)
    assert pod["status"]["phase"] == "Running"
    assert pod["status"]["podIP"]
    assert pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_deleted_pod_is_terminated_and_replaced(kube: Kube, namespace: str) -> None:
    old = start_set(kube, namespace)
    with Recorder(kube, namespace) as recorder:
        kube.delete("pods", "web-0", namespace)
        wait_for_another(kube, namespace, old)
        recorder.catch_up()
    phases = [
        c.item["status"]["phase"] for c in recorder.changes if c.uid == old["metadata"]["uid"]
    ]
    assert phases[-1] == "Failed"  # containers end on SIGTERM before the object goes
    assert recorder.deleted("web-0") == 1
    assert recorder.created("web-0") == 1


def test_a_volume_claim_is_bound(kube: Kube, namespace: str) -> None:
    wanted = stateful_set(replicas=1)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    wanted["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    kube.create(wanted, namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready with a volume")
    assert kube.get("persistentvolumeclaims", "data-web-0", namespace)["status"]["phase"] == "Bound"


def test_a_foreground_deletion_ends(kube: Kube, namespace: str) -> None:
    leader = start_set(kube, namespace)
    meta = leader["metadata"]
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "child",
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": meta["name"],
                    "uid": meta["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
    }
    kube.create(child, namespace)
    kube.delete("pods", "web-0", namespace, propagation="Foreground", uid=meta["uid"])
    wait_for_another(kube, namespace, leader)
    assert kube.find("configmaps", "child", namespace) is None


# Annotations


def test_ready_can_be_delayed(kube: Kube, namespace: str) -> None:
    with Recorder(kube, namespace) as recorder:
        kube.create(stateful_set(replicas=1, annotations={kwok.READY_AFTER: "2s"}), namespace)
        recorder.wait_for(lambda live: any(map(pods.is_ready, live.values())))
    running = next(c for c in recorder.changes if c.item["status"]["phase"] == "Running")
    ready = next(c for c in recorder.changes if pods.is_ready(c.item))
    assert 1.5 < ready.at - running.at < 6


def test_a_held_pod_stays_pending_until_released(kube: Kube, namespace: str) -> None:
    kube.create(stateful_set(replicas=1, annotations={kwok.HOLD: "yes"}), namespace)
    eventually(lambda: kube.get("pods", "web-0", namespace)["spec"].get("nodeName"))
    time.sleep(1)
    pods.fail_container(kube, namespace, "web-0", container="prepare", restarted=False)
    time.sleep(1)
    status = kube.get("pods", "web-0", namespace)["status"]
    assert status["phase"] == "Pending"
    assert status["initContainerStatuses"][0]["restartCount"] == 1
    pods.release(kube, namespace, "web-0", kwok.HOLD)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready when released")


def test_an_unready_pod_runs_until_released(kube: Kube, namespace: str) -> None:
    kube.create(stateful_set(replicas=1, annotations={kwok.UNREADY: "yes"}), namespace)
    eventually(lambda: kube.get("pods", "web-0", namespace)["status"]["phase"] == "Running")
    time.sleep(1)
    assert ready_replicas(kube, namespace) == 0
    pods.release(kube, namespace, "web-0", kwok.UNREADY)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready when released")
    assert kube.get("pods", "web-0", namespace)["status"]["containerStatuses"][1]["ready"]


def test_termination_can_be_delayed(kube: Kube, namespace: str) -> None:
    kube.create(stateful_set(replicas=1, annotations={kwok.TERMINATE_AFTER: "2s"}), namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready")
    before = time.monotonic()
    old = kube.get("pods", "web-0", namespace)
    kube.delete("pods", "web-0", namespace)
    wait_for_another(kube, namespace, old)
    assert 1.5 < time.monotonic() - before < 8


def test_a_stuck_pod_goes_only_by_force(kube: Kube, namespace: str) -> None:
    kube.create(stateful_set(replicas=1, annotations={kwok.STUCK: "yes"}), namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready")
    old = kube.get("pods", "web-0", namespace)
    kube.delete("pods", "web-0", namespace)
    time.sleep(2)
    assert kube.get("pods", "web-0", namespace)["metadata"]["uid"] == old["metadata"]["uid"]
    pods.force_delete(kube, namespace, "web-0")
    wait_for_another(kube, namespace, old)


# Helpers


@pytest.mark.parametrize("container", ["main", "side", "prepare"])
def test_a_failed_container_stays_as_it_was_set(kube: Kube, namespace: str, container: str) -> None:
    start_set(kube, namespace)
    for _ in range(2):
        pods.fail_container(
            kube, namespace, "web-0", container=container, exit_code=9, reason="Bang"
        )
    time.sleep(2)
    pod = kube.get("pods", "web-0", namespace)
    part = "initContainerStatuses" if container == "prepare" else "containerStatuses"
    status = next(entry for entry in pod["status"][part] if entry["name"] == container)
    assert status["restartCount"] == 2
    assert status["lastState"]["terminated"]["exitCode"] == 9
    assert status["lastState"]["terminated"]["reason"] == "Bang"
    assert pods.is_ready(pod)


def test_a_crash_loop_is_not_ready(kube: Kube, namespace: str) -> None:
    start_set(kube, namespace)
    pods.fail_container(kube, namespace, "web-0", restarted=False)
    eventually(lambda: ready_replicas(kube, namespace) == 0, what="not ready")


def test_readiness_stays_as_it_was_set(kube: Kube, namespace: str) -> None:
    start_set(kube, namespace)
    pods.set_ready(kube, namespace, "web-0", False)
    time.sleep(2)
    assert ready_replicas(kube, namespace) == 0
    pods.set_ready(kube, namespace, "web-0", True)
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready again")


def test_a_failed_pod_is_replaced(kube: Kube, namespace: str) -> None:
    old = start_set(kube, namespace)
    pods.fail_pod(kube, namespace, "web-0", reason="Evicted")
    wait_for_another(kube, namespace, old)


def test_a_pod_of_unknown_phase_can_be_deleted(kube: Kube, namespace: str) -> None:
    old = start_set(kube, namespace)
    pods.lose_contact(kube, namespace, "web-0")
    time.sleep(1)
    assert kube.get("pods", "web-0", namespace)["status"]["phase"] == "Unknown"
    kube.delete("pods", "web-0", namespace)
    wait_for_another(kube, namespace, old)


def test_an_evicted_pod_is_replaced(kube: Kube, namespace: str) -> None:
    old = start_set(kube, namespace)
    pods.evict(kube, namespace, "web-0")
    wait_for_another(kube, namespace, old)


def test_a_force_deleted_pod_is_replaced(kube: Kube, namespace: str) -> None:
    old = start_set(kube, namespace)
    pods.force_delete(kube, namespace, "web-0")
    wait_for_another(kube, namespace, old)


def test_a_node_that_went_away_takes_its_pods(kube: Kube, namespace: str) -> None:
    kube.create(nodes.node("extra", {"extra": "yes"}))
    wanted = stateful_set(replicas=2)
    wanted["spec"]["template"]["spec"]["nodeSelector"] = {"extra": "yes"}
    kube.create(wanted, namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 2, what="ready on the extra node")
    assert sorted(nodes.remove_node(kube, "extra")) == ["web-0", "web-1"]
    eventually(lambda: ready_replicas(kube, namespace) == 0, what="nowhere to run")


# Feature gate


@pytest.mark.parametrize("plane", ["control_plane", "gated_control_plane"])
def test_the_gate_decides_how_many_pods_are_replaced_at_once(
    request: pytest.FixtureRequest, plane_kind: str, plane: str
) -> None:
    kube: Kube = request.getfixturevalue(plane).kube
    name = "namespace" if plane == "control_plane" else "gated_namespace"
    namespace: str = request.getfixturevalue(name)
    wanted = stateful_set(replicas=4, annotations={kwok.READY_AFTER: "1s"})
    wanted["spec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 2},
    }
    kube.create(wanted, namespace)
    eventually(lambda: ready_replicas(kube, namespace) == 4, what="ready")
    down: list[int] = []

    def count_down(live: object) -> None:
        assert isinstance(live, dict)
        down.append(4 - sum(map(pods.is_ready, live.values())))

    with Recorder(kube, namespace, invariant=count_down):
        change = {"spec": {"template": {"metadata": {"labels": {"app": "web", "version": "2"}}}}}
        kube.patch("statefulsets", "web", change, namespace)

        def is_done() -> bool:
            found = kube.get("statefulsets", "web", namespace)
            status = found["status"]
            seen = status["observedGeneration"] == found["metadata"]["generation"]
            return bool(seen and status.get("updatedReplicas") == 4 == status.get("readyReplicas"))

        eventually(is_done, what="updated")
    assert max(down) == (1 if plane == "control_plane" else 2)


# Watching and counting


def test_the_audit_log_counts_the_operators_requests_only(
    control_plane: Plane, namespace: str
) -> None:
    operator = control_plane.client(OPERATOR)
    operator.items("pods", namespace)
    try:
        with control_plane.counting() as count:
            control_plane.kube.items("pods", namespace)
            operator.items("pods", namespace)
            operator.create(_service("one"), namespace)
            assert count.total >= 2
        operator.items("pods", namespace)
    finally:
        operator.close()
    assert [r.verb for r in count.writes] == ["create"]
    assert len(count.matching(verbs={"list"}, resource="pods")) == 1


def _service(name: str) -> Json:
    """The operator may make one."""
    spec = {"clusterIP": "None", "selector": {"a": "b"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def test_the_restricted_user_may_do_nothing_by_itself(control_plane: Plane) -> None:
    client = control_plane.client("lws-restricted")
    with pytest.raises(ApiError, match="403"):
        client.items("pods", "default")
    client.close()


def test_a_role_that_is_made_of_others_follows_them(control_plane: Plane, kube: Kube) -> None:
    rules = {one["metadata"]["name"]: one.get("rules") or [] for one in kube.items("clusterroles")}
    for whole, parts in (("edit", ("system:aggregate-to-edit", "view")), ("admin", ("edit",))):
        for part in parts:
            assert [rule for rule in rules[part] if rule not in rules[whole]] == []
    assert rules["admin"][: len(rules["edit"])] == rules["edit"]
    more = {"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}
    label = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    role = {"name": f"things-{secrets.token_hex(4)}", "labels": label}
    api_version = "rbac.authorization.k8s.io/v1"
    kube.create(
        {"apiVersion": api_version, "kind": "ClusterRole", "metadata": role, "rules": [more]}
    )

    def have_it() -> set[str]:
        names = ("view", "edit", "admin")
        return {one for one in names if more in kube.get("clusterroles", one)["rules"]}

    eventually(lambda: have_it() == {"view", "edit", "admin"}, what="all have the rule")
    kube.delete("clusterroles", str(role["name"]))
    eventually(lambda: have_it() == set(), what="none has it any more")


def test_a_recorder_checks_an_invariant_after_every_change(kube: Kube, namespace: str) -> None:
    def at_most_two(live: object) -> str | None:
        assert isinstance(live, dict)
        return f"{len(live)} pods" if len(live) > 2 else None

    with Recorder(kube, namespace, invariant=at_most_two) as recorder:
        start_set(kube, namespace, replicas=3)
        with pytest.raises(AssertionError, match="3 pods"):
            recorder.require_clean()
    assert recorder.creations() == {"web-0": 1, "web-1": 1, "web-2": 1}


# Parts that fail


def test_the_api_server_can_be_killed_and_restarted(
    control_plane: Plane, kube: Kube, namespace: str
) -> None:
    with Recorder(kube, namespace) as recorder:
        start_set(kube, namespace)
        for end in (control_plane.kill_apiserver, control_plane.stop_apiserver):
            end()
            assert not kube.is_ready()
            control_plane.start_apiserver()
        control_plane.refresh_clients()
        old = kube.get("pods", "web-0", namespace)
        kube.delete("pods", "web-0", namespace)
        wait_for_another(kube, namespace, old)
        recorder.catch_up()
    assert recorder.created("web-0") == 2


def test_the_controllers_can_be_stopped(control_plane: Plane, kube: Kube, namespace: str) -> None:
    control_plane.stop_controllers()
    try:
        kube.create(stateful_set(replicas=1), namespace)
        time.sleep(1)
        assert kube.items("pods", namespace) == []
    finally:
        control_plane.start_controllers()
    eventually(lambda: ready_replicas(kube, namespace) == 1, what="ready afterwards")


_OWNER = """
import sys, time
from harness.controlplane import ControlPlane
plane = ControlPlane(nodes=1, crds=None)
plane.start()
print(plane.home, flush=True)
if sys.argv[1] == "fail":
    raise RuntimeError("a failing test")
time.sleep(600)
"""


@pytest.mark.real
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
def test_nothing_is_left_behind(end: signal.Signals | None) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, "wait" if end else "fail"],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with owner:
        assert owner.stdout is not None
        home = owner.stdout.readline().strip()
        assert home
        if end is not None:
            assert len(marked_processes(home)) == 5
            os.kill(owner.pid, end)
        owner.wait(20)
    eventually(lambda: not marked_processes(home), timeout=10, what="no process left")
    eventually(lambda: not Path(home).exists(), timeout=10, what="no file left")


@pytest.mark.real
def test_a_failed_start_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    homes: list[Path] = []

    def break_down(self: ControlPlane) -> None:
        homes.append(self.home)
        raise RuntimeError("on purpose")

    monkeypatch.setattr(ControlPlane, "_wait_ready", break_down)
    with pytest.raises(RuntimeError, match="on purpose"), ControlPlane(nodes=1, crds=None):
        pass
    assert not marked_processes(str(homes[0]))
    assert not homes[0].exists()


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LWS_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    with pytest.raises(MissingError, match=r"run `make controlplane` \(missing: etcd, kube-api"):
        find_binaries()


def test_no_thread_is_left_by_a_recorder(kube: Kube, namespace: str) -> None:
    before = threading.active_count()
    with Recorder(kube, namespace):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
