"""The store: revisions, optimistic concurrency, history, lists of the past."""

import pytest

from lws.sandbox.store import (
    Changed,
    ChangeType,
    Compacted,
    Exists,
    FutureRevision,
    Key,
    Missing,
    Store,
)

POD = Key("/pods", "default", "a")


def _pod(name: str = "a", **labels: str) -> dict[str, object]:
    return {"metadata": {"name": name, "labels": labels}}


def test_every_write_is_one_revision_and_the_object_says_which() -> None:
    store = Store()
    made = store.create(POD, _pod())
    changed = store.update(POD, _pod(a="b"), expected=made)
    gone = store.delete(POD, expected=changed)
    revisions = [int(one["metadata"]["resourceVersion"]) for one in (made, changed, gone)]
    assert revisions == [2, 3, 4]
    assert store.revision == 4
    assert store.get(POD) is None


def test_an_object_is_replaced_only_by_who_saw_the_newest() -> None:
    store = Store()
    made = store.create(POD, _pod())
    store.update(POD, _pod(a="b"), expected=made)
    with pytest.raises(Changed):
        store.update(POD, _pod(a="c"), expected=made)
    with pytest.raises(Changed):
        store.delete(POD, expected=made)
    assert store.get(POD)["metadata"]["labels"] == {"a": "b"}  # type: ignore[index]


def test_a_name_is_taken_once_and_what_is_missing_cannot_be_changed() -> None:
    store = Store()
    made = store.create(POD, _pod())
    with pytest.raises(Exists):
        store.create(POD, _pod())
    store.delete(POD, expected=made)
    with pytest.raises(Missing):
        store.delete(POD, expected=made)
    with pytest.raises(Missing):
        store.update(POD, _pod(), expected=made)
    assert store.revision == 3, "what was refused is no revision"


def test_a_list_is_by_namespace_and_name_and_can_be_of_the_past() -> None:
    store = Store()
    for space, name in (("b", "x"), ("a", "z"), ("a", "y")):
        store.create(Key("/pods", space, name), _pod(name))
    then = store.revision
    first = store.get(Key("/pods", "a", "y"))
    assert first is not None
    store.delete(Key("/pods", "a", "y"), expected=first)
    store.create(Key("/pods", "c", "new"), _pod("new"))
    assert [place for place, _ in store.list("/pods").items] == [
        ("a", "z"),
        ("b", "x"),
        ("c", "new"),
    ]
    past = store.list("/pods", revision=then)
    assert [place for place, _ in past.items] == [("a", "y"), ("a", "z"), ("b", "x")]
    assert past.revision == then
    assert [place for place, _ in store.list("/pods", namespace="a", revision=then).items] == [
        ("a", "y"),
        ("a", "z"),
    ]


def test_pages_go_on_after_a_place_at_the_same_revision() -> None:
    store = Store()
    for number in range(5):
        store.create(Key("/pods", "a", f"p{number}"), _pod())
    then = store.revision
    store.create(Key("/pods", "a", "p3-late"), _pod())
    rest = store.list("/pods", revision=then, after=("a", "p2"))
    assert [name for (_, name), _ in rest.items] == ["p3", "p4"]


def test_a_cursor_sees_each_later_change_once_and_in_order() -> None:
    store = Store()
    made = store.create(POD, _pod())
    cursor = store.cursor("/pods", store.revision)
    assert cursor.take() == []
    changed = store.update(POD, _pod(a="b"), expected=made)
    store.create(Key("/nodes", "", "n"), _pod("n"))
    store.delete(POD, expected=changed)
    changes = cursor.take()
    assert [(one.type, one.revision) for one in changes] == [
        (ChangeType.MODIFIED, 3),
        (ChangeType.DELETED, 5),
    ]
    assert changes[0].old is made
    assert cursor.take() == []


def test_a_cursor_wakes_whoever_subscribed_until_he_leaves() -> None:
    store = Store()
    cursor = store.cursor("/pods", store.revision)
    calls: list[int] = []
    leave = cursor.subscribe(lambda: calls.append(store.revision))
    store.create(POD, _pod())
    leave()
    store.create(Key("/pods", "default", "b"), _pod("b"))
    assert calls == [2]


def test_history_is_forgotten_beyond_its_window_and_late_readers_are_told() -> None:
    store = Store(window=10)
    cursor = store.cursor("/pods", store.revision)
    for number in range(20):
        store.create(Key("/pods", "a", f"p{number}"), _pod())
    with pytest.raises(Compacted) as caught:
        cursor.take()
    assert caught.value.oldest == 11
    with pytest.raises(Compacted):
        store.cursor("/pods", 10)
    assert len(store.cursor("/pods", 11).take()) == 10
    with pytest.raises(Compacted):
        store.list("/pods", revision=5)


def test_history_can_be_forgotten_on_demand() -> None:
    store = Store()
    store.create(POD, _pod())
    then = store.revision
    store.create(Key("/pods", "default", "b"), _pod("b"))
    store.forget()
    with pytest.raises(Compacted):
        store.cursor("/pods", then)
    with pytest.raises(Compacted):
        store.cursor("/services", then)
    assert store.cursor("/pods", store.revision).take() == []


def test_a_list_of_the_future_is_refused() -> None:
    store = Store()
    with pytest.raises(FutureRevision):
        store.list("/pods", revision=store.revision + 1)
