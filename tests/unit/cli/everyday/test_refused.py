"""Why pods were not made: events of refusals, and the words of a status that come of them."""

from typing import Any

import pytest

from lws.api import names
from lws.base.times import parse_time
from lws.cli.everyday.family import Family
from lws.cli.everyday.groups import groups_of, lacks_pods
from lws.cli.everyday.refused import refusals_of, tidy
from lws.cli.everyday.roles import RoleFamily, status_of_roles
from tests.unit.cli.everyday.objects import lws, pod

MADE = "2026-01-01T12:00:00Z"
TOLD = "2026-01-01T12:05:00Z"
NOW = parse_time(TOLD) + 60
QUOTA = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"


def chat(**more: Any) -> dict[str, Any]:
    found = lws(**more)
    found["metadata"]["creationTimestamp"] = MADE
    return found


def event(
    message: str, *, about: str = "chat", kind: str = "StatefulSet", told: str = TOLD, **more: Any
) -> dict[str, Any]:
    """As the StatefulSet controller's recorder writes it."""
    return {
        "metadata": {"creationTimestamp": MADE},
        "involvedObject": {"kind": kind, "name": about, "uid": "u1"},
        "reason": "FailedCreate",
        "message": message,
        "lastTimestamp": told,
        **more,
    }


def of_pod(name: str, statefulset: str, why: str = QUOTA, **more: Any) -> dict[str, Any]:
    failed = f"create Pod {name} in StatefulSet {statefulset} failed error"
    text = f'{failed}: pods "{name}" is forbidden: {why}'
    return event(text, about=statefulset, **more)


def told(*events: dict[str, Any]) -> dict[str, str]:
    return dict(refusals_of(chat(), events, now=NOW))


def test_a_group_without_a_pod_tells_what_the_leaders_statefulset_was_refused() -> None:
    family = Family(chat(), None, (), told(of_pod("chat-0", "chat")))
    assert [group.words for group in groups_of(family)] == [
        f"group 0: not made: {QUOTA}",
        f"group 1: not made: {QUOTA}",
    ]


def test_workers_tell_what_their_own_statefulset_was_refused() -> None:
    pods = (pod(0), pod(0, 1), pod(0, 2), pod(1))
    family = Family(chat(), None, pods, told(of_pod("chat-1-1", "chat-1")))
    assert [group.words for group in groups_of(family)] == [
        "group 0: ready",
        f"group 1: workers 1, 2 not made: {QUOTA}",
    ]
    assert lacks_pods(family)
    assert not lacks_pods(Family(chat(replicas=1), None, pods[:3]))


def test_workers_that_wait_for_their_leader_were_refused_nothing() -> None:
    waiting = chat(replicas=1, startupPolicy="LeaderReady")
    family = Family(waiting, None, (pod(0, ready=False),), {"chat-0": QUOTA})
    (group,) = groups_of(family)
    assert group.problems[-1] == "workers 1, 2 not made until the leader is ready"


def test_the_operators_own_refusal_names_the_groups_statefulset() -> None:
    note = "Failed to create worker statefulset for leader pod chat-1: statefulsets.apps "
    refused = event(
        note + '"chat-1" is forbidden: exceeded quota: sets, used: 1',
        kind=names.KIND,
        told="",
        eventTime="2026-01-01T12:00:01.000000Z",
        series={"count": 3, "lastObservedTime": "2026-01-01T12:05:00.000000Z"},
    )
    why = "their StatefulSet was refused: exceeded quota: sets, used: 1"
    assert told(refused) == {"chat-1": why}
    refused["involvedObject"]["uid"] = "of an earlier set"
    assert told(refused) == {}


def test_a_refused_volume_claim_is_told_as_such() -> None:
    text = (
        "create Claim data-chat-0 for Pod chat-0 in StatefulSet chat failed error: "
        'persistentvolumeclaims "data-chat-0" is forbidden: exceeded quota: disks'
    )
    assert told(event(text)) == {"chat": "a volume claim was refused: exceeded quota: disks"}


def test_the_newest_refusal_counts_and_of_others_none_does() -> None:
    old = of_pod("chat-0", "chat", "first", told="2026-01-01T12:04:00Z")
    new = of_pod("chat-1", "chat", "second")
    assert told(new, old) == {"chat": "second"}
    assert told(of_pod("chatty-0", "chatty"), of_pod("chat-a-0", "chat-a")) == {}
    assert told(of_pod("chat-0", "chat") | {"reason": "FailedDelete"}) == {}


@pytest.mark.parametrize("moment", ["2026-01-01T11:59:59Z", "2026-01-01T11:00:00Z"])
def test_a_refusal_of_an_earlier_set_does_not_count(moment: str) -> None:
    assert told(of_pod("chat-0", "chat", told=moment)) == {}


def test_a_refusal_that_was_not_told_anew_for_long_does_not_count() -> None:
    refused = [of_pod("chat-0", "chat")]
    assert refusals_of(chat(), refused, now=parse_time(TOLD) + 1_200)
    assert not refusals_of(chat(), refused, now=parse_time(TOLD) + 1_201)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('pods "a" is forbidden: violates PodSecurity "restricted:latest": x', "violates"),
        ('admission webhook "w.example.com" denied the request: no\n  such  team.', "admission"),
    ],
)
def test_a_refusal_is_told_in_one_line_without_its_object(message: str, words: str) -> None:
    assert tidy(message).startswith(words)
    assert "\n" not in tidy(message)
    assert not tidy(message).endswith(".")


def test_an_event_of_another_form_is_told_as_it_stands() -> None:
    combined = of_pod("chat-1", "chat")
    combined["message"] = f"(combined from similar events): {combined['message']}"
    assert told(combined) == {"chat": QUOTA}
    assert told(event("something else went wrong")) == {"chat": "something else went wrong"}


def test_the_roles_of_a_disaggregated_set_tell_it_too() -> None:
    role = chat(replicas=1)
    role["metadata"]["labels"] = {names.DS_ROLE: "prefill"}
    ds = {"metadata": {"name": "ds", "namespace": "team"}, "spec": {"roles": []}}
    refused = told(of_pod("chat-0", "chat"))
    status = status_of_roles(RoleFamily(ds, (role,), (), refused))
    assert f"  prefill group 0: not made: {QUOTA}" in status.lines
