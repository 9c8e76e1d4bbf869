"""The planner's contract on large updates, and where replicas and targets change in mid-update."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lws.planner.disaggregatedset import all_steps, is_done, next_step
from tests.property.disaggregatedset.contract import (
    Counts,
    Update,
    length_bound,
    step_faults,
    verdict,
)

MOST = 10_000
LONGEST = 60
"""Steps of the ideal path: a budget is drawn so that no update takes thousands of steps."""

counts = st.one_of(st.integers(0, 6), st.integers(0, 60), st.integers(0, MOST))


@st.composite
def updates(draw: st.DrawFn, *, roles: int | None = None) -> Update:
    """An update of 1 to 10 roles, whatever its sizes and budgets."""
    roles = roles or draw(st.integers(1, 10))
    return Update(*zip(*[draw(one_role()) for _ in range(roles)], strict=True))


@st.composite
def one_role(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """(initial old, target, surge, unavailable); not both of the budgets are 0."""
    old, target = draw(counts), draw(counts)
    least = max(1, -(-max(old, target) // LONGEST))
    positive = st.integers(least, least + 3)
    surge = draw(st.one_of(st.just(0), positive))
    return old, target, surge, draw(positive if surge == 0 else st.integers(0, least + 3))


def positions(roles: int) -> st.SearchStrategy[tuple[Counts, Counts]]:
    """Any (old, new), reachable or not."""
    one_side = st.tuples(*[counts] * roles)
    return st.tuples(one_side, one_side)


@given(updates())
@settings(max_examples=200, deadline=None)
def test_an_update_from_its_start_keeps_the_contract(update: Update) -> None:
    assert verdict(update, next_step).faults == frozenset()


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_an_update_from_anywhere_keeps_the_contract(data: st.DataObject) -> None:
    update = data.draw(updates())
    old, new = data.draw(positions(len(update.target)))
    assert verdict(update, next_step, old=old, new=new).faults == frozenset()


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_target_that_changes_in_mid_update_breaks_nothing(data: st.DataObject) -> None:
    update = data.draw(updates())
    roles = len(update.target)
    at = update.initial_old, (0,) * roles
    for target in data.draw(st.lists(st.tuples(*[counts] * roles), min_size=1, max_size=4)):
        for _ in range(data.draw(st.integers(0, 12))):
            after = next_step(old=at[0], new=at[1], **update._asdict())
            if after is None:
                break
            assert not list(step_faults(update, at, after))
            at = after
        update = with_target(update, target)
    assert verdict(update, next_step, old=at[0], new=at[1]).faults == frozenset()


def with_target(update: Update, target: Counts) -> Update:
    """The update with another target, and what may be missing widened to suit its size."""
    least = [-(-count // LONGEST) for count in target]
    surge = tuple(s and max(s, n) for s, n in zip(update.surge, least, strict=True))
    unavailable = tuple(map(max, update.unavailable, least))
    return update._replace(target=target, surge=surge, unavailable=unavailable)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_the_order_of_roles_means_nothing(data: st.DataObject) -> None:
    update = data.draw(updates())
    order = data.draw(st.permutations(range(len(update.target))))
    old, new = data.draw(positions(len(order)))

    def shuffled(side: Counts) -> Counts:
        return tuple(side[i] for i in order)

    step = next_step(old=old, new=new, **update._asdict())
    other = next_step(
        old=shuffled(old),
        new=shuffled(new),
        **Update(*map(shuffled, update))._asdict(),
    )
    assert other == (step and (shuffled(step[0]), shuffled(step[1])))


@given(updates(), st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_an_update_goes_on_where_it_stopped(update: Update, stop: int) -> None:
    whole = all_steps(**update._asdict())
    assert len(whole) - 1 <= length_bound(update)
    old, new = whole[min(stop, len(whole) - 1)]
    assert all_steps(old=old, new=new, **update._asdict()) == whole[stop:] or stop >= len(whole)
    assert is_done(old=whole[-1][0], new=whole[-1][1], target=update.target)
