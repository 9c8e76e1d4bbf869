"""TPU variables, with and without subgroups."""

import copy
from typing import Any

import pytest

from lws.admission.pods import Rejected, mutate_pod

P = "leaderworkerset.sigs.k8s.io/"
NAMES = ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME", "TPU_PROCESS_ADDRESSES")


def tpus(name: str = "a", amount: object = 4, **variables: str) -> dict[str, Any]:
    """A container that asks for TPUs."""
    env = [{"name": key, "value": value} for key, value in variables.items()]
    return {"name": name, "env": env, "resources": {"limits": {"google.com/tpu": amount}}}


def admitted(
    worker: int,
    *containers: dict[str, Any],
    size: int = 3,
    leader_asks: bool = True,
    of: int | None = None,
    excluded: bool = False,
    **spec: Any,
) -> dict[str, Any]:
    """A member of group 0 of `s`, mutated, and found to stay so."""
    annotations = {P + "size": str(size)}
    if of is not None:
        kind = "LeaderExcluded" if excluded else "LeaderWorker"
        annotations |= {P + "subgroup-size": str(of), P + "subgroup-policy-type": kind}
    labels = {P + "name": "s"}
    if worker:
        labels[P + "group-index"] = "0"
        annotations[P + "leader-name"] = "s-0"
        if leader_asks:
            annotations[P + "leader-requests-tpus"] = "true"
    else:
        labels[P + "worker-index"] = "0"
    name = f"s-0-{worker}" if worker else "s-0"
    pod = {
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"subdomain": "d", "containers": list(containers) or [tpus()], **spec},
    }
    before = copy.deepcopy(pod)
    result = mutate_pod(pod, namespace="ns")
    assert pod == before
    assert mutate_pod(result, namespace="ns") == result
    return result


def variables(result: dict[str, Any], index: int = 0, kind: str = "containers") -> dict[str, str]:
    env = result["spec"][kind][index].get("env", [])
    assert len({e["name"] for e in env}) == len(env)
    return {e["name"]: e["value"] for e in env if e["name"].startswith("TPU_")}


def hosts(result: dict[str, Any]) -> list[str]:
    return variables(result)["TPU_WORKER_HOSTNAMES"].split(",")


def worker_id(result: dict[str, Any], index: int = 0) -> int:
    return int(variables(result, index)["TPU_WORKER_ID"])


def test_a_leader_and_its_workers_know_each_other() -> None:
    for worker in range(3):
        assert variables(admitted(worker)) == {
            "TPU_WORKER_HOSTNAMES": "s-0.d,s-0-1.d,s-0-2.d",
            "TPU_WORKER_ID": str(worker),
            "TPU_NAME": "s-0",
            "TPU_PROCESS_ADDRESSES": "s-0.d:8476,s-0-1.d:8476,s-0-2.d:8476",
            "TPU_PROCESS_PORT": "8476",
        }


def test_workers_of_a_leader_without_tpus_leave_it_out() -> None:
    results = [admitted(worker, leader_asks=False) for worker in (1, 2)]
    assert [worker_id(result) for result in results] == [0, 1]
    assert hosts(results[0]) == ["s-0-1.d", "s-0-2.d"]


def test_the_variables_come_after_the_users_own_and_ours_first() -> None:
    env = admitted(1, tpus(A="b"))["spec"]["containers"][0]["env"]
    names = [entry["name"] for entry in env]
    assert names[0] == "LWS_LEADER_ADDRESS"
    assert names[3:] == ["A", *NAMES, "TPU_PROCESS_PORT"]


def test_each_container_has_a_process_of_its_own() -> None:
    result = admitted(1, tpus("a"), {"name": "no"}, tpus("b", TPU_PROCESS_PORT="9000"), size=2)
    first, second = variables(result, 0), variables(result, 2)
    assert hosts(result) == ["s-0.d", "s-0.d", "s-0-1.d", "s-0-1.d"]
    expected = "s-0.d:8476,s-0.d:9000,s-0-1.d:8476,s-0-1.d:9000"
    assert first["TPU_PROCESS_ADDRESSES"] == second["TPU_PROCESS_ADDRESSES"] == expected
    assert (first["TPU_WORKER_ID"], second["TPU_WORKER_ID"]) == ("2", "3")
    assert (first["TPU_PROCESS_PORT"], second["TPU_PROCESS_PORT"]) == ("8476", "9000")
    assert variables(result, 1) == {}


def test_init_containers_are_counted_after_containers() -> None:
    result = admitted(0, {"name": "a"}, tpus("b"), initContainers=[tpus("c")], size=1)
    assert variables(result, 1)["TPU_PROCESS_PORT"] == "8476"
    assert variables(result, 0, "initContainers")["TPU_PROCESS_PORT"] == "8477"
    assert variables(result, 0, "initContainers")["TPU_WORKER_ID"] == "1"


@pytest.mark.parametrize("name", ["TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"])
def test_nothing_is_added_where_the_user_did_it_all(name: str) -> None:
    assert variables(admitted(1, tpus(**{name: "x"}))) == {name: "x"}


@pytest.mark.parametrize("amount", ["4", "1k", 1])
def test_a_request_is_enough(amount: object) -> None:
    container = {"name": "a", "resources": {"requests": {"google.com/tpu": amount}}}
    assert variables(admitted(0, container))


@pytest.mark.parametrize("amount", [0, "0", "0k", None, "many", True, [], -1])
def test_no_tpus_no_variables(amount: object) -> None:
    assert variables(admitted(0, tpus(amount=amount))) == {}


@pytest.mark.parametrize("size", ["10001", "2147483647"])
def test_a_group_beyond_all_measure_costs_us_no_memory(size: str) -> None:
    with pytest.raises(Rejected, match="too many"):
        admitted(1, size=int(size))


# Subgroups: hosts of the own subgroup only.


def test_the_first_subgroup_has_the_leader_if_it_asks() -> None:
    results = [admitted(worker, size=8, of=4) for worker in range(8)]
    first = ["s-0.d", "s-0-1.d", "s-0-2.d", "s-0-3.d"]
    second = ["s-0-4.d", "s-0-5.d", "s-0-6.d", "s-0-7.d"]
    assert [hosts(result) for result in results] == [first] * 4 + [second] * 4
    assert [worker_id(result) for result in results] == [0, 1, 2, 3] * 2
    assert variables(results[7])["TPU_NAME"] == "s-0"


@pytest.mark.parametrize("excluded", [False, True])
def test_workers_alone_are_counted_from_the_first(excluded: bool) -> None:
    results = [
        admitted(worker, size=5, of=2, leader_asks=False, excluded=excluded)
        for worker in range(1, 5)
    ]
    first, second = ["s-0-1.d", "s-0-2.d"], ["s-0-3.d", "s-0-4.d"]
    assert [hosts(result) for result in results] == [first] * 2 + [second] * 2
    assert [worker_id(result) for result in results] == [0, 1] * 2


@pytest.mark.parametrize(
    ("size", "of", "leader_asks"),
    [(4, 2, False), (4, 2, True), (5, 2, True), (5, 2, False), (3, 1, False), (3, 1, True)],
)
@pytest.mark.parametrize("excluded", [False, True])
def test_each_pod_is_once_in_the_list_of_its_own_subgroup(
    size: int, of: int, leader_asks: bool, excluded: bool
) -> None:
    first = 0 if leader_asks else 1
    lists: dict[str, list[int]] = {}
    for worker in range(first, size):
        result = admitted(worker, size=size, of=of, leader_asks=leader_asks, excluded=excluded)
        own = "s-0.d" if worker == 0 else f"s-0-{worker}.d"
        assert hosts(result)[worker_id(result)] == own
        lists.setdefault(",".join(hosts(result)), []).append(worker)
    assert all(len(key.split(",")) == len(members) for key, members in lists.items())


def test_an_excluded_leader_that_asks_is_alone() -> None:
    assert hosts(admitted(0, size=5, of=2, excluded=True)) == ["s-0.d"]
    assert "s-0.d" not in hosts(admitted(1, size=5, of=2, excluded=True))


def test_one_container_is_assumed_and_its_port_counts() -> None:
    result = admitted(1, tpus("a", TPU_PROCESS_PORT="9000"), tpus("b"), size=2, of=2)
    assert variables(result)["TPU_PROCESS_ADDRESSES"] == "s-0.d:9000,s-0-1.d:9000"
    assert variables(result, 1) == {}
