"""A guard lets a family act exactly when the caches show all its writes, and keeps nothing else."""

import hypothesis.strategies as st
from hypothesis import given, settings

from lws.api.meta import ObjectMeta
from lws.base.ids import UID
from lws.runtime.guard import Guard
from tests.unit.runtime.fake_api import Thing
from tests.unit.runtime.test_guard import Cache

FAMILIES = st.sampled_from(["f", "g", "h"])
CACHES = st.integers(min_value=0, max_value=1)
NAMES = st.sampled_from(["a", "b"])
STEPS = st.one_of(
    st.tuples(st.just("wrote"), FAMILIES, CACHES, st.integers(1, 50)),
    st.tuples(st.just("deleted"), FAMILIES, CACHES, NAMES),
    st.tuples(st.just("see"), FAMILIES, CACHES, st.integers(1, 50)),
    st.tuples(st.just("remove"), FAMILIES, CACHES, NAMES),
    st.tuples(st.just("live"), FAMILIES, CACHES, NAMES),
    st.tuples(st.just("ask"), FAMILIES, CACHES, st.none()),
)


class World:
    """A guard, and all that it was ever told."""

    def __init__(self) -> None:
        self.guard = Guard()
        self.caches = (Cache(), Cache())
        self.writes: list[tuple[str, int, int]] = []
        self.deletions: list[tuple[str, int, str, str]] = []
        self.lives = 0
        for cache in range(2):
            for name in "ab":
                self.live(cache, name)

    def live(self, cache: int, name: str) -> None:
        self.lives += 1
        metadata = ObjectMeta(name=name, namespace="d", uid=UID(str(self.lives)))
        self.caches[cache].store.put(Thing(metadata=metadata))

    def uid(self, cache: int, name: str) -> str | None:
        thing = self.caches[cache].store.get(namespace="d", name=name)
        return thing.metadata.uid if thing else None

    def do(self, word: str, family: str, cache: int, what: object) -> None:
        if word == "wrote" and isinstance(what, int):
            self.writes.append((family, cache, what))
            self.guard.wrote(family, self.caches[cache], str(what))
        elif word == "see" and isinstance(what, int):
            self.caches[cache].last_seen = max(self.caches[cache].last_seen, what)
        elif word == "remove":
            self.caches[cache].store.remove(("d", str(what)))
        elif word == "live":
            self.live(cache, str(what))
        elif word == "deleted" and (uid := self.uid(cache, str(what))):
            self.deletions.append((family, cache, str(what), uid))
            self.guard.deleted(family, self.caches[cache], namespace="d", name=str(what), uid=uid)

    def is_current(self, family: str) -> bool:
        seen = all(
            self.caches[cache].last_seen >= version
            for name, cache, version in self.writes
            if name == family
        )
        gone = all(
            self.uid(cache, thing) != uid
            for name, cache, thing, uid in self.deletions
            if name == family
        )
        return seen and gone


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(STEPS, max_size=40))
def test_a_family_is_current_when_all_its_writes_are_seen(
    steps: list[tuple[str, str, int, object]],
) -> None:
    world = World()
    for word, family, cache, what in steps:
        world.do(word, family, cache, what)
        if word == "ask":
            assert world.guard.is_current(family) == world.is_current(family)
    for family in "fgh":
        assert world.guard.is_current(family) == world.is_current(family)
    assert len(world.guard) == sum(not world.is_current(family) for family in "fgh")
