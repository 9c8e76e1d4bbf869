"""Coordinated drain and the step over several old revisions, on worlds of any shape."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lws.planner.disaggregatedset import (
    Budgets,
    OldRevision,
    RollingStep,
    Wanted,
    coordinated_drain,
    is_rolled_out,
    merged_roles,
    rolling_step,
)

ROLES = ("decode", "prefill", "router")

Wants = dict[str, Wanted]


@st.composite
def revisions(draw: st.DrawFn) -> tuple[OldRevision, ...]:
    """Up to four old revisions, as an update finds them; not all of them have all roles."""
    count = draw(st.integers(1, 4))
    replicas = st.dictionaries(st.sampled_from(ROLES), st.integers(0, 9), min_size=1)
    return tuple(
        OldRevision(
            name=f"{number:08x}",
            created=draw(st.sampled_from([1.0, 2.0])),
            replicas=(now := draw(replicas)),
            initial_replicas=now,
        )
        for number in range(count)
    )


@st.composite
def wants(draw: st.DrawFn) -> Wants:
    """Roles of the spec; one may be added, others removed."""
    names = draw(st.lists(st.sampled_from((*ROLES, "added")), unique=True, max_size=4))
    budgets = [Budgets(s, u) for s in range(4) for u in range(4) if s or u]
    return {
        name: Wanted(draw(st.integers(0, 20)), 0, draw(st.sampled_from(budgets))) for name in names
    }


by_role = st.dictionaries(st.sampled_from(ROLES), st.integers(0, 20))


def total(role: str, old: tuple[OldRevision, ...]) -> int:
    return sum(revision.replicas.get(role, 0) for revision in old)


def after(step: RollingStep, old: tuple[OldRevision, ...]) -> tuple[OldRevision, ...]:
    """The old revisions once a step's drains are carried out."""
    counts = {(drain.revision, drain.role): drain.after for drain in step.down}
    return tuple(
        replace(
            revision,
            replicas={
                role: counts.get((revision.name, role), count)
                for role, count in revision.replicas.items()
            },
        )
        for revision in old
    )


def is_half(revision: OldRevision) -> bool:
    left = [revision.replicas[r] > 0 for r, count in revision.initial_replicas.items() if count]
    return any(left) and not all(left)


@given(revisions(), by_role, by_role)
@settings(max_examples=400)
def test_a_drain_keeps_floors_and_pairs_and_takes_no_more_than_asked(
    old: tuple[OldRevision, ...], asked: dict[str, int], floor: dict[str, int]
) -> None:
    drains = coordinated_drain(revisions=old, asked=asked, floor=floor)
    left = after(RollingStep((), drains), old)
    assert all(0 <= drain.after < drain.before for drain in drains)
    assert not any(map(is_half, left))
    emptied = {revision.name for revision in left if not any(revision.replicas.values())}
    for role in {drain.role for drain in drains}:
        assert total(role, left) >= floor.get(role, 0)
        whole = [d for d in drains if d.role == role and d.revision in emptied]
        paid = sum(d.before - d.after for d in drains if d.role == role and d not in whole)
        assert paid <= asked.get(role, 0)


@given(revisions(), by_role)
def test_without_floors_a_drain_takes_at_least_what_was_asked(
    old: tuple[OldRevision, ...], asked: dict[str, int]
) -> None:
    drains = coordinated_drain(revisions=old, asked=asked, floor={})
    left = after(RollingStep((), drains), old)
    for role, count in asked.items():
        assert total(role, left) <= max(0, total(role, old) - count)


@given(revisions(), by_role, by_role)
def test_the_order_in_which_revisions_are_given_means_nothing(
    old: tuple[OldRevision, ...], asked: dict[str, int], floor: dict[str, int]
) -> None:
    drains = coordinated_drain(revisions=old, asked=asked, floor=floor)
    assert drains == coordinated_drain(revisions=old[::-1], asked=asked, floor=floor)


@given(revisions(), wants())
@settings(max_examples=400, deadline=None)
def test_an_update_over_several_old_revisions_keeps_the_contract_and_ends(
    old: tuple[OldRevision, ...], wanted: Wants
) -> None:
    began = {role: total(role, old) for role in merged_roles(tuple(wanted), old)}
    replicas = sum(began.values()) + sum(want.target for want in wanted.values())
    for _ in range(replicas + 1):
        if is_rolled_out(wanted=wanted, revisions=old):
            break
        step = rolling_step(wanted=wanted, revisions=old)
        assert step is not None
        old, wanted = carried_out(step, old, wanted)
        for drain in step.down:
            target, new, budgets = wanted.get(drain.role, Wanted(0, 0))
            least = min(began[drain.role], target) - budgets.unavailable
            assert total(drain.role, old) + new >= least
        assert not any(map(is_half, old))
    else:
        raise AssertionError("the update does not end")
    assert all(want.new == want.target for want in wanted.values())


def carried_out(
    step: RollingStep, old: tuple[OldRevision, ...], wanted: Wants
) -> tuple[tuple[OldRevision, ...], Wants]:
    """The world after a step, whose growths are judged on the way."""
    assert bool(step.up) is not bool(step.down)
    grown = dict(wanted)
    for role, before, count in step.up:
        target, new, budgets = wanted[role]
        assert new == before < count
        assert total(role, old) + count <= target + budgets.surge
        grown[role] = Wanted(target, count, budgets)
    return after(step, old), grown
