"""A DisaggregatedSet taken over at each step of its update."""

import pytest

from lws.api import names
from lws.api.kinds import Kind
from lws.client import resources
from lws.planner.actions import Create, Delete, MergePatch, Write
from lws.planner.disaggregatedset import all_steps
from tests.golden.life import living
from tests.golden.role_states import INITIAL, NEW, OLD, ROLES, Counts, role_set, world_at
from tests.golden.test_taking_over_disaggregated import DisaggregatedWorld
from tests.golden.test_taking_over_live import PLACE, at_rest_from_here, keys
from tests.golden.worlds import World

Step = tuple[Counts, Counts]


def steps() -> list[Step]:
    """Where the update of two prefills and three decodes with a surge of one passes by."""
    start = [INITIAL[role] for role in ROLES]
    found = all_steps(initial_old=start, target=start, surge=[1, 1], unavailable=[0, 0])
    return [(named(old), named(new)) for old, new in found]


def named(counts: tuple[int, ...]) -> Counts:
    return dict(zip(ROLES, counts, strict=True))


STEPS = steps()
MIDST = STEPS[1:-1]
"""Before the first step the new sets are not made; after the last the old ones go."""


def said(step: Step) -> str:
    return "/".join(",".join(str(counts[role]) for role in ROLES) for counts in step)


def writes(world: World) -> list[Write]:
    return [
        action
        for strand in DisaggregatedWorld(world).slice(0).strands
        for action in strand
        if isinstance(action, Create | MergePatch | Delete)
    ]


def scaled(found: list[Write]) -> dict[str, int]:
    """Replicas that are written, by LeaderWorkerSet; nothing else may be."""
    assert all(isinstance(one, MergePatch) for one in found), found
    patches = [one for one in found if isinstance(one, MergePatch)]
    assert all(list(one.body) == ["spec"] for one in patches)
    return {one.name: one.body["spec"]["replicas"] for one in patches}


@pytest.mark.parametrize("step", MIDST, ids=said)
def test_the_next_step_is_the_one_of_the_plan(step: Step) -> None:
    old, new = step
    next_old, next_new = STEPS[STEPS.index(step) + 1]
    found = writes(world_at(old, new))
    if not any(next_old.values()):  # the last replicas go with their sets, and these with services
        assert all(isinstance(one, Delete) for one in found), found
        gone = {one.name for one in found if one.kind is Kind.LEADER_WORKER_SET}
        assert gone == {role_set(OLD, role) for role in ROLES}
        return
    expected = {
        role_set(revision, role): after[role]
        for revision, before, after in ((OLD, old, next_old), (NEW, new, next_new))
        for role in ROLES
        if before[role] != after[role]
    }
    assert scaled(found) == expected


@pytest.mark.parametrize("step", [one for one in MIDST if any(one[1].values())], ids=said)
def test_while_a_new_group_is_starting_nothing_is_written(step: Step) -> None:
    assert writes(world_at(*step, is_starting=True)) == []


@pytest.mark.parametrize("step", MIDST[::2], ids=said)
async def test_it_goes_on_to_its_end_and_no_role_falls_below_what_it_had(step: Step) -> None:
    async with living(world_at(*step)) as life:
        await life.label_nodes(PLACE)
        before, templates = life.pods(), life.templates()
        await life.start_operator()

        def look() -> None:
            for role in ROLES:
                ready = sum(keys(life, role_set(one, role)).total() for one in (OLD, NEW))
                assert INITIAL[role] <= ready, role
            for name, template in life.templates().items():
                if name in templates:
                    assert template == templates[name]

        def is_over() -> bool:
            sets = life.all(resources.LEADERWORKERSETS)
            ready = {one["metadata"]["name"]: one["status"].get("readyReplicas") for one in sets}
            return ready == {role_set(NEW, role): INITIAL[role] for role in ROLES}

        await life.until(is_over, seconds=600, look=look)
        new = {name: uid for name, uid in before.items() if NEW in name}
        assert new.items() <= life.pods().items(), "a new group is not made anew"
        revisions = [one for one in life.all(resources.CONTROLLERREVISIONS) if _is_a_sets(one)]
        assert {one["revision"] for one in revisions} == {1}
        await at_rest_from_here(life)


def _is_a_sets(revision: dict[str, dict[str, dict[str, str]]]) -> bool:
    return names.STATEFULSET_REVISION_HASH not in revision["metadata"]["labels"]
