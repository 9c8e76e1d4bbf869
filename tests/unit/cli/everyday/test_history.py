"""Recorded revisions, what changed between them, and the way back."""

import copy
from typing import Any

import msgspec
import pytest

from lws.api import names
from lws.api.leaderworkerset import decode
from lws.base.errors import InvalidInput
from lws.cli.everyday.changes import changes
from lws.cli.everyday.changing import leaders_to_end, owner_of
from lws.cli.everyday.history import history_of, undo
from lws.cli.everyday.tables import history_lines
from lws.planner.leaderworkerset.revisions import read_wanted
from tests.unit.cli.everyday.objects import lws, pod

IMAGE = "leaderWorkerTemplate.workerTemplate.spec.containers[main].image"


def with_image(image: str, **metadata: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": image}]
    made = lws()
    template = made["spec"]["leaderWorkerTemplate"]
    template["workerTemplate"] = {"spec": {"containers": containers}}
    made["spec"]["networkConfig"] = {"subdomainPolicy": "Shared"}
    made["metadata"] |= metadata
    return made


def revision(of: dict[str, Any], number: int, key: str, *, retired: bool = False) -> dict[str, Any]:
    """As the operator records a set's template."""
    wanted = read_wanted(decode(msgspec.json.encode(of)))
    label = names.HISTORY_OF if retired else names.NAME
    spec = {part: {**value, "$patch": "replace"} for part, value in wanted.document.items()}
    return {
        "metadata": {
            "name": f"chat-{key}-{number}",
            "labels": {label: "chat", names.REVISION_KEY: key},
            "annotations": dict(wanted.topologies),
            "creationTimestamp": "1970-01-01T00:00:00Z",
        },
        "revision": number,
        "data": {"spec": spec},
    }


OLD, NEW = with_image("serve:1"), with_image("serve:2")
RECORDED = [revision(NEW, 2, "bbb"), revision(OLD, 1, "aaa", retired=True)]


def patched(live: dict[str, Any], patch: Any) -> dict[str, Any]:
    """A JSON patch of whole fields, as undo writes them."""
    after = copy.deepcopy(live)
    for step in patch:
        *way, last = step["path"].strip("/").split("/")
        place = after
        for part in way:
            place = place[part]
        assert step["op"] == "add" or last in place
        place[last] = step["value"]
    return after


def test_history_tells_states_and_what_changed_in_field_paths() -> None:
    old, new = history_of(NEW, RECORDED)
    assert (old.state, old.changes) == ("retired", ())
    assert (new.state, new.changes) == ("wanted", (f"{IMAGE}: serve:1 → serve:2",))
    lines = history_lines([old, new], now=60, wide=False)
    assert [line.split()[:3] for line in lines[1::2]] == [
        ["2", "bbb", "wanted"],
        ["1", "aaa", "retired"],
    ]


def test_a_revision_that_groups_may_still_run_is_active() -> None:
    recorded = [revision(OLD, 1, "aaa"), revision(NEW, 2, "bbb")]
    assert [one.state for one in history_of(NEW, recorded)] == ["active", "wanted"]


def test_what_cannot_be_read_is_left_out() -> None:
    foreign = {"metadata": {"name": "x"}, "revision": 9, "data": {"raw": 1}}
    assert len(history_of(NEW, [*RECORDED, foreign])) == 2
    assert history_lines([], now=0, wide=False) == ["no revision is recorded yet"]


def test_fields_that_come_go_or_are_long_are_told_briefly() -> None:
    told = [*map(str, changes({"a": 1, "b": [1]}, {"b": [2], "c": "x" * 99}))]
    assert told[:2] == ["a: 1 → (none)", "b: [1] → [2]"]
    assert told[2].startswith("c: (none) → xxx")
    assert len(told[2]) < 80


def test_containers_are_compared_by_name_wherever_they_stand() -> None:
    one, two = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}
    before, after = {"c": [one, two]}, {"c": [{**two, "image": "2"}, one]}
    assert [*map(str, changes(before, after))] == ["c[b].image: 1 → 2", "c (order): a, b → b, a"]


def test_undo_goes_back_to_the_revision_before() -> None:
    plan = undo(NEW, RECORDED, to=None)
    assert (plan.key, plan.changes) == ("aaa", (f"{IMAGE}: serve:2 → serve:1",))
    assert patched(NEW, plan.patch)["spec"] == OLD["spec"]
    assert plan.patch[0]["path"] == "/metadata/resourceVersion"
    assert plan.patch[0]["value"] == "77"


def test_undo_keeps_what_belongs_to_no_template() -> None:
    live = copy.deepcopy(NEW)
    live["spec"]["leaderWorkerTemplate"]["maxGroupRestarts"] = 5
    after = patched(live, undo(live, RECORDED, to="aaa").patch)
    assert after["spec"]["leaderWorkerTemplate"]["maxGroupRestarts"] == 5


def test_undo_brings_back_the_topology_that_was_recorded() -> None:
    placed = with_image("serve:1", annotations={names.EXCLUSIVE_TOPOLOGY: "rack"})
    live = with_image("serve:2", annotations={names.EXCLUSIVE_TOPOLOGY: "zone", "other": "1"})
    plan = undo(live, [revision(placed, 1, "aaa"), revision(live, 2, "bbb")], to=None)
    after = patched(live, plan.patch)
    assert after["metadata"]["annotations"] == {names.EXCLUSIVE_TOPOLOGY: "rack", "other": "1"}
    assert plan.notes == ()
    (note,) = undo(live, [*RECORDED, revision(live, 3, "ccc")], to="aaa").notes
    assert names.EXCLUSIVE_TOPOLOGY in note


def test_undo_to_where_it_is_writes_nothing() -> None:
    assert undo(NEW, RECORDED, to="b").patch == ()


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("zzz", "--to: no revision has key 'zzz'; there are: aaa, bbb"),
        ("", "--to: no revision has key ''"),
    ],
)
def test_a_key_that_is_not_there_is_told_with_those_that_are(to: str, words: str) -> None:
    with pytest.raises(InvalidInput, match="--to") as caught:
        undo(NEW, RECORDED, to=to)
    assert str(caught.value).startswith(words)


def test_the_beginning_of_two_keys_is_refused() -> None:
    recorded = [revision(OLD, 1, "abc"), revision(NEW, 2, "abd")]
    with pytest.raises(InvalidInput, match="several revisions begin with"):
        undo(NEW, recorded, to="ab")


def test_a_set_with_one_revision_has_nothing_to_go_back_to() -> None:
    with pytest.raises(InvalidInput, match="no revision to go back to"):
        undo(NEW, RECORDED[:1], to=None)


def test_a_restart_takes_each_leader_that_is_not_going_already() -> None:
    going = pod(10)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    leaders = [going, pod(9), pod(2)]
    assert list(leaders_to_end(lws(), leaders, group=None)) == ["2", "9"]
    assert list(leaders_to_end(lws(), leaders, group=9)) == ["9"]
    assert leaders_to_end(lws(), leaders, group=10) == {}
    with pytest.raises(InvalidInput, match="there are: 2, 9, 10"):
        leaders_to_end(lws(), leaders, group=3)


def test_the_master_of_a_set_is_named() -> None:
    owner = {"kind": "DisaggregatedSet", "name": "pair", "controller": True}
    assert owner_of(with_image("serve:1", ownerReferences=[owner])) == "DisaggregatedSet pair"
    assert owner_of(lws()) == ""
