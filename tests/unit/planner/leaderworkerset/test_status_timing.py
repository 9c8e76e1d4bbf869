"""What of a status is told at once, what is paced, and what waits for its outcome."""

from typing import Any

import msgspec
import pytest

from lws.api import names
from lws.planner.actions import Apply, Telling
from lws.planner.leaderworkerset.plan import plan
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.planner.timing import Timing
from tests.unit.planner.leaderworkerset.worlds import (
    KEY,
    OLD_KEY,
    a_set,
    at_rest,
    facts,
    rolling,
    statefulset_document,
)

ROLE = {
    "apiVersion": names.DS_API_VERSION,
    "kind": names.DS_KIND,
    "name": "pd",
    "uid": "ds-uid",
    "controller": True,
}
FRESH = Timing(age=0.0, unsaid=0.0)
"""Written in this very moment."""


def planned(
    snapshot: LeaderWorkerSetSnapshot, timing: Timing = FRESH, trouble: Trouble | None = None
) -> StatusPlan:
    return plan_status(
        snapshot, wanted=KEY, restarts=(), trouble=trouble or Trouble(), timing=timing
    )


def said(groups: list[Any], **spec: Any) -> dict[str, Any]:
    """The status of a set with these groups."""
    first = planned(at_rest(a_set(**spec), groups=groups), timing=Timing())
    assert first.wait == 0 or "metadata" in spec
    status: dict[str, Any] = msgspec.to_builtins(first.status)
    return status


def generation(number: int, *, role: bool = False) -> dict[str, Any]:
    return {"generation": number, "ownerReferences": [ROLE] if role else []}


ALL = [facts(0), facts(1), facts(2)]
TWO = [facts(0), facts(1), facts(2, ready=False)]
ONE = [facts(0), facts(1, ready=False), facts(2, ready=False)]


def test_the_first_status_is_told_at_once_with_what_autoscalers_need() -> None:
    first = planned(at_rest(groups=[]))
    assert first.wait == 0
    assert first.status is not None
    assert {"hpaPodSelector", "replicas"} <= set(first.status)


def test_what_settles_and_what_is_lost_is_told_at_once() -> None:
    assert planned(at_rest(a_set(status=said(TWO)), groups=ALL)).wait == 0
    assert planned(at_rest(a_set(status=said(ALL)), groups=TWO)).wait == 0


def test_counters_on_the_way_are_paced() -> None:
    assert planned(at_rest(a_set(status=said(ONE)), groups=TWO)).wait == 1
    many = [facts(index, ready=index < 5) for index in range(60)]
    more = [facts(index, ready=index < 9) for index in range(60)]
    waits = planned(at_rest(a_set(status=said(many, replicas=60), replicas=60), groups=more))
    assert waits.wait == 5


def test_an_answer_to_a_new_spec_waits_a_moment_for_its_outcome() -> None:
    lws = a_set(status=said(ALL), replicas=4, metadata=generation(5))
    assert planned(at_rest(lws, groups=ALL)).wait == 0.5
    assert planned(at_rest(lws, groups=ALL), Timing(unsaid=0.5)).wait == 0


def test_an_answer_that_is_whole_is_told_at_once() -> None:
    lws = a_set(status=said(ALL), paused=False, metadata=generation(5))
    assert planned(at_rest(lws)).wait == 0


def test_a_failure_is_told_at_once_whatever_was_asked() -> None:
    refused = Trouble(apply_failure="no quota")
    for role in (False, True):
        lws = a_set(status=said(ALL), replicas=4, metadata=generation(5, role=role))
        assert planned(at_rest(lws, groups=ALL), trouble=refused).wait == 0


@pytest.mark.parametrize("role", [False, True])
def test_a_paused_set_says_so_at_once(*, role: bool) -> None:
    lws = a_set(status=said(ALL), paused=True, metadata=generation(5, role=role))
    assert planned(at_rest(lws)).wait == 0


def test_a_roles_set_says_nothing_of_what_its_disaggregatedset_has_just_asked() -> None:
    lws = a_set(metadata=generation(1, role=True))
    assert planned(at_rest(lws, groups=[])).wait == 5
    assert planned(at_rest(lws, groups=ONE)).wait == 5
    assert planned(at_rest(lws, groups=ALL)).wait == 0


def test_a_roles_set_of_no_groups_has_nothing_to_tell_yet() -> None:
    lws = a_set(replicas=0, metadata=generation(1, role=True))
    document = statefulset_document(replicas=0, status={"observedGeneration": 2, "replicas": 0})
    assert planned(at_rest(lws, document=document, groups=[])).wait == 1


def test_a_roles_set_that_was_scaled_tells_a_loss_though_it_still_grows() -> None:
    lws = a_set(status=said(ALL), replicas=4, metadata=generation(5, role=True))
    assert planned(at_rest(lws, groups=ALL)).wait == 5
    assert planned(at_rest(lws, groups=TWO)).wait == 1
    assert planned(at_rest(lws, groups=TWO), Timing()).wait == 0


def test_a_roles_set_tells_counters_on_the_way_rarely_and_a_loss_within_a_second() -> None:
    for groups, seconds in ((TWO, 5), ([facts(index, ready=False) for index in range(3)], 1)):
        lws = a_set(status=said(ONE), metadata=generation(4, role=True))
        assert planned(at_rest(lws, groups=groups)).wait == seconds


def test_a_roles_set_that_was_scaled_down_lost_nothing() -> None:
    groups = [facts(0), facts(1)]
    lws = a_set(status=said(ALL), replicas=2, metadata=generation(5, role=True))
    assert planned(at_rest(lws, groups=groups)).wait == 5


def test_a_loss_that_nobody_asked_for_is_told_at_once_of_a_roles_set_too() -> None:
    lws = a_set(status=said(ALL), metadata=generation(4, role=True))
    assert planned(at_rest(lws, groups=TWO)).wait == 0


def test_while_a_set_is_scaled_its_replicas_are_told_each_second_but_not_in_an_update() -> None:
    groups = [facts(index) for index in range(60)]
    before = said(groups, replicas=60) | {"replicas": 30}
    lws = a_set(status=before, replicas=60)
    scaled = at_rest(lws, groups=groups)
    assert planned(scaled).wait == 1
    old = [facts(index, key=OLD_KEY) for index in range(60)]
    before = said(old, replicas=60) | {"replicas": 30}
    lws = a_set(status=before, replicas=60, rolloutStrategy=rolling())
    assert planned(at_rest(lws, groups=old)).wait == 5


def test_statefulsets_of_a_role_are_told_together() -> None:
    for role, telling in ((False, Telling.FEW), (True, Telling.TOGETHER)):
        lws = a_set(metadata=generation(1, role=role))
        strand = plan(at_rest(lws, document={}, groups=[])).strands[0]
        told = strand[[isinstance(one, Apply) for one in strand].index(True) + 1]
        assert getattr(told, "telling", None) is telling
