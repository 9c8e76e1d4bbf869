"""Sums that follow events."""

from lws.base.ids import RevisionKey
from lws.planner.disaggregatedset.census import Census, Member, RoleTotals

NEW, OLD = RevisionKey("new"), RevisionKey("old")


def member(role: str, revision: RevisionKey, *, slice_index: int = 0, number: int = 1) -> Member:
    return Member(
        role=role,
        revision=revision,
        slice_index=slice_index,
        digest=f"{role}-{revision}",
        wanted=number,
        replicas=number,
        ready=number,
        updated=number,
    )


def test_a_role_is_summed_over_slices_and_revisions_and_updated_over_the_wanted_one() -> None:
    census = Census()
    for index in range(3):
        census.add(member("decode", OLD, slice_index=index, number=2))
        census.add(member("decode", NEW, slice_index=index))
        census.add(member("prefill", NEW, slice_index=index))
    assert census.role("decode", key=NEW) == RoleTotals(6, 9, 9, 9, 3)
    assert census.role("prefill", key=OLD) == RoleTotals(3, 3, 3, 3, 0)
    assert census.role("encode", key=NEW) == RoleTotals()


def test_what_is_taken_out_leaves_no_trace() -> None:
    census = Census()
    every = [
        member(role, key, slice_index=n) for role in "ab" for key in (OLD, NEW) for n in (0, 1)
    ]
    for one in every:
        census.add(one)
    assert dict(census.slices) == {0: 4, 1: 4}
    for one in every:
        census.remove(one)
    assert census.templates == {}
    assert census.slices == {}
    assert census.role("a", key=NEW) == RoleTotals()
