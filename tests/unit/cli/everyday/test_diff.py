"""What an apply would change: which fields matter, which groups would be made anew."""

import copy
from typing import Any

import pytest

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday.changes import ABSENT, changes, with_value
from lws.cli.everyday.diff import disaggregatedset as roles
from lws.cli.everyday.diff import leaderworkerset as groups
from lws.cli.everyday.diff import revisions
from lws.cli.everyday.diff.applying import merge_patch, place_of
from lws.cli.everyday.diff.fields import Difference, counted, lines_of
from lws.cli.everyday.family import Family
from lws.cli.everyday.history import read_revisions
from tests.unit.cli.everyday.objects import pod
from tests.unit.cli.everyday.test_history import NEW, OLD, revision, with_image

RECORDED = [revision(OLD, 1, "aaa")]


def standing(
    live: dict[str, Any] = OLD, *, key: str = "aaa", recorded: Any = None
) -> groups.Standing:
    """Two groups at revision aaa."""
    pods = [pod(group, worker) for group in range(2) for worker in range(3)]
    for one in pods:
        one["metadata"]["labels"][names.REVISION_KEY] = key
    statefulset = {"metadata": {"name": "chat", "labels": {names.REVISION_KEY: key}}, "spec": {}}
    found = read_revisions(RECORDED if recorded is None else recorded)
    return groups.Standing(Family(live, statefulset, tuple(pods)), tuple(found))


def changed(live: dict[str, Any] = OLD, **spec: Any) -> dict[str, Any]:
    after = copy.deepcopy(live)
    after["spec"] |= spec
    return after


def effects(found: Difference) -> dict[str, str]:
    return {field.change.path: field.effect.value for field in found.fields}


def test_another_image_is_a_new_revision_and_every_group_is_made_anew() -> None:
    found = groups.difference(standing(), NEW)
    assert found.verdict.startswith("new revision ")
    assert found.verdict.endswith(" (now aaa)")
    assert list(effects(found).values()) == ["new revision"]
    assert found.effects == (
        "groups 0, 1 would be made anew, at most 1 unavailable, 0 more than wanted",
    )
    assert not found.is_none


def test_a_template_that_is_written_differently_and_means_the_same_rolls_nothing() -> None:
    after = changed()
    template = after["spec"]["leaderWorkerTemplate"]
    template["workerTemplate"]["spec"]["containers"][0]["resources"] = {}
    template["restartPolicy"] = "RecreateGroupOnPodRestart"
    found = groups.difference(standing(), after)
    assert set(effects(found).values()) == {"means the same"}
    assert found.verdict == "stays at revision aaa, no group is made anew for it"
    assert found.effects == ()


def test_of_several_fields_each_is_judged_by_itself() -> None:
    after = copy.deepcopy(NEW)
    after["spec"] |= {"replicas": 3, "paused": True}
    after["spec"]["leaderWorkerTemplate"] |= {"maxGroupRestarts": 3, "restartPolicy": "None"}
    after["metadata"]["annotations"] = {"mine": "x", names.EXCLUSIVE_TOPOLOGY: "rack"}
    found = effects(groups.difference(standing(), after))
    assert found == {
        "replicas": "scales",
        "paused": "no pod is touched",
        "leaderWorkerTemplate.maxGroupRestarts": "no pod is touched",
        "leaderWorkerTemplate.restartPolicy": "new revision",
        "leaderWorkerTemplate.workerTemplate.spec.containers[main].image": "new revision",
        "metadata.annotations.mine": "no pod is touched",
        f"metadata.annotations.{names.EXCLUSIVE_TOPOLOGY}": "new revision",
    }


def test_scaling_says_which_groups_come_and_go() -> None:
    assert groups.difference(standing(), changed(replicas=4)).effects == (
        "groups 2, 3 would be made",
    )
    assert groups.difference(standing(), changed(replicas=1)).effects == (
        "group 1 would be deleted",
    )


def test_a_partition_and_a_pause_keep_groups_back() -> None:
    rolling = {"rollingUpdateConfiguration": {"partition": 1, "maxUnavailable": 2}}
    after = changed(NEW, rolloutStrategy=rolling, paused=True)
    assert groups.difference(standing(), after).effects == (
        (
            "group 1 would be made anew once it is resumed (paused), at most 2 unavailable, "
            "0 more than wanted"
        ),
        "group 0 would keep revision aaa (partition 1)",
    )


def test_a_template_that_is_recorded_is_gone_back_to_and_groups_that_have_it_stay() -> None:
    both = [revision(OLD, 1, "aaa"), revision(NEW, 2, "bbb")]
    under_way = standing(NEW, key="aaa", recorded=both)
    assert under_way.family.statefulset is not None
    statefulset = {
        **under_way.family.statefulset,
        "metadata": {"name": "chat", "labels": {names.REVISION_KEY: "bbb"}},
    }
    under_way = groups.Standing(
        Family(NEW, statefulset, under_way.family.pods), under_way.revisions
    )
    found = groups.difference(under_way, OLD)
    assert found.verdict == "back to recorded revision aaa (now bbb)"
    assert found.notes == ("groups 0, 1 run revision aaa already",)
    assert found.effects == ()
    same = groups.difference(under_way, NEW)
    assert same.is_none
    assert same.notes[0].startswith("an update is under way: groups 0, 1 would be made anew")
    assert groups.pending(under_way).effects == (same.notes[0].partition(": ")[2],)


def test_a_set_that_is_whole_lacks_nothing() -> None:
    assert groups.pending(standing()).is_none


def test_a_set_that_is_not_there_would_be_made() -> None:
    made = groups.created(OLD)
    assert made.verdict == "would be created, 2 groups of 3"
    assert made.effects == ("groups 0, 1 would be made",)


def test_an_owner_that_would_put_it_back_is_named() -> None:
    owned = with_image(
        "serve:1", ownerReferences=[{"kind": "DisaggregatedSet", "name": "x", "controller": True}]
    )
    found = groups.difference(standing(owned), changed(owned, replicas=3))
    assert found.notes == ("DisaggregatedSet x writes this set's spec, and would put it back",)


def test_two_recorded_revisions_are_compared_by_key_or_its_beginning() -> None:
    both = standing(NEW, recorded=[revision(OLD, 1, "aaa"), revision(NEW, 2, "bbb")])
    found = revisions.between(both, "a", None)
    assert found.verdict == "from revision aaa to bbb"
    assert list(effects(found).values()) == ["new revision"]
    assert revisions.between(both, "bbb", "bbb").is_none
    with pytest.raises(InvalidInput, match="--to-revision: no revision has key 'x'"):
        revisions.between(both, "aaa", "x")


def role(name: str, image: str, *, replicas: int = 2, **more: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": image}]
    template = {"size": 1, "workerTemplate": {"spec": {"containers": containers}}}
    return {"name": name, "spec": {"replicas": replicas, "leaderWorkerTemplate": template, **more}}


def ds(*listed: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": names.DS_API_VERSION,
        "kind": names.DS_KIND,
        "metadata": {"name": "chat", "namespace": "team", "uid": "u1", "generation": 1},
        "spec": {"roles": list(listed), **spec},
    }


BEFORE = ds(role("prefill", "serve:1", replicas=3), role("decode", "serve:1"))


def running(spec: dict[str, Any] = BEFORE, revision_: str = "0a0a0a0a") -> roles.Standing:
    """Each role's LeaderWorkerSet of one revision, as we make them."""
    sets = []
    for one in spec["spec"]["roles"]:
        name = f"chat-0-{revision_}-{one['name']}"
        owner = {"apiVersion": names.DS_API_VERSION, "kind": names.DS_KIND, "name": "chat"}
        owners = [{**owner, "uid": "u1", "controller": True}]
        metadata = {"name": name, "namespace": "team", "uid": name, "ownerReferences": owners}
        sets.append({"metadata": metadata, "spec": one["spec"]})
    return roles.standing_of(spec, sets)


def test_a_role_with_another_image_makes_all_roles_anew() -> None:
    after = ds(role("prefill", "serve:2", replicas=3), role("decode", "serve:1"))
    found = roles.difference(running(), after)
    assert found.verdict.startswith("new revision ")
    assert found.verdict.endswith(" (now 0a0a0a0a)")
    assert list(effects(found).values()) == ["new revision"]
    key = found.verdict.split()[2]
    assert found.effects == (
        f"role prefill: 3 groups of revision 0a0a0a0a would give way to 3 groups of revision {key}",
        f"role decode: 2 groups of revision 0a0a0a0a would give way to 2 groups of revision {key}",
    )
    (note,) = found.notes
    assert note.startswith("the template of decode is unchanged, and made anew all the same")


def test_what_of_a_role_rolls_nothing_is_told_apart() -> None:
    after = ds(
        role("prefill", "serve:1", replicas=4, startupPolicy="LeaderReady"),
        role("decode", "serve:1", paused=True),
        slices=2,
    )
    after["spec"]["roles"][1]["spec"]["leaderWorkerTemplate"]["restartPolicy"] = (
        "RecreateGroupOnPodRestart"
    )
    found = roles.difference(running(), after)
    assert effects(found) == {
        "roles[prefill].spec.replicas": "scales",
        "roles[prefill].spec.startupPolicy": "from the next revision on",
        "roles[decode].spec.leaderWorkerTemplate.restartPolicy": "means the same",
        "roles[decode].spec.paused": "no pod is touched",
        "slices": "scales",
    }
    assert found.verdict == "stays at revision 0a0a0a0a"
    assert found.effects == (
        "role prefill: 3 groups would become 8 groups",
        "role decode: 2 groups would become 4 groups",
    )


def test_a_role_that_comes_or_goes_is_a_new_revision() -> None:
    after = ds(role("prefill", "serve:1", replicas=3), role("encode", "serve:1", replicas=1))
    found = roles.difference(running(), after)
    assert effects(found) == {"roles[decode]": "new revision", "roles[encode]": "new revision"}
    assert "role encode: 0 groups would become 1 group" in found.effects
    assert "role decode: 2 groups would be removed" in found.effects


def test_a_disaggregatedset_at_rest_or_not_there_yet() -> None:
    assert roles.difference(running(), BEFORE).is_none
    assert roles.pending(running()).is_none
    assert roles.created(BEFORE).effects == (
        "role prefill: 3 groups would be made",
        "role decode: 2 groups would be made",
    )


def test_revisions_of_a_disaggregatedset_are_those_that_have_sets() -> None:
    newer = ds(role("prefill", "serve:2", replicas=3), role("decode", "serve:1"))
    both = roles.Standing(newer, (*running(BEFORE).sets, *running(newer, "0b0b0b0b").sets))
    found = revisions.between_roles(both, "0a", None)
    assert found.verdict == "from revision 0a0a0a0a to 0b0b0b0b"
    assert effects(found) == {
        "roles.prefill.workerTemplate.spec.containers[main].image": "new revision"
    }
    with pytest.raises(InvalidInput, match="those that have sets are: 0a0a0a0a, 0b0b0b0b"):
        revisions.between_roles(both, "0c", None)


def test_an_empty_key_is_no_revision_and_never_nothing_differs() -> None:
    """A script's variable that is not set; exit code 0 would be a lie."""
    both = standing(NEW, recorded=[revision(OLD, 1, "aaa"), revision(NEW, 2, "bbb")])
    with pytest.raises(InvalidInput, match="--from-revision: no revision has key ''"):
        revisions.between(both, "", None)
    with pytest.raises(InvalidInput, match="--to-revision: no revision has key ''"):
        revisions.between_roles(running(BEFORE), "0a", "")


def test_client_side_apply_takes_away_what_was_applied_last_and_is_said_no_more() -> None:
    last = {"spec": {"a": 1, "b": {"x": 1, "y": 2}, "c": [1]}, "gone": True}
    manifest = {"spec": {"a": 1, "b": {"x": 3}, "c": [2]}}
    assert merge_patch(last, manifest) == {
        "gone": None,
        "spec": {"a": 1, "b": {"y": None, "x": 3}, "c": [2]},
    }


def test_a_manifest_that_contradicts_the_command_line_is_refused() -> None:
    manifest = {"metadata": {"name": "a", "namespace": "one"}}
    assert place_of(manifest, "other", typed=None) == ("one", "a")
    assert place_of({"metadata": {"name": "a"}}, "other", typed=None) == ("other", "a")
    with pytest.raises(InvalidInput, match="--namespace: is two, and the manifest says one"):
        place_of(manifest, "two", typed="two")
    with pytest.raises(InvalidInput, match=r"metadata\.name"):
        place_of({}, "x", typed=None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1}, {"a": 2, "b": {"c": 1}}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1}}),
        (
            {"l": [{"name": "a", "v": 1}, {"name": "b"}]},
            {"l": [{"name": "a", "v": 2}, {"name": "b"}]},
        ),
        ({"l": [{"name": "a"}, {"name": "b"}]}, {"l": [{"name": "a"}]}),
    ],
)
def test_undoing_every_change_gives_the_old_object(old: Any, new: Any) -> None:
    before = new
    for change in changes(old, new):
        before = with_value(before, change.steps, change.old)
    assert before == old
    assert with_value({"a": 1}, ("a",), ABSENT) == {}


def test_a_difference_is_told_in_lines_and_for_programs() -> None:
    found = groups.difference(standing(), NEW)
    title, field, effect = lines_of(found, colour=False)
    assert title.startswith("LeaderWorkerSet team/chat: new revision")
    assert field.endswith("containers[main].image: serve:1 → serve:2")
    assert effect == found.effects[0]
    assert "\x1b[33m" in list(lines_of(found, colour=True))[1]
    document = found.as_document()
    assert document["different"] is True
    assert document["fields"][0]["old"] == "serve:1"
    assert counted([0, 1, 2, 5]) == "groups 0-2, 5"


def test_a_number_that_became_a_text_can_be_told_from_it() -> None:
    assert [*map(str, changes({"a": 8}, {"a": "8"}))] == ['a: 8 → "8"']
