"""Objects are found by name and by index, before and after they change."""

import pytest

from lws.api.meta import ObjectMeta
from lws.base.ids import UID, ResourceVersion
from lws.runtime.store import Store
from tests.unit.runtime.fake_api import Thing


def thing(name: str, value: int = 0) -> Thing:
    metadata = ObjectMeta(
        name=name, namespace="default", uid=UID(name), resource_version=ResourceVersion("1")
    )
    return Thing(metadata=metadata, value=value)


def test_an_object_is_found_by_its_name_in_its_namespace_only() -> None:
    store: Store[Thing] = Store()
    store.put(thing("a"))
    assert store.get(namespace="default", name="a") == thing("a")
    assert store.get(namespace="other", name="a") is None
    assert len(store) == 1
    assert list(store.names()) == [("default", "a")]


def test_an_index_follows_the_object_when_its_value_changes() -> None:
    store: Store[Thing] = Store()
    store.add_index("value", lambda item: [item.value])
    store.put(thing("a", 1))
    store.put(thing("b", 1))
    store.put(thing("a", 2))
    assert store.by_index("value", 1) == (thing("b", 1),)
    assert store.by_index("value", 2) == (thing("a", 2),)
    store.remove(("default", "a"))
    assert store.by_index("value", 2) == ()


def test_an_index_that_is_added_late_knows_what_was_there() -> None:
    store: Store[Thing] = Store()
    store.put(thing("a", 1))
    store.add_index("value", lambda item: [item.value, "all"])
    assert list(store.by_index("value", "all")) == [thing("a", 1)]


def test_hits_may_be_walked_while_the_store_changes() -> None:
    store: Store[Thing] = Store()
    store.add_index("value", lambda item: [item.value])
    for name in "abc":
        store.put(thing(name))
    for hit in store.by_index("value", 0):
        store.remove(("default", hit.metadata.name))
    assert len(store) == 0


def test_an_object_that_cannot_be_indexed_changes_nothing() -> None:
    store: Store[Thing] = Store()
    store.add_index("value", lambda item: [item.value])
    store.add_index("inverse", lambda item: [1 / item.value])
    store.put(thing("a", 1))
    with pytest.raises(ZeroDivisionError):
        store.put(thing("a", 0))
    assert store.by_index("value", 1) == (thing("a", 1),)
    assert store.by_index("value", 0) == ()


def test_an_index_keeps_nothing_of_values_that_are_gone() -> None:
    store: Store[Thing] = Store()
    store.add_index("value", lambda item: [item.value])
    for value in range(100):
        store.put(thing("a", value))
    assert len(store._indexes["value"]) == 1
