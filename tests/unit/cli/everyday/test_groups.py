"""Groups, and whether a set is available."""

from typing import Any

import click
import pytest

from lws.api import names
from lws.cli.everyday.changing import leaders_to_end
from lws.cli.everyday.family import Family, group_of
from lws.cli.everyday.groups import groups_of
from lws.cli.everyday.status import status_of
from lws.cli.everyday.tables import age, sets_table, tree_lines
from tests.unit.cli.everyday.objects import lws, pod

NO_GPU = "0/20 nodes are available: 20 Insufficient nvidia.com/gpu. preemption: none."
STATEFULSET = {"metadata": {"labels": {names.REVISION_KEY: "abc"}}}
AVAILABLE = {"Available": "True"}


def family(lws: dict[str, Any], *pods: dict[str, Any]) -> Family:
    return Family(lws=lws, statefulset=STATEFULSET, pods=pods)


def words(lws: dict[str, Any], *pods: dict[str, Any]) -> list[str]:
    return [group.words for group in groups_of(family(lws, *pods))]


def whole(group: int) -> list[dict[str, Any]]:
    return [pod(group, worker) for worker in range(3)]


def test_a_group_tells_which_worker_finds_no_node() -> None:
    pods = [pod(0), pod(0, 1), pod(0, 2, ready=False, message=NO_GPU)]
    assert words(lws(replicas=1), *pods) == [
        "group 0: worker 2 pending, 0/20 nodes have nvidia.com/gpu to spare"
    ]


def test_pods_with_the_same_trouble_are_told_of_together() -> None:
    pods = [pod(0, worker, ready=False, message=NO_GPU) for worker in range(3)]
    (told,) = words(lws(replicas=1), *pods)
    assert told.startswith("group 0: leader and workers 1, 2 pending, 0/20 nodes")
    big = [pod(0, worker, ready=worker not in (1, 2, 3, 5)) for worker in range(6)]
    (told,) = words(lws(replicas=1, size=6), *big)
    assert told == "group 0: workers 1-3, 5 running, not started by its node yet"


def test_pods_and_groups_that_are_not_there_are_told_of() -> None:
    assert words(lws(), pod(0), pod(0, 2)) == [
        "group 0: worker 1 not made yet",
        "group 1: not made yet",
    ]


def test_workers_that_wait_for_their_leader_are_told_so() -> None:
    waiting = lws(replicas=1, startupPolicy="LeaderReady")
    assert words(waiting, pod(0, ready=False)) == [
        (
            "group 0: leader running, not started by its node yet; "
            "workers 1, 2 not made until the leader is ready"
        )
    ]


def test_a_group_has_the_size_that_it_was_made_with() -> None:
    assert words(lws(replicas=1, size=8), *whole(0)) == ["group 0: ready"]


def test_a_leader_that_was_made_without_our_webhook_has_its_group_in_its_name() -> None:
    bare = pod(1)
    del bare["metadata"]["labels"][names.GROUP_INDEX]
    assert group_of(bare) == 1
    assert [one.pods != () for one in groups_of(family(lws(), bare))] == [False, True]
    assert leaders_to_end(lws(), [bare], group=None) == {"1": bare}
    bare["metadata"]["labels"][names.WORKER_INDEX] = "2"
    assert group_of(bare) is None, "a worker's number is not its group's"


def test_groups_beyond_those_wanted_are_told_of_too() -> None:
    assert words(lws(replicas=1), *whole(0), *whole(11), *whole(2)) == [
        "group 0: ready",
        "group 2: ready",
        "group 11: ready",
    ]


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ({"Available": "True"}, "available"),
        ({"Progressing": "True"}, "progressing"),
        ({"Progressing": "True", "UpdateInProgress": "True"}, "updating"),
        ({"Progressing": "False"}, "stuck"),
        ({"Progressing": "True", "Paused": "True"}, "paused"),
        ({"Progressing": "True", "Failed": "True"}, "failed"),
        ({"Progressing": "False", "Conflict": "True"}, "blocked"),
        ({}, "new"),
    ],
)
def test_the_state_of_a_set_is_one_word(conditions: dict[str, str], state: str) -> None:
    status = status_of(family(lws(conditions=conditions), *whole(0), *whole(1)))
    assert status.state == state
    assert status.available == (state == "available")


def test_what_stops_a_set_is_told_with_its_message() -> None:
    conditions = {"Progressing": "False", "Paused": "True"}
    status = status_of(family(lws(conditions=conditions)))
    assert status.reasons == ("Why: words of Progressing", "Paused: words of Paused")


def test_a_status_of_an_older_spec_is_not_believed() -> None:
    late = lws(conditions=AVAILABLE)
    late["status"]["observedGeneration"] = 3
    status = status_of(family(late, *whole(0), *whole(1)))
    assert not status.available
    assert status.reasons == ("the operator has not seen the newest spec yet",)


def test_a_spec_that_the_server_refuses_is_not_available_though_the_old_groups_are() -> None:
    refused = lws(conditions={"Available": "True", "Progressing": "False"})
    family_of = family(refused, *whole(0), *whole(1))
    assert status_of(family_of).available, "done with progressing"
    refused["status"]["conditions"][1]["reason"] = "ApplyFailed"
    status = status_of(family_of)
    assert (status.available, status.state) == (False, "stuck")
    assert status.reasons == ("ApplyFailed: words of Progressing",)


def test_a_status_of_groups_that_are_gone_is_not_believed() -> None:
    status = status_of(family(lws(conditions=AVAILABLE), *whole(0), pod(1)))
    assert (status.available, status.state) == (False, "progressing")
    surge = status_of(family(lws(conditions=AVAILABLE), *whole(0), *whole(1), pod(2)))
    assert surge.available, "a group that is not wanted need not be ready"


def test_a_set_that_nobody_has_looked_at_says_so() -> None:
    fresh = lws()
    del fresh["status"]
    status = status_of(Family(lws=fresh, statefulset=None, pods=()))
    assert status.state == "new"
    assert "does one run in this cluster" in status.reasons[0]
    assert "(none yet)" in status.title


def test_the_tree_has_a_line_a_pod_and_says_what_is_wrong_where_it_is() -> None:
    pods = [*whole(0), pod(1), pod(1, 1), pod(1, 2, ready=False, message=NO_GPU)]
    status = status_of(family(lws(), *pods))
    plain = tree_lines(status, now=0, wide=False, colour=False)
    assert sum("chat-" in line for line in plain) == 6
    (group,) = [line for line in plain if "group 1" in line]
    assert group.endswith("worker 2 pending, 0/20 nodes have nvidia.com/gpu to spare")
    painted = tree_lines(status, now=0, wide=False, colour=True)
    assert painted != plain
    assert [click.unstyle(line) for line in painted] == plain
    assert "POD-IP" in "".join(tree_lines(status, now=0, wide=True, colour=False))


def test_the_list_tells_that_a_set_is_paused_whatever_its_state() -> None:
    sets = [lws(conditions=AVAILABLE, paused=True), lws(conditions={"Paused": "True"}, paused=True)]
    lines = sets_table(sets, now=0, wide=True, namespaces=True, colour=False)
    assert [line.split()[:5] for line in lines[1:]] == [
        ["team", "chat", "1/2", "0", "available"],
        ["team", "chat", "1/2", "0", "paused"],
    ]
    assert "(paused)" in lines[1]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0s"), (119, "119s"), (120, "2m"), (7_200, "2h"), (172_800, "2d")]
)
def test_an_age_is_short(seconds: int, words: str) -> None:
    assert age("1970-01-01T00:00:00Z", seconds) == words
