"""The operator under exactly the rights of the shipped manifests, on a real authorizer."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import pods
from harness.audit import Request
from harness.kube import Json
from harness.operator import Operator
from harness.plane import RESTRICTED, Plane
from harness.waiting import eventually
from harness.webhooks import install_webhooks, remove_webhooks
from tests.integration.leaderworkerset.manifests import NAME, PREFIX, leader_worker_set, pods_of
from tests.integration.leaderworkerset.worlds import REVISIONS, SETS, World

pytestmark = [pytest.mark.timeout(240)]

BASE = Path(__file__).resolve().parents[2] / "deploy" / "kustomize" / "base"
NAMESPACE = "lws-system"
ENFORCEMENT_ONLY = "finalizers"
"""Rights that only an admission plugin asks for: no request ever shows them."""
ONLY_IN_A_RACE = {
    ("disaggregatedset.x-k8s.io", "disaggregatedsets", "get"),
    ("disaggregatedset.x-k8s.io", "disaggregatedsetrolescalers", "get"),
}
"""Asked for when somebody makes an object between our look and our create, and when one of ours is
collected as soon as it is made."""
SECRET = "lws-webhook-server-cert"


def documents(file: str) -> list[Json]:
    return [one for one in yaml.safe_load_all((BASE / file).read_text()) if one]


@pytest.fixture(scope="module")
def restricted(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator whose user is bound to the shipped roles, and to nothing else."""
    plane = spare_control_plane
    user = {"kind": "User", "name": RESTRICTED, "apiGroup": "rbac.authorization.k8s.io"}
    for item in [*documents("namespace.yaml"), *documents("rbac.yaml")]:
        if item["kind"].endswith("Binding"):
            item["subjects"] = [user]
        plane.kube.apply(item)
    config = {
        "leaderElection": {"leaderElect": True, "resourceNamespace": NAMESPACE},
        "internalCertManagement": {"enable": True},
    }
    running = Operator(
        plane,
        config=config,
        webhooks=False,
        environment={"ENABLE_WEBHOOKS": "true"},
        kubeconfig=plane.restricted_kubeconfig,
    )
    with plane.audit.counting(user=RESTRICTED) as count:
        try:
            running.start()
            ca_file = running.folder / "certs" / "ca.crt"
            install_webhooks(plane.kube, port=running.webhook_port, ca_file=ca_file)
            eventually(lambda: _admits(plane), timeout=30, what="webhooks trust the operator")
            running.asked = count  # type: ignore[attr-defined]
            yield running
        finally:
            running.close()
            remove_webhooks(plane.kube)


def _admits(plane: Plane) -> Json:
    path = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
    return plane.kube.request("POST", path, leader_worker_set(), query={"dryRun": "All"})


def granted() -> set[tuple[str, str, str]]:
    """(group, resource, verb) of both roles."""
    rules: list[Any] = []
    for item in documents("rbac.yaml"):
        if item["metadata"]["name"] == "lws-manager":
            rules += item.get("rules") or []
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule.get("apiGroups", [])
        for resource in rule.get("resources", [])
        for verb in rule["verbs"]
    }


def used(requests: list[Request]) -> set[tuple[str, str, str]]:
    return {(one.group, one.key, one.verb) for one in requests if one.resource}


def test_a_whole_life_needs_every_right_and_no_other(
    spare_control_plane: Plane, restricted: Operator
) -> None:
    plane = spare_control_plane
    with World(plane, restricted) as world:
        topology = {PREFIX + "exclusive-topology": "kubernetes.io/hostname"}
        world.create(replicas=2, annotations=topology)
        pods.fail_container(world.kube, world.namespace, f"{NAME}-0-1")
        world.until(lambda: bool(world.events("RecreateGroup")), what="a recreated group")
        world.until(world.has_settled, what="the group is back")
        _lose_workers(world, "calm")
        world.push("serve:1b")
        world.until(partial(world.has_settled, image="serve:1b"), what="it is rolled")
        world.until(lambda: bool(world.revisions(retired=True)), what="a revision is put away")
        world.change({"revisionHistoryLimit": 0})
        world.push("serve:2")
        world.until(partial(world.has_settled, image="serve:2"), what="it is rolled")
        foreign = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "taken"},
            "spec": {"clusterIP": "None", "selector": {"a": "b"}},
        }
        world.kube.create(foreign, world.namespace)
        world.create("taken", replicas=1, ready=False)
        world.until(lambda: world.is_true("Conflict", "taken"), what="a conflict is told")
        _meet_a_foreign_revision(world)
        _disaggregatedset(world)
        world.delete()
        _read_metrics(plane, restricted)
        # Of other tests' namespaces that are on their way out, a create is refused by right.
        places = ("", NAMESPACE, world.namespace)
        so_far = restricted.asked.requests  # type: ignore[attr-defined]
        asked_here = [one for one in so_far if one.namespace in places]
    assert {(one.verb, one.key) for one in asked_here if one.code == 403} == set()
    garbled = {"data": {"tls.crt": ""}}
    plane.kube.patch("secrets", SECRET, garbled, NAMESPACE)
    eventually(_is_whole(plane), timeout=30, what="the certificate again")
    plane.kube.delete("secrets", SECRET, NAMESPACE)
    eventually(lambda: plane.kube.find("secrets", SECRET, NAMESPACE), timeout=30, what="secret")
    restricted.stop()  # repeated events are told at the end
    requests = restricted.asked.requests  # type: ignore[attr-defined]
    needed = {one for one in granted() if ENFORCEMENT_ONLY not in one[1]} - ONLY_IN_A_RACE
    asked = used([one for one in requests if one.resource != "selfsubjectreviews"])
    unused, missing = sorted(needed - asked), sorted(asked - granted())
    assert not unused, f"granted and never used: {unused}"
    assert not missing, f"used and not granted: {missing}"


def _lose_workers(world: World, name: str) -> None:
    """Its leader stays, and is asked for before the workers are made again."""
    calm = leader_worker_set(name, replicas=1)
    calm["spec"]["leaderWorkerTemplate"]["restartPolicy"] = "None"
    world.kube.create(calm, world.namespace)
    world.until(lambda: world.has_settled(name), what="it is there")
    place = ("statefulsets", f"{name}-0", world.namespace)
    before = world.kube.get(*place)["metadata"]["uid"]
    world.kube.delete(*place)

    def is_back() -> bool:
        found = world.kube.find(*place)
        return found is not None and found["metadata"]["uid"] != before

    world.until(is_back, what="the workers' StatefulSet is back")
    world.delete(name)


def _is_whole(plane: Plane) -> Callable[[], bool]:
    return lambda: bool(plane.kube.get("secrets", SECRET, NAMESPACE)["data"]["tls.crt"])


def _meet_a_foreign_revision(world: World) -> None:
    """A ControllerRevision of somebody else has the very name that ours would have."""
    world.create("twice", replicas=1)
    (revision,) = world.revisions("twice").values()
    name = revision["metadata"]["name"]
    world.delete("twice")
    world.until(lambda: not world.kube.find(REVISIONS, name, world.namespace), what="it is gone")
    item = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": name}}
    world.kube.create({**item, "revision": 1, "data": {}}, world.namespace)
    world.create("twice", replicas=1, ready=False)
    world.until(lambda: world.is_true("Conflict", "twice"), what="a conflict is told")


def _meet_foreign_parts(world: World, item: Json, name: str) -> None:
    """A LeaderWorkerSet and a scaler of somebody else have the names that ours would have."""
    scaler = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSetRoleScaler",
        "metadata": {"name": "ds-decode"},
        "spec": {"replicas": 1},
    }
    world.kube.create(scaler, world.namespace)
    world.create(name, replicas=0, ready=False)
    world.kube.create(item, world.namespace)

    def says() -> bool:
        events = world.kube.items("events.events.k8s.io", world.namespace)
        reasons = {one["reason"] for one in events if one["regarding"]["name"] == "ds"}
        return "ScalerConflict" in reasons

    world.until(says, what="the conflict of the scaler is told")


def _disaggregatedset(world: World) -> None:
    def role(name: str, image: str, **more: Any) -> Json:
        template = pods_of(size=1, image=image)
        return {
            "name": name,
            "spec": {"leaderWorkerTemplate": template, **more.pop("spec", {})},
        } | (more)

    def roles(image: str) -> list[Json]:
        return [
            role("prefill", image, spec={"replicas": 1}),
            role("decode", image, scaling={"mode": "External"}),
        ]

    item = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "ds"},
        "spec": {"roles": roles("example.com/serve:1")},
    }
    sets = "disaggregatedsets.disaggregatedset.x-k8s.io"
    world.kube.create(item, world.namespace)

    def is_available() -> bool:
        found = world.kube.get(sets, "ds", world.namespace)
        status = found.get("status", {})
        return status.get("observedGeneration") == found["metadata"]["generation"] and any(
            one["type"] == "Available" and one["status"] == "True"
            for one in status.get("conditions", [])
        )

    world.until(is_available, what="both roles run")
    scalers = "disaggregatedsetrolescalers.disaggregatedset.x-k8s.io"
    world.until(lambda: bool(world.kube.items(scalers, world.namespace)), what="a scaler")
    world.kube.patch(sets, "ds", {"spec": {"roles": roles("example.com/serve:2")}}, world.namespace)
    world.until(is_available, what="both roles are rolled")
    static = [{**one, "scaling": {"mode": "Static"}} for one in roles("example.com/serve:2")]
    world.kube.patch(sets, "ds", {"spec": {"roles": static}}, world.namespace)
    world.until(lambda: not world.kube.items(scalers, world.namespace), what="no scaler")
    owned = world.kube.items(SETS, world.namespace)
    name = next(
        one["metadata"]["name"]
        for one in owned
        if one["metadata"].get("labels", {}).get("disaggregatedset.x-k8s.io/role") == "prefill"
    )
    world.kube.delete(sets, "ds", world.namespace, propagation="Background")
    world.until(lambda: not world.kube.find(SETS, name, world.namespace), what="the roles are gone")
    again = {**item, "spec": {"roles": roles("example.com/serve:2")}}
    _meet_foreign_parts(world, again, name)


def _read_metrics(plane: Plane, operator: Operator) -> None:
    """Anybody's token is reviewed, and its bearer's access."""
    import http.client
    import ssl

    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(
        "127.0.0.1", operator.metrics_port, context=context, timeout=10
    )
    token = yaml.safe_load(plane.admin_kubeconfig.read_text())["users"][0]["user"]["token"]
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 200
    connection.close()
