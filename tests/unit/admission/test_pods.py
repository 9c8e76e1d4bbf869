"""The pod webhook, rule by rule."""

import copy
from typing import Any

import pytest

from lws.admission.pods import Rejected, mutate_pod
from lws.api import names

P = "leaderworkerset.sigs.k8s.io/"
LEADER_KEY = names.group_key("default", "serve-3")


def pod(
    name: str,
    *,
    labels: dict[str, Any] | None = None,
    annotations: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A member of group 3 of the set `serve`, as the StatefulSet controller asks for it."""
    is_leader = name.count("-") == 1
    identity = {P + "worker-index": "0"} if is_leader else {P + "group-index": "3"}
    leader = {} if is_leader else {P + "leader-name": "serve-3"}
    return {
        "metadata": {
            "name": name,
            "labels": {P + "name": "serve", **identity, **(labels or {})},
            "annotations": {P + "size": "4", **leader, **(annotations or {})},
        },
        "spec": {"subdomain": "serve", "containers": [{"name": "main"}], **spec},
    }


def mutated(given: dict[str, Any]) -> dict[str, Any]:
    """The mutation, checked for what holds of each: pure, and the same a second time."""
    before = copy.deepcopy(given)
    result = mutate_pod(given, namespace="default")
    assert given == before
    assert mutate_pod(result, namespace="default") == result
    return result


def labels_of(result: dict[str, Any]) -> dict[str, str]:
    return {k.removeprefix(P): v for k, v in result["metadata"]["labels"].items()}


def env(result: dict[str, Any], index: int = 0, kind: str = "containers") -> list[tuple[str, str]]:
    return [(e["name"], e.get("value", "")) for e in result["spec"][kind][index]["env"]]


GROUP_ENV = [
    ("LWS_LEADER_ADDRESS", "serve-3.serve.default"),
    ("LWS_GROUP_SIZE", "4"),
    ("LWS_WORKER_INDEX", "2"),
]


# Whose pods, and which are refused.


@pytest.mark.parametrize(
    "given", [{}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": None}, {"metadata": []}]
)
def test_a_pod_without_our_label_passes_unchanged(given: dict[str, Any]) -> None:
    assert mutate_pod(given, namespace="default") is given


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (pod("serve-3", annotations={P + "size": None}), "size"),
        (pod("serve-3", annotations={P + "size": "four"}), "'four'"),
        (pod("serve-3", annotations={P + "size": "-4"}), "must be a number"),
        (pod("serve-3", annotations={P + "size": 4}), "must be a number"),
        (pod("serve-x"), "-<ordinal>"),
        (pod("serve"), "-<ordinal>"),
        (pod(""), "-<ordinal>"),
        (pod("a-" + "1" * 5000), "-<ordinal>"),
        (pod("serve-3-1", labels={P + "group-index": ""}), "group-index"),
        (pod("serve-3-1", annotations={P + "subgroup-size": "two"}), "subgroup-size"),
        (pod("serve-3-1", annotations={P + "subgroup-size": "0"}), "at least 1"),
    ],
)
def test_a_pod_that_cannot_be_understood_is_refused(given: dict[str, Any], part: str) -> None:
    with pytest.raises(Rejected) as refused:
        mutate_pod(given, namespace="default")
    assert part in str(refused.value)


# Leader and worker.


def test_a_leader_learns_its_group() -> None:
    labels = labels_of(mutated(pod("serve-3")))
    assert (labels["group-index"], labels["group-key"]) == ("3", LEADER_KEY)
    assert labels["worker-index"] == "0"


def test_labels_that_a_leader_has_stay() -> None:
    given = pod("serve-3", labels={P + "group-index": "7", P + "group-key": "k"})
    labels = labels_of(mutated(given))
    assert (labels["group-index"], labels["group-key"]) == ("7", "k")


def test_a_worker_learns_its_index() -> None:
    result = mutated(pod("serve-3-2"))
    assert labels_of(result)["worker-index"] == "2"
    assert "group-key" not in labels_of(result)


def test_a_worker_that_a_cluster_without_start_ordinals_numbered_0_stays_a_worker() -> None:
    labels = labels_of(mutated(pod("serve-3-0")))
    assert labels["worker-index"] == "0"
    assert "group-key" not in labels


def test_a_leader_with_a_subdomain_of_its_own_is_reached_by_it() -> None:
    result = mutated(pod("serve-3", annotations={P + "subdomainPolicy": "UniquePerReplica"}))
    assert result["spec"]["subdomain"] == "serve-3"
    assert env(result)[0] == ("LWS_LEADER_ADDRESS", "serve-3.serve-3.default")


# Environment.


def test_every_container_gets_the_variables_first() -> None:
    given = pod(
        "serve-3-2",
        containers=[
            {"name": "a", "env": [{"name": "A", "value": "b"}]},
            {"name": "b", "env": None},
            {"name": "c"},
        ],
        initContainers=[{"name": "d", "env": [{"name": "B", "valueFrom": {}}]}],
    )
    result = mutated(given)
    assert env(result, 0) == [*GROUP_ENV, ("A", "b")]
    assert env(result, 1) == env(result, 2) == GROUP_ENV
    assert env(result, 0, "initContainers") == [*GROUP_ENV, ("B", "")]


def test_a_user_cannot_set_our_variables() -> None:
    own = [
        {"name": "A", "value": "$(LWS_GROUP_SIZE)"},
        {"name": "LWS_GROUP_SIZE", "value": "9"},
        {"name": "LWS_WORKER_INDEX", "valueFrom": {"fieldRef": {}}},
        {"name": "LWS_GROUP_SIZE", "value": "10"},
    ]
    result = mutated(pod("serve-3-2", containers=[{"name": "a", "env": own}]))
    assert env(result) == [*GROUP_ENV, ("A", "$(LWS_GROUP_SIZE)")]


def test_variables_in_another_order_are_put_in_ours() -> None:
    mixed = [{"name": name, "value": value} for name, value in reversed(GROUP_ENV)]
    result = mutated(pod("serve-3-2", containers=[{"name": "a", "env": mixed}]))
    assert env(result) == GROUP_ENV


# Exclusive placement.


def exclusive(label: str, value: str, topology: str) -> dict[str, Any]:
    key = P + label
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    together = [{"key": key, "operator": "In", "values": [value]}]
    apart = [
        {"key": key, "operator": "Exists"},
        {"key": key, "operator": "NotIn", "values": [value]},
    ]
    return {
        kind: {
            required: [
                {"labelSelector": {"matchExpressions": terms}, "topologyKey": topology},
            ]
        }
        for kind, terms in (("podAffinity", together), ("podAntiAffinity", apart))
    }


def test_a_leader_is_alone_in_its_topology_domain() -> None:
    result = mutated(pod("serve-3", annotations={P + "exclusive-topology": "rack"}))
    assert result["spec"]["affinity"] == exclusive("group-key", LEADER_KEY, "rack")


def test_a_worker_follows_by_its_node_selector_not_by_affinity() -> None:
    result = mutated(pod("serve-3-1", annotations={P + "exclusive-topology": "rack"}))
    assert "affinity" not in result["spec"]


def test_what_the_user_wrote_in_affinity_stays() -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    # A term on the same topology key is the user's and replaces nothing.
    own = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "rack"}
    affinity = {
        "nodeAffinity": {"x": 1},
        "podAffinity": {required: [own], "preferredDuringSchedulingIgnoredDuringExecution": [1]},
        "podAntiAffinity": None,
    }
    annotations = {P + "exclusive-topology": "rack"}
    result = mutated(pod("serve-3", annotations=annotations, affinity=affinity))["spec"]["affinity"]
    ours = exclusive("group-key", LEADER_KEY, "rack")
    assert result["nodeAffinity"] == {"x": 1}
    assert result["podAffinity"][required] == [own, *ours["podAffinity"][required]]
    assert result["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] == [1]
    assert result["podAntiAffinity"] == ours["podAntiAffinity"]


def test_both_kinds_of_placement_can_be_asked_for() -> None:
    annotations = {
        P + "exclusive-topology": "block",
        P + "subgroup-size": "2",
        P + "subgroup-exclusive-topology": "rack",
    }
    affinity = mutated(pod("serve-3", annotations=annotations))["spec"]["affinity"]
    terms = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [term["topologyKey"] for term in terms] == ["block", "rack"]


# Subgroups.


def subgroup(name: str, *, size: int, of: int, **annotations: str) -> str | None:
    marks = {P + "size": str(size), P + "subgroup-size": str(of)}
    marks |= {P + key.replace("_", "-"): value for key, value in annotations.items()}
    result = mutated(pod(name, annotations=marks))
    index = labels_of(result).get("subgroup-index")
    if index is not None:
        assert labels_of(result)["subgroup-key"] == names.subgroup_key("serve-3", int(index))
    return index


@pytest.mark.parametrize(
    ("size", "of", "indices"),
    [
        (4, 2, "0011"),
        (5, 2, "00011"),
        (7, 3, "0000111"),
        (6, 3, "000111"),
        (4, 4, "0000"),
        (5, 4, "00000"),
        (3, 1, "012"),
    ],
)
def test_subgroups_are_counted_from_the_leader(size: int, of: int, indices: str) -> None:
    members = ["serve-3", *[f"serve-3-{i}" for i in range(1, size)]]
    assert [subgroup(name, size=size, of=of) for name in members] == list(indices)


def test_a_leader_that_is_excluded_has_no_subgroup() -> None:
    kind = {"subgroup_policy_type": "LeaderExcluded"}
    assert subgroup("serve-3", size=5, of=2, **kind) is None
    workers = [subgroup(f"serve-3-{i}", size=5, of=2, **kind) for i in range(1, 5)]
    assert workers == ["0", "0", "1", "1"]


def test_an_excluded_leader_is_not_placed_by_subgroup() -> None:
    annotations = {
        P + "subgroup-size": "1",
        P + "subgroup-policy-type": "LeaderExcluded",
        P + "subgroup-exclusive-topology": "rack",
    }
    assert "affinity" not in mutated(pod("serve-3", annotations=annotations))["spec"]
    worker = mutated(pod("serve-3-1", annotations=annotations))
    key = labels_of(worker)["subgroup-key"]
    assert worker["spec"]["affinity"] == exclusive("subgroup-key", key, "rack")


def test_a_subgroup_that_is_set_stays() -> None:
    given = pod(
        "serve-3-1", labels={P + "subgroup-index": "7"}, annotations={P + "subgroup-size": "2"}
    )
    labels = labels_of(mutated(given))
    assert labels["subgroup-index"] == "7"
    assert labels["subgroup-key"] == names.subgroup_key("serve-3", 7)


# Gang scheduling.


class Marker:
    def mark(self, pod: dict[str, Any], *, pod_group_name: str) -> dict[str, Any]:
        marks = {**pod["metadata"]["annotations"], "gang": pod_group_name}
        return {**pod, "metadata": {**pod["metadata"], "annotations": marks}}


def test_a_scheduler_marks_the_pods_of_a_group() -> None:
    given = pod("serve-3", labels={P + "template-revision-hash": "abc"})
    result = mutate_pod(given, namespace="default", marker=Marker())
    assert result["metadata"]["annotations"]["gang"] == "serve-3-abc"
    assert env(result)[1] == ("LWS_GROUP_SIZE", "4")
    assert mutate_pod(result, namespace="default", marker=Marker()) == result


def test_a_pod_that_no_group_can_be_named_for_is_refused() -> None:
    with pytest.raises(Rejected, match="template-revision-hash"):
        mutate_pod(pod("serve-3"), namespace="default", marker=Marker())
