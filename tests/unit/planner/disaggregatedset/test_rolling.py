"""A rolling step: what grows, what drains, and when an update is over."""

from lws.planner.disaggregatedset import (
    Budgets,
    Drain,
    Growth,
    OldRevision,
    RollingStep,
    Wanted,
    is_rolled_out,
    next_step,
    rolling_step,
)


def revision(name: str, created: float, **replicas: int) -> OldRevision:
    return OldRevision(name=name, created=created, replicas=replicas, initial_replicas=replicas)


def test_new_replicas_come_before_old_ones_go() -> None:
    step = rolling_step(
        wanted={"p": Wanted(target=2, new=0), "d": Wanted(target=2, new=0)},
        revisions=[revision("a", 1, p=2, d=2)],
    )
    assert step == RollingStep(up=(Growth("p", 0, 1), Growth("d", 0, 1)), down=())


def test_old_replicas_go_from_the_newest_revision() -> None:
    step = rolling_step(
        wanted={"p": Wanted(target=4, new=1), "d": Wanted(target=4, new=1)},
        revisions=[revision("a", 1, p=2, d=2), revision("b", 2, p=2, d=2)],
    )
    assert step == RollingStep(up=(), down=(Drain("b", "p", 2, 1), Drain("b", "d", 2, 1)))


def test_a_removed_role_goes_with_the_others() -> None:
    step = rolling_step(
        wanted={"p": Wanted(target=1, new=1)}, revisions=[revision("a", 1, p=1, gone=2)]
    )
    assert step == RollingStep(up=(), down=(Drain("a", "p", 1, 0), Drain("a", "gone", 2, 0)))


def test_an_old_replica_that_waits_for_its_partner_stops_nobody() -> None:
    """Two revisions, each with one pair left: no last one of `d` may go alone, as both roles of
    `b` would go with it and `p` is at its floor. The step after that one can be carried out."""
    wanted = {
        "p": Wanted(target=2, new=0, budgets=Budgets(surge=1, unavailable=0)),
        "d": Wanted(target=1, new=0, budgets=Budgets(surge=0, unavailable=1)),
    }
    revisions = [revision("a", 1, p=1, d=1), revision("b", 2, p=1, d=1)]
    alone = next_step(
        initial_old=(2, 2), old=(2, 2), new=(0, 0), target=(2, 1), surge=(1, 0), unavailable=(0, 1)
    )
    assert alone == ((2, 1), (0, 0))
    step = rolling_step(wanted=wanted, revisions=revisions)
    assert step == RollingStep(up=(Growth("p", 0, 1),), down=())


def test_a_role_that_began_with_none_is_rolled_out_when_the_others_are() -> None:
    wanted = {"p": Wanted(target=1, new=1), "added": Wanted(target=1, new=0)}
    revisions = [OldRevision(name="a", created=1, replicas={"p": 0})]
    assert not is_rolled_out(wanted=wanted, revisions=revisions)
    step = rolling_step(wanted=wanted, revisions=revisions)
    assert step == RollingStep(up=(Growth("added", 0, 1),), down=())
    wanted["added"] = Wanted(target=1, new=1)
    assert is_rolled_out(wanted=wanted, revisions=revisions)
    assert rolling_step(wanted=wanted, revisions=revisions) is None


def test_without_an_annotation_an_update_began_with_what_there_is_now() -> None:
    step = rolling_step(
        wanted={"p": Wanted(target=2, new=2)},
        revisions=[OldRevision(name="a", created=1, replicas={"p": 3})],
    )
    assert step == RollingStep(up=(), down=(Drain("a", "p", 3, 0),))
