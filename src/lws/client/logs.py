"""A container's log as a stream: bytes to lines, lines to when and what. Pure."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$")
LINE_BYTES_MAX = 1 << 20  # a longer line is told in pieces: what never ends a line must not fill us


class LogLine(NamedTuple):
    """`time` is as the server wrote it (RFC 3339 with up to nine decimals), so that it can be asked
    for again; empty where there is none."""

    time: str
    text: str


class LogSplitter:
    """Gathers chunks into lines, blank ones too; `rest` is the last one without its end."""

    def __init__(self, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        self._line_bytes_max = line_bytes_max
        self._pending = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes."""
        *whole, last = chunk.split(b"\n")
        lines: list[bytes] = []
        for part in whole:
            lines.append(bytes(self._pending) + part)
            self._pending.clear()
        self._pending += last
        while len(self._pending) > self._line_bytes_max:
            lines.append(bytes(self._pending[: self._line_bytes_max]))
            del self._pending[: self._line_bytes_max]
        return lines

    def rest(self) -> list[bytes]:
        """What came without an end; to be asked for once the stream is over."""
        left = [bytes(self._pending)] if self._pending else []
        self._pending.clear()
        return left


def read_line(line: bytes) -> LogLine:
    """A line that was asked for with its time."""
    text = line.decode(errors="replace").removesuffix("\r")
    time, space, words = text.partition(" ")
    if _TIME.match(time):
        return LogLine(time, words if space else "")
    return LogLine("", text)


def moment_of(time: str) -> str:
    """The time so that it sorts as text: UTC with nine decimals. A node may write its own zone."""
    matched = _TIME.match(time)
    if matched is None:
        return time
    whole, fraction, zone = matched[1], matched[2] or "", matched[3]
    if zone != "Z":
        whole = datetime.fromisoformat(whole + zone).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{fraction:0<9}"
