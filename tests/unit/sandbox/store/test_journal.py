"""The journal: what was acknowledged is there after a kill."""

import asyncio
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from lws.base.errors import InvalidInput
from lws.sandbox.store import Key, Store, open_journal
from lws.sandbox.store import journal as journal_module

POD = Key("/pods", "default", "a")


def _open(path: Path) -> Store:
    return Store(journal=open_journal(path))


def _abandon(store: Store) -> None:
    """As a kill would: nothing more is written, the lock goes."""
    journal = store._journal
    assert journal is not None
    file: BinaryIO = journal._file
    file.raw.close()  # type: ignore[attr-defined]


def _pod(**labels: str) -> dict[str, object]:
    return {"metadata": {"name": "a", "labels": labels}}


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "data"
    store = _open(path)
    made = store.create(POD, _pod())
    changed = store.update(POD, _pod(a="b"), expected=made)
    gone = store.create(Key("/pods", "default", "gone"), _pod())
    store.delete(Key("/pods", "default", "gone"), expected=gone)
    await store.durable()
    before = store.revision
    _abandon(store)
    again = _open(path)
    assert again.get(POD) == changed
    assert again.count("/pods") == 1
    assert again.revision > before, "a revision that somebody saw does not come back"
    await again.close()


async def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "data"
    store = _open(path)
    store.create(POD, _pod())
    await store.durable()
    _abandon(store)
    with path.open("ab") as file:
        file.write(b'0badc0de {"revision":99,"key":["/po')
    again = _open(path)
    assert again.count("/pods") == 1
    again.create(Key("/pods", "default", "b"), _pod())
    await again.close()
    last = _open(path)
    assert last.count("/pods") == 2
    await last.close()


async def test_damage_in_the_middle_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "data"
    store = _open(path)
    for name in "abc":
        store.create(Key("/pods", "default", name), _pod())
    await store.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"x" + lines[2], *lines[3:]]))
    with pytest.raises(InvalidInput, match="damaged in line 3"):
        _open(path)


async def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("do not lose me\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="name another"):
        _open(path)
    assert path.read_text(encoding="utf-8") == "do not lose me\n"


async def test_two_at_once_are_refused(tmp_path: Path) -> None:
    store = _open(tmp_path / "data")
    with pytest.raises(InvalidInput, match="in use by another process"):
        _open(tmp_path / "data")
    await store.close()


async def test_many_writers_share_a_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = _open(tmp_path / "data")
    syncs: list[int] = []
    real = os.fsync

    def counted(descriptor: int) -> None:
        syncs.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counted)

    async def write(number: int) -> None:
        store.create(Key("/pods", "default", f"p{number}"), _pod())
        await store.durable()

    await asyncio.gather(*(write(number) for number in range(100)))
    assert 1 <= len(syncs) <= 2
    await store.close()


async def test_outdated_lines_are_swept_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_COMPACT_BYTES", 4096)
    path = tmp_path / "data"
    store = _open(path)
    obj = store.create(POD, _pod())
    for number in range(200):
        obj = store.update(POD, _pod(number=str(number)), expected=obj)
        await store.durable()
    assert path.stat().st_size < 8192
    await store.close()
    again = _open(path)
    found = again.get(POD)
    assert found is not None
    assert found["metadata"]["labels"] == {"number": "199"}
    await again.close()


async def test_the_revision_survives_the_last_object(tmp_path: Path) -> None:
    path = tmp_path / "data"
    store = _open(path)
    for _ in range(3):
        store.delete(POD, expected=store.create(POD, _pod()))
    before = store.revision
    await store.close()
    for _ in range(2):
        store = _open(path)
        assert store.revision > before
        before = store.revision
        await store.close()


async def test_a_full_disk_is_an_error_and_nothing_is_lost_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data"
    store = _open(path)
    real = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    store.create(POD, _pod())
    with pytest.raises(OSError, match="No space"):
        await store.durable()
    monkeypatch.setattr(os, "fsync", real)
    await store.durable()
    await store.close()
    again = _open(path)
    assert again.count("/pods") == 1
    await again.close()


async def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data"
    for left in (path, tmp_path / "data.new"):  # by a kill, or an older version
        left.touch(0o644)
    for _ in range(2):  # new, and written anew from what was there
        store = _open(path)
        await store.close()
        assert path.stat().st_mode & 0o777 == 0o600
