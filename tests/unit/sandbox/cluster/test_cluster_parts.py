"""The pure parts of the sandbox's cluster."""

import pytest

from lws.client.resources import Resource
from lws.sandbox.cluster.garbage.graph import Graph
from lws.sandbox.cluster.hashing import encoded, hash_of
from lws.sandbox.cluster.kubelet.addresses import Addresses
from lws.sandbox.cluster.kubelet.durations import seconds_of
from lws.sandbox.cluster.scheduler.filters import tolerates
from lws.sandbox.cluster.scheduler.needs import Needs, Term, needs_of, requests_of
from lws.sandbox.cluster.scheduler.placing import Unplaced, place
from lws.sandbox.cluster.scheduler.quantities import milli
from lws.sandbox.cluster.scheduler.world import Domain, World
from lws.sandbox.cluster.statefulset.identity import parent_and_ordinal
from lws.sandbox.cluster.statefulset.sync import max_unavailable_of
from lws.sandbox.server.selectors import Requirement
from lws.sandbox.server.verbs import JsonObject

THINGS = Resource("", "v1", "configmaps", "ConfigMap")


def named(name: str, *, owners: tuple[str, ...] = (), **metadata: object) -> JsonObject:
    """An object whose UID is its name."""
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": one,
            "uid": one,
            "blockOwnerDeletion": True,
        }
        for one in owners
    ]
    return {
        "metadata": {
            "name": name,
            "namespace": "x",
            "uid": name,
            "resourceVersion": "1",
            "ownerReferences": references,
            **metadata,
        }
    }


def needs(uid: str, *, labels: dict[str, str] | None = None, **spec: object) -> Needs:
    """A pod's."""
    pod = named(uid, labels=labels or {})
    pod["spec"] = {"containers": [{"name": "main"}], **spec}
    return needs_of(pod, lambda _: frozenset())


def node(name: str, pods: str = "10", **labels: str) -> JsonObject:
    """A node with room for so many pods."""
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"pods": pods}},
    }


# Quantities and durations


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1000),
        ("500m", 500),
        ("0.1", 100),
        ("1Ki", 1024_000),
        ("2Gi", 2 * 1024**3 * 1000),
        ("1k", 1_000_000),
        ("1e3", 1_000_000),
        ("1E", 10**18 * 1000),
        ("1n", 1),
        ("-2", -2000),
        ("nonsense", 0),
        ("", 0),
    ],
)
def test_a_quantity_is_read_exactly(text: str, value: int) -> None:
    assert milli(text) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2s", 2.0),
        ("1m30s", 90.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("0s", 0.0),
        ("soon", 0.0),
        ("2", 0.0),
        ("", 0.0),
    ],
)
def test_a_duration_is_read_as_go_writes_it(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


# StatefulSets


@pytest.mark.parametrize(
    ("name", "parent", "ordinal"),
    [
        ("web-0", "web", 0),
        ("a-b-12", "a-b", 12),
        ("web", "", -1),
        ("web-", "", -1),
        ("web-x", "", -1),
        ("web-99999999999", "web", -1),
    ],
)
def test_a_name_tells_set_and_ordinal(name: str, parent: str, ordinal: int) -> None:
    assert parent_and_ordinal(named(name)) == (parent, ordinal)


@pytest.mark.parametrize(
    ("value", "replicas", "number"),
    [(None, 3, 1), (2, 3, 2), ("50%", 5, 2), ("10%", 3, 1), ("100%", 4, 4)],
)
def test_max_unavailable_is_rounded_down_to_one_at_least(
    value: int | str | None, replicas: int, number: int
) -> None:
    strategy = {"rollingUpdate": {"maxUnavailable": value}}
    stateful_set = {"spec": {"replicas": replicas, "updateStrategy": strategy}}
    assert max_unavailable_of(stateful_set) == number


def test_revision_data_is_written_as_go_writes_json() -> None:
    assert encoded({"b": "<&>", "a": [1, None, "ü"]}) == (
        b'{"a":[1,null,"\xc3\xbc"],"b":"\\u003c\\u0026\\u003e"}'
    )


def test_another_probe_is_another_hash() -> None:
    hashes = {hash_of(b"{}", probe) for probe in range(50)}
    assert len(hashes) == 50
    assert all(set(one) <= set("bcdfghjklmnpqrstvwxz2456789") for one in hashes)


# Garbage


def test_dependents_of_what_is_gone_are_due() -> None:
    graph = Graph()
    graph.put(THINGS, named("owner"))
    graph.put(THINGS, named("owned", owners=("owner",)))
    assert set(graph.remove("owner")) == {"owned"}


def test_a_dependent_of_an_unknown_owner_is_due() -> None:
    graph = Graph()
    assert set(graph.put(THINGS, named("owned", owners=("owner",)))) == {"owned"}
    assert graph.nodes["owner"].is_virtual
    graph.remove("owned")
    assert graph.nodes == {}


def test_a_foreground_deletion_makes_all_dependents_due() -> None:
    graph = Graph()
    graph.put(THINGS, named("owner"))
    graph.put(THINGS, named("owned", owners=("owner",)))
    ending = named("owner", deletionTimestamp="now", finalizers=["foregroundDeletion"])
    assert set(graph.put(THINGS, ending)) == {"owner", "owned"}
    assert [one.uid for one in graph.nodes["owner"].blockers()] == ["owned"]
    assert set(graph.remove("owned")) == {"owner"}
    assert graph.nodes["owner"].blockers() == []


def test_an_owner_that_is_let_go_is_told_if_it_waits() -> None:
    graph = Graph()
    ending = named("owner", deletionTimestamp="now", finalizers=["foregroundDeletion"])
    graph.put(THINGS, ending)
    graph.put(THINGS, named("owned", owners=("owner",)))
    assert set(graph.put(THINGS, named("owned"))) == {"owner"}


# Scheduling


def test_init_containers_and_sidecars_count_as_they_run() -> None:
    def container(cpu: str, **more: str) -> JsonObject:
        return {"name": "x", "resources": {"requests": {"cpu": cpu}}, **more}

    spec: JsonObject = {
        "containers": [container("1"), container("2")],
        "initContainers": [container("1", restartPolicy="Always"), container("5")],
    }
    assert requests_of(spec)["cpu"] == 6000  # the sidecar and the second init container
    spec["initContainers"].pop()
    assert requests_of(spec)["cpu"] == 4000
    spec["overhead"] = {"cpu": "500m"}
    assert requests_of(spec)["cpu"] == 4500


def test_limits_stand_in_for_requests() -> None:
    spec = {"containers": [{"name": "x", "resources": {"limits": {"gpu": "2"}}}]}
    assert requests_of(spec) == {"gpu": 2000, "pods": 1000}


def test_what_a_pod_asks_for_as_a_whole_outweighs_its_containers() -> None:
    spec = {
        "resources": {"requests": {"cpu": "3"}},
        "overhead": {"cpu": "1"},
        "containers": [{"resources": {"requests": {"cpu": "1", "memory": "1"}}}],
    }
    assert requests_of(spec) == {"cpu": 4000, "memory": 1000, "pods": 1000}


def test_a_domain_counts_the_same_by_values_and_one_by_one() -> None:
    domain = Domain()
    for number in range(9):
        domain.add(needs(f"p{number}", labels={"g": str(number % 3), "h": "x"}), "zone")
    same = Requirement("g", "in", frozenset("1"))
    other = Requirement("g", "notin", frozenset("1"))
    exists = Requirement("g", "exists")
    by_values = Term("zone", frozenset("x"), (exists, other))
    assert domain.count(by_values) == 6
    assert domain.count(Term("zone", None, (exists, other))) == 6
    assert domain.count(Term("zone", frozenset("x"), (same, Requirement("h", "exists")))) == 3
    assert domain.count(Term("zone", frozenset("y"), (same,))) == 0
    assert domain.count(Term("zone", None, None)) == 0


def test_room_is_given_back() -> None:
    world = World()
    world.put_node(node("n", pods="1"))
    world.put_pod(needs("a"), "n")
    assert isinstance(place(world, needs("b")), Unplaced)
    world.remove_pod("a")
    assert place(world, needs("b")) == "n"


def test_siblings_are_spread() -> None:
    world = World()
    for number in range(3):
        world.put_node(node(f"n{number}"))
    nodes = []
    for number in range(3):
        pod = needs(f"p{number}")
        chosen = place(world, pod)
        assert isinstance(chosen, str)
        world.put_pod(pod, chosen)
        nodes.append(chosen)
    assert sorted(nodes) == ["n0", "n1", "n2"]


def test_a_node_that_moves_takes_its_pods_along() -> None:
    world = World()
    world.put_node(node("n", zone="a"))
    world.put_pod(needs("p", labels={"x": "y"}), "n")
    term = Term("zone", None, (Requirement("x", "exists"),))
    assert world.topology("zone")["a"].count(term) == 1
    world.put_node(node("n", zone="b"))
    assert world.topology("zone")["a"].count(term) == 0
    assert world.topology("zone")["b"].count(term) == 1
    world.remove_node("n")
    assert world.topology("zone")["b"].count(term) == 0


def test_without_nodes_it_says_so() -> None:
    found = place(World(), needs("a"))
    assert isinstance(found, Unplaced)
    assert found.message == "no nodes available to schedule pods"


@pytest.mark.parametrize(
    ("toleration", "is_tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "other"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "k"}, False),
        ({}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], is_tolerated: bool) -> None:
    taint = {"key": "k", "value": "v", "effect": "NoExecute"}
    assert tolerates([toleration], taint) is is_tolerated


# Addresses


def test_addresses_are_given_back_and_not_given_twice() -> None:
    addresses = Addresses()
    pods = [{**named(f"p{number}"), "spec": {}} for number in range(50)]
    given = {addresses.of(pod, None).pod_ip for pod in pods}
    assert len(given) == 50
    assert addresses.of(pods[0], None).pod_ip in given
    host = {**named("h"), "spec": {"hostNetwork": True}}
    assert addresses.of(host, None).pod_ip == addresses.of(host, None).host_ip
