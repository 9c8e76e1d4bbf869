"""Updates of a slice under crashes, refusals, slow starts and users who change their minds.

Availability is counted after every single write, where a scaled-down replica is gone at once and a
new one is ready only when the world says so: never under the floor. And every history ends.
"""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws.api import names
from lws.planner.actions import Write
from tests.unit.planner.disaggregatedset.worlds import Json, SliceWorld, a_role

ROLES = ("encode", "prefill", "decode")


def roles_of(counts: dict[str, int], budgets: dict[str, tuple[int, int]], image: str) -> list[Json]:
    return [
        a_role(
            name, counts[name], image=image, surge=budgets[name][0], unavailable=budgets[name][1]
        )
        for name in counts
    ]


class History:
    """A world, and what must hold of it after every write."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        chosen = ROLES[: self.chance.choice((2, 3))]
        self.counts = {name: self.chance.randint(1, 4) for name in chosen}
        self.budgets = {
            name: self.chance.choice(((1, 0), (2, 0), (0, 1), (1, 1), (0, 2))) for name in chosen
        }
        self.image = "a"
        self.world = SliceWorld(roles_of(self.counts, self.budgets, self.image))
        self.world.settle()
        self.floors: dict[str, int] = {}
        self.note_floors()

    def note_floors(self) -> None:
        """An update begins: what users have now, less what may be unavailable, is the floor.

        So one that begins in the middle of another may go below the floor of that one, but only
        where a role may be unavailable at all.
        """
        have: dict[str, int] = dict.fromkeys(self.counts, 0)
        for item in self.world.lws.values():
            have[item["metadata"]["labels"][names.DS_ROLE]] += item["spec"]["replicas"]
        for name, count in self.counts.items():
            floor = max(0, min(have[name], count) - self.budgets[name][1])
            self.floors[name] = min(floor, self.floors.get(name, floor))

    def check(self) -> None:
        ready = self.world.ready()
        for name, floor in self.floors.items():
            assert ready[name] >= floor, (name, ready, self.floors, self.world.replicas())

    def write_some(self) -> None:
        """One pass; often it crashes after so many writes, and some fail."""
        last = self.chance.choice((1, 2, 3, 100))
        writes: Iterator[Write] = self.world.writes(self.chance)
        for number, _ in enumerate(writes, 1):
            self.check()
            if number == last:
                return

    def happen(self) -> None:
        """Something, by chance."""
        what = self.chance.random()
        names_of = sorted(self.world.lws)
        if what < 0.55:
            self.write_some()
        elif what < 0.85 and names_of:
            self.world.make_ready(self.chance.choice(names_of))
        elif what < 0.95:
            self.image = self.chance.choice("abc")
            self.note_floors()
            self.apply()
        else:
            self.apply(backwards=True)

    def apply(self, *, backwards: bool = False) -> None:
        """The user writes the spec, in another order of roles perhaps."""
        roles = roles_of(self.counts, self.budgets, self.image)
        for role in roles:
            if role["name"] in self.world.scalers:
                role["scaling"] = {"mode": "External"}
        self.world.change(roles[::-1] if backwards else roles)

    def end(self) -> None:
        """Faults stop: it settles on the last image, and nothing else is left."""
        for _ in range(300):
            self.world.make_ready()
            self.check()
            made = 0
            for _ in self.world.writes():
                self.check()
                made += 1
            if not made:
                break
        left = self.world.lws.values()
        images = {
            item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"]
            for item in left
        }
        assert images == {self.image}
        standing = {
            item["metadata"]["labels"][names.DS_ROLE]: item["spec"]["replicas"] for item in left
        }
        assert len(left) == len(standing)
        assert standing == self.counts
        assert set(self.world.services) == {names.role_service(name) for name in self.world.lws}


@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=150, deadline=None)
def test_availability_holds_and_every_history_ends(seed: int) -> None:
    history = History(seed)
    for _ in range(history.chance.randint(5, 60)):
        history.happen()
    history.end()


@pytest.mark.parametrize("last", range(1, 24))
def test_an_update_cut_after_any_number_of_writes_goes_on(last: int) -> None:
    """The first `last` writes are made, one a process; then a whole one finishes."""
    counts, budgets = {"prefill": 2, "decode": 3}, {"prefill": (1, 0), "decode": (1, 0)}
    world = SliceWorld(roles_of(counts, budgets, "a"))
    world.settle()
    world.change(roles_of(counts, budgets, "b"))
    for _ in range(last):
        next(world.writes(), None)
        assert world.ready()["prefill"] >= 2
        assert world.ready()["decode"] >= 3
        world.make_ready()
    world.settle()
    assert sorted(world.replicas().values()) == [2, 3]
    assert len(world.services) == 2


class WildHistory(History):
    """Users who scale, rename roles, turn them External, delete what is ours, edit notes."""

    def happen(self) -> None:
        acts = (self.scale, self.rename, self.turn_external, self.delete, self.scribble)
        if self.chance.random() < 0.3:
            self.chance.choice(acts)()
        else:
            super().happen()

    def check(self) -> None:
        """Where users do such things there is no floor to speak of."""

    def note_floors(self) -> None:
        """None either."""

    def scale(self) -> None:
        for name in self.counts:
            self.counts[name] = self.chance.randint(1, 5)
            if name in self.world.scalers:
                self.world.scalers[name] = self.counts[name]
        self.apply()

    def rename(self) -> None:
        chosen = self.chance.sample((*ROLES, "rank", "route"), self.chance.choice((2, 3)))
        self.counts = {name: self.chance.randint(1, 4) for name in chosen}
        self.budgets = {
            name: self.chance.choice(((1, 0), (2, 0), (0, 1), (2, 2))) for name in chosen
        }
        self.world.scalers = {}
        self.apply()

    def turn_external(self) -> None:
        name = self.chance.choice(sorted(self.counts))
        if name in self.world.scalers:
            del self.world.scalers[name]
        else:
            self.world.scalers[name] = self.counts[name]
        self.apply()

    def delete(self) -> None:
        for kind in (self.world.lws, self.world.services):
            if kind and self.chance.random() < 0.5:
                del kind[self.chance.choice(sorted(kind))]

    def scribble(self) -> None:
        for item in self.world.lws.values():
            if self.chance.random() < 0.5:
                notes = item["metadata"].setdefault("annotations", {})
                notes[names.DS_INITIAL_REPLICAS] = self.chance.choice(("0", "7", "x", "-1", ""))
            elif self.chance.random() < 0.3:
                item["spec"]["replicas"] = self.chance.randint(0, 5)


@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=150, deadline=None)
def test_whatever_users_do_it_ends_in_what_they_asked_for_last(seed: int) -> None:
    history = WildHistory(seed)
    for _ in range(history.chance.randint(5, 60)):
        history.happen()
    history.apply()
    history.end()
