"""A family is current once the caches show what we did to it, and not before."""

from lws.api.meta import ObjectMeta
from lws.base.ids import UID
from lws.runtime.guard import SWEEP_FAMILIES_MIN, Guard
from lws.runtime.store import Store
from tests.unit.runtime.fake_api import Thing


class Cache:
    """An informer as far as a guard looks."""

    def __init__(self) -> None:
        self.last_seen = 0
        self.store: Store[Thing] = Store()
        self.words: set[str] = set()

    def has_seen(self, resource_version: str) -> bool:
        if resource_version.isdecimal():
            return self.last_seen >= int(resource_version)
        return resource_version in self.words


def thing(uid: str, deletion_timestamp: str | None = None) -> Thing:
    metadata = ObjectMeta(
        name="a", namespace="default", uid=UID(uid), deletion_timestamp=deletion_timestamp
    )
    return Thing(metadata=metadata)


def test_a_family_waits_for_the_last_of_its_writes() -> None:
    guard, cache = Guard(), Cache()
    guard.wrote("family", cache, "12")
    guard.wrote("family", cache, "10")
    cache.last_seen = 11
    assert not guard.is_current("family")
    assert guard.is_current("another")
    cache.last_seen = 12
    assert guard.is_current("family")
    assert len(guard) == 0


def test_a_family_waits_for_every_cache_that_it_wrote_to() -> None:
    guard, pods, services = Guard(), Cache(), Cache()
    guard.wrote("family", pods, "5")
    guard.wrote("family", services, "6")
    pods.last_seen = 100
    assert not guard.is_current("family")
    services.last_seen = 6
    assert guard.is_current("family")


def test_a_write_whose_event_came_first_is_not_waited_for() -> None:
    guard, cache = Guard(), Cache()
    cache.last_seen = 20
    guard.wrote("family", cache, "20")
    guard.wrote("family", cache, "")
    assert len(guard) == 0


def test_versions_compare_as_numbers_not_as_text() -> None:
    guard, cache = Guard(), Cache()
    cache.last_seen = 9
    guard.wrote("family", cache, "10")
    assert not guard.is_current("family")


def test_a_version_that_is_no_number_is_recognised_by_the_informer() -> None:
    guard, cache = Guard(), Cache()
    guard.wrote("family", cache, "a7")
    assert not guard.is_current("family")
    cache.words.add("a7")
    assert guard.is_current("family")


def test_a_deletion_is_seen_when_the_object_is_gone_ending_or_another() -> None:
    for after in (None, thing("one", "2026-01-01T00:00:00Z"), thing("two")):
        guard, cache = Guard(), Cache()
        cache.store.put(thing("one"))
        guard.deleted("family", cache, namespace="default", name="a", uid="one")
        assert not guard.is_current("family")
        if after is None:
            cache.store.remove(("default", "a"))
        else:
            cache.store.put(after)
        assert guard.is_current("family")
        assert len(guard) == 0


def test_a_deletion_that_the_cache_shows_already_is_not_waited_for() -> None:
    guard, cache = Guard(), Cache()
    guard.deleted("family", cache, namespace="default", name="a", uid="one")
    assert len(guard) == 0


def test_families_that_nobody_asks_about_again_are_forgotten() -> None:
    guard, cache = Guard(), Cache()
    for number in range(1, 10 * SWEEP_FAMILIES_MIN):
        guard.wrote(f"family {number}", cache, str(number))
        cache.last_seen = number
    assert len(guard) <= 2 * SWEEP_FAMILIES_MIN
