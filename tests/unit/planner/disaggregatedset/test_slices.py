"""One pass over one slice: the rules of section 2, 4 and 5, each by example."""

from typing import Any

import pytest

from lws.api import names
from lws.api.kinds import Kind
from lws.planner.actions import Create, Delete, MergePatch
from lws.planner.disaggregatedset.slices import SlicePlan
from tests.unit.planner.disaggregatedset.worlds import Json, SliceWorld, a_role


def two(image: str = "a", prefill: int = 2, decode: int = 3, **more: Any) -> list[Json]:
    return [
        a_role("prefill", prefill, image=image, **more),
        a_role("decode", decode, image=image, **more),
    ]


def settled(**spec: Any) -> SliceWorld:
    world = SliceWorld(two(), **spec)
    world.settle()
    return world


def actions(world: SliceWorld) -> list[Any]:
    return [action for strand in world.plan().strands for action in strand]


def reasons(world: SliceWorld) -> list[str]:
    return [event.reason for event in world.events]


def old_and_new(world: SliceWorld, old: str) -> tuple[dict[str, int], dict[str, int]]:
    """Replicas by role, of revision `old` and of the others."""
    sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for item in world.lws.values():
        labels = item["metadata"]["labels"]
        sides[labels[names.DS_REVISION] != old][labels[names.DS_ROLE]] = item["spec"]["replicas"]
    return sides


def test_a_slice_at_rest_is_left_alone() -> None:
    assert settled().plan() == SlicePlan()


def test_a_set_that_is_being_deleted_is_left_alone() -> None:
    world = SliceWorld(two())
    world.ds["metadata"]["deletionTimestamp"] = "2026-08-01T10:00:00Z"
    world.change()
    assert world.plan() == SlicePlan()


def test_a_slice_that_is_not_wanted_goes_with_its_services() -> None:
    world = SliceWorld(two(), slice_index=1, slices=2)
    world.settle()
    assert len(world.services) == 2
    world.change(slices=1)
    assert {type(action) for action in actions(world)} == {Delete}
    world.run()
    assert (world.lws, world.services) == ({}, {})
    assert world.plan() == SlicePlan()


# The simple path


def test_roles_go_straight_to_their_targets() -> None:
    world = settled()
    world.change(two(prefill=5, decode=1))
    up, down = actions(world)
    assert (up.body, up.resource_version) == ({"spec": {"replicas": 5}}, None)
    assert down.body == {"spec": {"replicas": 1}}
    assert down.resource_version is not None
    assert up.event.note.startswith("Scaling up prefill LWS pd-0-")
    assert up.event.note.endswith("from 2 to 5 replicas")
    assert down.event.reason == "ScalingDown"


def test_a_refused_create_of_one_role_does_not_keep_the_other_waiting() -> None:
    assert [len(strand) for strand in SliceWorld(two()).plan().strands] == [1, 1]


def test_an_external_role_waits_for_its_scaler_and_then_follows_it() -> None:
    external: Any = {"scaling": {"mode": "External"}}
    world = SliceWorld([a_role("prefill"), a_role("decode", None, **external)])
    assert [action.name.rpartition("-")[2] for action in actions(world)] == ["prefill"]
    world.scalers["decode"] = 4
    world.run()
    assert sorted(world.replicas().values()) == [1, 4]
    world.scalers["decode"] = 0
    world.run()
    assert sorted(world.replicas().values()) == [0, 1]


def test_an_external_role_whose_scaler_is_a_strangers_keeps_what_it_has() -> None:
    world = settled()
    world.change([two()[0], a_role("decode", 7, scaling={"mode": "External"})])
    assert actions(world) == []
    world.conflicts = frozenset({"decode"})
    assert actions(world) == []


@pytest.mark.parametrize("kind", [Kind.LEADER_WORKER_SET, Kind.SERVICE])
def test_what_is_foreign_in_our_place_is_not_tried(kind: Kind) -> None:
    world = SliceWorld(two())
    if kind is Kind.SERVICE:
        world.run()
        world.make_ready()
    names_of = [action.name for action in actions(world)]
    assert len(names_of) == 2
    world.foreign = frozenset({(kind, names_of[0])})
    assert [action.name for action in actions(world)] == names_of[1:]


def test_one_that_is_being_deleted_is_made_anew_when_it_is_gone() -> None:
    world = settled()
    name = next(iter(world.lws))
    world.lws[name]["metadata"]["deletionTimestamp"] = "2026-08-01T10:00:00Z"
    assert actions(world) == []
    del world.lws[name]
    (create,) = actions(world)
    assert create.name == name
    assert create.body["spec"]["replicas"] in (2, 3)


# Start


def test_a_start_notes_what_there_is_and_makes_all_roles_with_nothing() -> None:
    world = settled()
    world.change(two("b"))
    notes, creates = actions(world)[:2], actions(world)[2:]
    assert [note.body["metadata"]["annotations"] for note in notes] == [
        {names.DS_INITIAL_REPLICAS: "2"},
        {names.DS_INITIAL_REPLICAS: "3"},
    ]
    assert [create.body["spec"]["replicas"] for create in creates] == [0, 0]
    assert [create.event.reason if create.event else None for create in creates] == [
        "RollingUpdateStarted",
        None,
    ]
    assert len(world.plan().strands) == 1  # if a note cannot be written, nothing moves


def test_a_start_overwrites_the_note_of_an_update_that_was_cut_short() -> None:
    world = settled()
    for item in world.lws.values():
        item["metadata"]["annotations"] = {names.DS_INITIAL_REPLICAS: "9"}
    world.change(two("b"))
    world.run()
    noted = {
        item["metadata"]["annotations"][names.DS_INITIAL_REPLICAS]
        for item in world.lws.values()
        if "annotations" in item["metadata"]
    }
    assert noted == {"2", "3"}


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_start_that_was_cut_goes_on(cut: int) -> None:
    world = settled()
    (old,) = {key.split("-")[2] for key in world.lws}
    world.change(two("b"))
    writes = world.writes()
    for _ in range(cut):
        next(writes)
    world.run()
    assert old_and_new(world, old) == (
        {"prefill": 2, "decode": 3},
        {"prefill": 0, "decode": 0},
    )
    assert reasons(world).count("RollingUpdateStarted") == 1


def test_a_start_waits_for_the_scaler_of_a_role_that_has_nothing_yet() -> None:
    world = settled()
    world.change([*two("b"), a_role("encode", None, scaling={"mode": "External"})])
    planned = world.plan()
    assert planned.strands == ()
    assert planned.waiting is not None
    assert planned.waiting.text == "the scaler of role encode"
    world.scalers["encode"] = 1
    assert len(actions(world)) == 5


# Step


def updating() -> tuple[SliceWorld, str]:
    """An update that has started, and the key that it leaves."""
    world = settled()
    old = str(world.key)
    world.change(two("b"))
    world.run()
    return world, old


def test_only_what_moves_replicas_of_an_update_is_a_step() -> None:
    world = settled()
    assert not world.plan().steps, "at rest"
    world.change(two("b"))
    assert world.plan().strands, "a start"
    assert not world.plan().steps
    world.run()
    assert world.plan().steps
    scaled = settled()
    scaled.change([a_role("prefill", 7), a_role("decode", 7)])
    assert scaled.plan().strands, "a user scales"
    assert not scaled.plan().steps


def test_a_step_goes_up_then_waits_then_goes_down() -> None:
    world, old = updating()
    world.run()
    assert old_and_new(world, old)[1] == {"prefill": 1, "decode": 1}
    planned = world.plan()
    assert planned.strands == ()
    assert planned.waiting is not None
    assert planned.waiting.text == f"role prefill of revision {world.key}: 0 of 1 replicas ready"
    assert planned.waiting.since is not None
    world.make_ready()
    world.run()
    assert old_and_new(world, old)[0] == {"prefill": 2, "decode": 2}
    assert reasons(world)[-1] == "ScalingDown"


def test_an_update_ends_with_the_old_revision_gone_and_says_so() -> None:
    world, old = updating()
    world.settle()
    assert old_and_new(world, old) == ({}, {"prefill": 2, "decode": 3})
    assert reasons(world)[-1] == "RollingUpdateCompleted"
    assert reasons(world).count("RollingUpdateCompleted") == 1


def at_the_last_step() -> tuple[SliceWorld, str]:
    """All that is new is ready; old ones still have replicas."""
    world, old = updating()
    while sorted(old_and_new(world, old)[1].values()) != [2, 3]:
        world.make_ready()
        world.run()
    world.make_ready()
    assert any(old_and_new(world, old)[0].values())
    return world, old


def test_the_last_step_drops_what_is_old_with_its_replicas_in_one_write_each() -> None:
    world, old = at_the_last_step()
    left = [name for name in world.lws if old in name]
    assert [(type(one), one.name) for one in actions(world)[:2]] == [(Delete, one) for one in left]
    counts = [world.replicas()[name] for name in left]
    world.run()
    assert old_and_new(world, old) == ({}, {"prefill": 2, "decode": 3})
    told = [event.note for event in world.events[-3:]]
    for note, name, count in zip(told, left, counts, strict=False):
        assert note.endswith(f"LWS {name} from {count} to 0 replicas")
    assert reasons(world)[-1] == "RollingUpdateCompleted"


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_last_step_that_was_cut_goes_on(cut: int) -> None:
    world, old = at_the_last_step()
    writes = world.writes()
    for _ in range(cut):
        next(writes)
    world.settle()
    assert old_and_new(world, old) == ({}, {"prefill": 2, "decode": 3})
    assert len(world.services) == 2
    assert world.plan() == SlicePlan()


def test_a_new_one_deleted_in_mid_update_is_made_again_with_nothing() -> None:
    world, old = updating()
    world.run()
    world.make_ready()
    del world.lws[f"pd-0-{world.key}-decode"]
    (create,) = actions(world)
    assert isinstance(create, Create)
    assert create.body["spec"]["replicas"] == 0
    assert create.event is None
    world.settle()
    assert old_and_new(world, old)[1] == {"prefill": 2, "decode": 3}


def test_a_role_that_the_spec_no_longer_names_drains_with_the_others() -> None:
    world = SliceWorld([*two(), a_role("encode", 2)])
    world.settle()
    world.change(two())
    assert len(world.lws) == 3
    world.settle()
    assert {item["metadata"]["labels"][names.DS_ROLE] for item in world.lws.values()} == {
        "prefill",
        "decode",
    }


def test_an_external_target_does_not_fall_below_what_is_new_while_old_ones_drain() -> None:
    external: Any = {"scaling": {"mode": "External"}}
    world = SliceWorld([a_role("prefill", 1), a_role("decode", None, **external)])
    world.scalers["decode"] = 3
    world.settle()
    world.change([a_role("prefill", 1, image="b"), a_role("decode", None, image="b", **external)])
    while world.replicas().get(f"pd-0-{world.key}-decode", 0) < 2:
        world.run()
        world.make_ready()
    world.scalers["decode"] = 1
    least = 2
    while len(world.lws) > 2:
        present = world.replicas()[f"pd-0-{world.key}-decode"]
        assert present >= least
        least = present
        world.run()
        world.make_ready()
    world.settle()
    assert world.replicas()[f"pd-0-{world.key}-decode"] == 1


def test_a_conflict_in_mid_update_keeps_the_number_that_there_was() -> None:
    world = SliceWorld([a_role("prefill", 1), a_role("decode", 3)])
    world.settle()
    external: Any = {"scaling": {"mode": "External"}}
    world.conflicts = frozenset({"decode"})
    world.change([a_role("prefill", 1, image="b"), a_role("decode", None, image="b", **external)])
    world.settle()
    assert sorted(world.replicas().values()) == [1, 3]


def test_going_back_counts_all_that_serves_as_what_users_have() -> None:
    world, old = updating()
    for _ in range(4):
        world.make_ready()
        world.run()
    behind, ahead = old_and_new(world, old)
    assert 0 < behind["decode"] < 3
    world.change(two("a"))
    notes = [action for action in actions(world) if isinstance(action, MergePatch)]
    said = {
        note.name.split("-", 2)[2]: note.body["metadata"]["annotations"][names.DS_INITIAL_REPLICAS]
        for note in notes
    }
    left = next(key.split("-")[2] for key in world.lws if old not in key)
    assert said == {
        f"{left}-prefill": str(behind["prefill"] + ahead["prefill"]),
        f"{left}-decode": str(behind["decode"] + ahead["decode"]),
        f"{old}-prefill": None,
        f"{old}-decode": None,
    }
    assert [note.name for note in notes[-2:]] == [f"pd-0-{old}-prefill", f"pd-0-{old}-decode"]


def test_a_drained_revision_hands_its_note_down_before_it_is_dropped() -> None:
    world, first = updating()
    world.run()
    world.make_ready()
    second = str(world.key)
    world.change(two("c"))
    world.run()
    while any(world.replicas()[f"pd-0-{second}-{role}"] for role in ("prefill", "decode")):
        world.make_ready()
        world.run()
    strand = world.plan().strands[0]
    assert [type(action) for action in strand[:3]] == [MergePatch, MergePatch, Delete]
    for patch, count in zip(strand[:2], (2, 3), strict=True):
        assert first in patch.name  # type: ignore[union-attr]
        assert patch.body == {  # type: ignore[union-attr]
            "metadata": {"annotations": {names.DS_INITIAL_REPLICAS: str(count + 1)}}
        }


# Services


def test_services_come_when_every_role_has_one_ready() -> None:
    world = SliceWorld(two())
    world.run()
    (prefill, decode) = sorted(world.lws, reverse=True)
    world.set_ready(prefill, 1)
    assert actions(world) == []
    world.set_ready(decode, 1)
    creates = actions(world)
    assert {create.name for create in creates} == {f"{prefill}-prv", f"{decode}-prv"}
    labels = {
        names.DS_NAME: "pd",
        names.DS_ROLE: "prefill",
        names.DS_REVISION: world.key,
        names.DS_SLICE: "0",
    }
    body = next(create.body for create in creates if create.name == f"{prefill}-prv")
    assert body["metadata"]["labels"] == labels
    assert body["spec"] == {"clusterIP": "None", "selector": labels}


def test_a_readiness_blip_takes_no_service_away() -> None:
    world = settled()
    for name in world.lws:
        world.set_ready(name, 0)
    assert actions(world) == []


def test_services_of_a_revision_go_with_its_last_leaderworkerset() -> None:
    world, old = updating()
    while any(old in name for name in world.lws):
        assert sum(old in name for name in world.services) == 2
        world.make_ready()
        world.run()
    assert not any(old in name for name in world.services)


def test_a_service_that_is_left_over_is_removed() -> None:
    world = settled()
    name = next(iter(world.services))
    orphan = {
        **world.services[name],
        "metadata": {
            **world.services[name]["metadata"],
            "name": "pd-0-0badcafe-decode-prv",
            "labels": {names.DS_REVISION: "0badcafe", names.DS_SLICE: "0"},
        },
    }
    world.services["pd-0-0badcafe-decode-prv"] = orphan
    (delete,) = actions(world)
    assert (type(delete), delete.name) == (Delete, "pd-0-0badcafe-decode-prv")


# Before slices


def without_slices(world: SliceWorld) -> None:
    """As a release from before slices left it."""
    for kind in (world.lws, world.services):
        for name, item in list(kind.items()):
            del kind[name]
            name = name.replace("pd-0-", "pd-")
            item["metadata"]["name"] = name
            del item["metadata"]["labels"][names.DS_SLICE]
            kind[name] = item


def test_objects_from_before_slices_serve_as_they_are() -> None:
    world = settled()
    without_slices(world)
    assert actions(world) == []


def test_with_several_slices_they_are_made_anew_their_service_first() -> None:
    world = settled()
    without_slices(world)
    world.change(slices=2)
    strands = world.plan().strands
    assert [[type(action) for action in strand] for strand in strands[:2]] == [[Delete, Delete]] * 2
    assert [strand[0].kind for strand in strands[:2]] == [Kind.SERVICE] * 2  # type: ignore[union-attr]
    world.settle()
    assert sorted(world.lws) == [f"pd-0-{world.key}-{role}" for role in ("decode", "prefill")]


def test_an_old_revision_from_before_slices_drains_as_any_other() -> None:
    world = settled()
    without_slices(world)
    world.change(two("b"), slices=2)
    world.settle()
    assert sorted(world.lws) == [f"pd-0-{world.key}-{role}" for role in ("decode", "prefill")]
    assert sorted(world.services) == [f"{name}-prv" for name in sorted(world.lws)]


def test_a_service_from_before_slices_goes_once_its_leaderworkerset_is_gone() -> None:
    world = settled()
    without_slices(world)
    gone = next(name for name in world.lws if name.endswith("-decode"))
    del world.lws[gone]  # by hand
    world.settle()
    assert f"{gone}-prv" not in world.services
    assert sorted(world.services) == [f"{name}-prv" for name in sorted(world.lws)]


def test_a_service_of_a_role_that_is_wanted_no_more_goes_though_its_revision_stays() -> None:
    """The role's own is deleted by hand first, so that what is left means what is wanted."""
    world = SliceWorld([*two(), a_role("encode")])
    world.settle()
    key = world.key
    del world.lws[f"pd-0-{key}-encode"]
    world.change(two())
    world.settle()
    assert world.key == key
    assert sorted(world.services) == [f"{name}-prv" for name in sorted(world.lws)]


def test_a_note_of_our_own_in_a_roles_metadata_is_not_carried_and_delays_no_update() -> None:
    noted: Any = {"metadata": {"annotations": {names.DS_INITIAL_REPLICAS: "7", "team": "x"}}}
    world = SliceWorld([a_role("prefill", 2, **noted), a_role("decode", 3)])
    world.settle()
    world.change([a_role("prefill", 2, image="b", **noted), a_role("decode", 3, image="b")])
    world.settle()
    assert sorted(world.replicas().values()) == [2, 3]
    (held,) = [item for name, item in world.lws.items() if name.endswith("-prefill")]
    assert held["metadata"]["annotations"] == {"team": "x"}
