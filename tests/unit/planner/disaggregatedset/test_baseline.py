"""What users had when an update began, where several overtake one another (decision 0005)."""

from lws.planner.actions import Delete, MergePatch
from tests.unit.planner.disaggregatedset.test_slices import old_and_new
from tests.unit.planner.disaggregatedset.worlds import Json, SliceWorld, a_role


def test_nothing_is_taken_by_the_pass_that_drops_a_revision_and_has_its_note_handed_down() -> None:
    """What a superseded update had begun with is part of what users have, written or not."""

    def three(image: str) -> list[Json]:
        return [
            a_role("prefill", 2, image=image, surge=0, unavailable=2),
            a_role("decode", 1, image=image, surge=1, unavailable=1),
            a_role("encode", 2, image=image, surge=2, unavailable=1),
        ]

    world = SliceWorld(three("a"))
    world.settle()
    serving = str(world.key)
    world.change(three("b"))
    world.run(3)  # no pod of it becomes ready
    assert old_and_new(world, serving)[1] == {"prefill": 1, "decode": 1, "encode": 2}
    world.change(three("c"))
    world.run(2)
    assert old_and_new(world, serving)[0] == {"prefill": 1, "decode": 1, "encode": 1}
    hand_down, moves = world.plan().strands
    assert [type(action) for action in hand_down] == [MergePatch] * 3 + [Delete] * 3
    assert not any(serving in action.name for action in moves)  # type: ignore[union-attr]
