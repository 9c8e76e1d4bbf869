"""A kill at any byte of the journal: what was acknowledged is there, what was not may be."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws.sandbox.store import Key, Store, open_journal

Objects = dict[tuple[str, str], Any]
NAMES = st.sampled_from([("a", "x"), ("a", "y"), ("", "n")])
STEPS = st.lists(
    st.tuples(NAMES, st.booleans(), st.sampled_from(["", "é", 'q"\n']), st.booleans()),
    min_size=3,
    max_size=6,
)
KEY = "/things"


@contextmanager
def no_sync() -> Iterator[None]:
    """The disk is not what is tested, and is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def values(store: Store) -> Objects:
    return {place: obj["value"] for place, obj in store.list(KEY).items}


def size_of(path: Path) -> int:
    return path.stat().st_size


async def life(path: Path, steps: list[tuple[tuple[str, str], bool, str, bool]]) -> list[Any]:
    """(size of the file, what is in the store, whether it was acknowledged) after each step."""
    store = Store(journal=open_journal(path))
    told: list[Any] = [(size_of(path), {}, store.revision)]
    for number, (place, is_deletion, text, is_acknowledged) in enumerate(steps):
        key = Key(KEY, *place)
        present = store.get(key)
        body = {"metadata": {"name": place[1]}, "value": [number, text]}
        if present is None:
            store.create(key, body)
        elif is_deletion:
            store.delete(key, expected=present)
        else:
            store.update(key, body, expected=present)
        if is_acknowledged:
            await store.durable()
            told.append((size_of(path), values(store), store.revision))
    await store.close()
    told.append((size_of(path), values(store), store.revision))
    return told


@settings(max_examples=4, deadline=None)
@given(STEPS)
def test_a_kill_at_any_byte_loses_nothing_that_was_acknowledged(
    steps: list[tuple[tuple[str, str], bool, str, bool]],
) -> None:
    with no_sync(), TemporaryDirectory() as folder:
        path, copy = Path(folder) / "data", Path(folder) / "copy"
        told = asyncio.run(life(path, steps))
        whole = path.read_bytes()
        header = whole.index(b"\n") + 1
        history = replayed(steps)
        for cut in range(header, len(whole) + 1):
            copy.write_bytes(whole[:cut])
            found, revision = opened(copy)
            size, acknowledged, seen = max(
                (one for one in told if one[0] <= cut), key=lambda one: one[0]
            )
            least = history.index(acknowledged)
            assert found in history[least:], f"cut at {cut}, {size} bytes were acknowledged"
            assert revision > seen, "a revision that was seen comes back for something else"


def opened(path: Path) -> tuple[Objects, int]:
    """What a store finds in the file, and its revision."""
    journal = open_journal(path)
    store = Store(journal=journal)
    journal.release()
    return values(store), store.revision


def replayed(steps: list[tuple[tuple[str, str], bool, str, bool]]) -> list[Objects]:
    """What the store held after each write; each state once, as values have numbers."""
    objects: Objects = {}
    states: list[Objects] = [{}]
    for number, (place, is_deletion, text, _) in enumerate(steps):
        if place in objects and is_deletion:
            objects = {key: value for key, value in objects.items() if key != place}
        else:
            objects = {**objects, place: [number, text]}
        states.append(objects)
    return states


@pytest.mark.parametrize("left", [lambda text: b"", lambda text: text[:40], lambda text: text * 2])
def test_what_a_kill_left_of_a_sweep_is_passed_over(
    tmp_path: Path, left: Callable[[bytes], bytes]
) -> None:
    """Outdated lines are swept out into a file beside it, which then takes its place."""
    path = tmp_path / "data"
    told = asyncio.run(life(path, [(("a", "x"), False, "", True)]))
    (tmp_path / "data.new").write_bytes(left(path.read_bytes()))
    assert opened(path)[0] == told[-1][1]
    assert not (tmp_path / "data.new").exists()
