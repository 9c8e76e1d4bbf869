"""The file of `--data`: a line for each write, so that a kill loses nothing acknowledged.

A line is a checksum and JSON: `{"revision": 7, "key": [resource, namespace, name], "object": …}`,
null for a deletion. The first line says what the file is. Many writes share one fsync: whoever
waits while one is under way is served by the next. When most lines are outdated, the objects
are written to a new file that takes the place of the old one.
"""

import asyncio
import contextlib
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from lws.base.errors import InvalidInput
from lws.sandbox.store.changes import JsonObject, Key

if sys.platform != "win32":  # there, two processes on one file are not noticed
    import fcntl

_FORMAT = "lws-sandbox"
_VERSION = 1
_COMPACT_BYTES = 16 << 20  # below, outdated lines do not matter


@dataclass(frozen=True, slots=True)
class Record:
    """One write."""

    revision: int
    key: Key
    object: JsonObject | None

    def line(self) -> bytes:
        """As it stands in the file."""
        parts = {"revision": self.revision, "key": list(self.key), "object": self.object}
        return _line(orjson.dumps(parts))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All objects, at a revision."""

    revision: int
    records: Iterable[Record]


class Journal:
    """One open file. `records`, then `start`, then `append` and `flushed`, at last `close`."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._pending: list[bytes] = []
        self._appended = 0
        self._written = 0
        self._flushing: asyncio.Task[None] | None = None
        self._compact_at = _COMPACT_BYTES
        self._snapshot: Callable[[], Snapshot] = lambda: Snapshot(0, ())
        self.revision = 0
        """The newest that the file's first line knows of, once `records` has run."""

    def records(self) -> Iterator[Record]:
        """What the file holds. A last line that was cut off by a kill is removed."""
        self._file.seek(0)
        end = 0
        for number, line in enumerate(self._file, start=1):
            body = _checked(line)
            if body is None:
                self._require_tail(number)
                break
            end += len(line)
            if number == 1:
                self._read_header(body)
            else:
                yield _record(body)
        self._file.truncate(end)
        self._file.seek(end)

    def start(self, snapshot: Callable[[], Snapshot]) -> None:
        """Ready for `append`; `snapshot` gives all objects that there are."""
        self._snapshot = snapshot
        self._compact()

    def append(self, record: Record) -> None:
        """To be written with the next flush."""
        self._pending.append(record.line())
        self._appended += 1

    async def flushed(self) -> None:
        """Until all that was appended before is on disk."""
        target = self._appended
        while self._written < target:
            if self._flushing is None:
                self._flushing = asyncio.get_running_loop().create_task(self._flush())
            await asyncio.shield(self._flushing)

    async def close(self) -> None:
        """Flush, and let go of the file."""
        await self.flushed()
        self.release()

    def release(self) -> None:
        """Let go of the file as it is."""
        self._file.close()

    async def _flush(self) -> None:
        lines, self._pending = self._pending, []
        target = self._appended
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._write, b"".join(lines))
            self._written = target
            if self._file.tell() > self._compact_at:
                self._compact()
        except OSError:
            self._pending = lines + self._pending  # a full disk may be emptied
            raise
        finally:
            self._flushing = None

    def _write(self, lines: bytes) -> None:
        start = self._file.tell()
        try:
            self._file.write(lines)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._file.seek(start)
            self._file.truncate()  # half a line must not be followed by others
            raise

    def _compact(self) -> None:
        """The objects alone, in a new file; what is pending is in them."""
        beside = self._path.with_name(self._path.name + ".new")
        fresh = _opened(beside, os.O_TRUNC, "w+b")
        try:
            _lock(fresh, self._path)
            fresh.writelines(_lines(self._snapshot()))
            fresh.flush()
            os.fsync(fresh.fileno())
            beside.replace(self._path)
            _sync_folder(self._path.parent)
        except BaseException:
            fresh.close()
            raise
        self._file.close()
        self._file = fresh
        self._pending.clear()
        self._written = self._appended
        self._compact_at = max(_COMPACT_BYTES, 4 * fresh.tell())

    def _read_header(self, body: bytes) -> None:
        parts = orjson.loads(body)
        if parts.get(_FORMAT) != _VERSION:
            raise self._foreign()
        self.revision = parts["revision"]

    def _foreign(self) -> InvalidInput:
        return InvalidInput(
            field="--data",
            message=f"{self._path} is no file of this version's sandbox; name another",
        )

    def _require_tail(self, number: int) -> None:
        """A broken line is a kill's if nothing follows it, else somebody else's work."""
        if number == 1:
            raise self._foreign()
        if self._file.read(1):
            raise InvalidInput(
                field="--data",
                message=f"{self._path} is damaged in line {number}; restore it from a copy, or"
                " remove it to begin anew",
            )


def open_journal(path: Path) -> Journal:
    """The file, made if there is none; `InvalidInput` if it cannot be had."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _opened(path, 0, "r+b")
    except OSError as error:
        raise InvalidInput(
            field="--data", message=f"{path} cannot be opened: {error.strerror}"
        ) from error
    _lock(file, path)
    return Journal(path, file)


def _opened(path: Path, flags: int, mode: str) -> BinaryIO:
    """For its owner alone: Secrets are in it, and the key that signs tokens."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o600)
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):  # somebody else's is written anew as our own
            os.fchmod(descriptor, 0o600)  # one that was left there may have been open to others
    return cast("BinaryIO", os.fdopen(descriptor, mode))


def _lock(file: BinaryIO, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InvalidInput(
            field="--data", message=f"{path} is in use by another process; stop it first"
        ) from error


def _lines(snapshot: Snapshot) -> Iterator[bytes]:
    yield _line(orjson.dumps({_FORMAT: _VERSION, "revision": snapshot.revision}))
    for record in snapshot.records:
        yield record.line()


def _line(body: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _checked(line: bytes) -> bytes | None:
    """What the line says; None if it is not whole."""
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    is_whole = line.endswith(b"\n") and checksum == b"%08x" % zlib.crc32(body)
    return body if is_whole else None


def _record(body: bytes) -> Record:
    parts = orjson.loads(body)
    return Record(parts["revision"], Key(*parts["key"]), parts["object"])


def _sync_folder(folder: Path) -> None:
    """A rename is on disk when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
