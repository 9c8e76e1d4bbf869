"""A revision is told by what it means; a key only names it."""

from copy import deepcopy

import msgspec
import pytest

from lws.api import leaderworkerset, names
from lws.base.ids import RevisionKey
from lws.planner.actions import Create
from lws.planner.disaggregatedset.identity import lws_digest, read_wanted, wanted_key
from tests.unit.planner.disaggregatedset.worlds import Json, SliceWorld, a_ds, a_role, decoded

ROLES = [a_role("prefill", 2), a_role("decode", 3)]


def digests(roles: list[Json]) -> dict[str, str]:
    return dict(read_wanted(decoded(a_ds(roles))).digests)


def changed(role: Json, **template: object) -> Json:
    role = deepcopy(role)
    role["spec"]["leaderWorkerTemplate"] |= template
    return role


@pytest.mark.parametrize("index", [0, 4])
@pytest.mark.parametrize("kind", ["None", "ExclusiveSlice", "ExclusiveTopology"])
def test_what_is_built_means_what_was_asked_for(kind: str, index: int) -> None:
    leader = {"metadata": {"labels": {"app": "mine"}}, "spec": {"containers": [{"name": "l"}]}}
    roles = [changed(ROLES[0], leaderTemplate=leader), ROLES[1]]
    policy = {"type": kind, "topology": "rack"}
    world = SliceWorld(roles, slice_index=index, slices=5, placementPolicy=policy)
    creates = [a for strand in world.plan().strands for a in strand if isinstance(a, Create)]
    assert len(creates) == 2
    for create in creates:
        lws = leaderworkerset.decode(msgspec.json.encode(create.body))
        role = lws.metadata.labels[names.DS_ROLE]
        assert lws_digest(lws) == digests(roles)[role]


def test_an_update_is_a_change_of_a_template_and_nothing_else() -> None:
    (same, _) = digests(ROLES).values()
    for role in (
        a_role("prefill", 7),
        a_role("prefill", 2, surge="50%", unavailable=3),
        a_role("prefill", 2, scaling={"mode": "External"}),
        a_role("prefill", 2, metadata={"labels": {"x": "y"}}),
        changed(ROLES[0], restartPolicy="RecreateGroupOnPodRestart", leaderTemplate=None),
    ):
        assert digests([role, ROLES[1]])["prefill"] == same
    assert digests([changed(ROLES[0], size=2), ROLES[1]])["prefill"] != same
    assert digests([a_role("prefill", image="b"), ROLES[1]])["prefill"] != same


def test_a_revision_that_means_the_same_keeps_its_key_in_any_order_of_roles() -> None:
    wanted = read_wanted(decoded(a_ds(ROLES[::-1])))
    theirs = {RevisionKey("theirs"): {name: {digest} for name, digest in digests(ROLES).items()}}
    assert wanted_key(wanted, theirs) == "theirs" != wanted.computed_key


def test_of_several_that_mean_the_same_the_computed_key_is_taken() -> None:
    wanted = read_wanted(decoded(a_ds(ROLES)))
    roles = {name: {digest} for name, digest in wanted.digests.items()}
    assert wanted_key(wanted, {RevisionKey("a"): roles, wanted.computed_key: roles}) == (
        wanted.computed_key
    )
    assert wanted_key(wanted, {RevisionKey("b"): roles, RevisionKey("a"): roles}) == "a"


@pytest.mark.parametrize("what", ["less", "more", "another", "mixed"])
def test_a_revision_that_means_something_else_does_not_count(what: str) -> None:
    wanted = read_wanted(decoded(a_ds(ROLES)))
    roles = {name: {digest} for name, digest in wanted.digests.items()}
    if what == "less":
        del roles["decode"]
    elif what == "more":
        roles["encode"] = roles["decode"]
    elif what == "another":
        roles["decode"] = {"x"}
    else:
        roles["decode"] |= {"x"}
    assert wanted_key(wanted, {RevisionKey("theirs"): roles}) == wanted.computed_key
