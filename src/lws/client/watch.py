"""A watch's stream: bytes to lines, lines to events, events to errors. Pure."""

from enum import StrEnum

import msgspec

from lws.client.errors import ApiError, MalformedAnswer
from lws.client.requests import Request
from lws.client.responses import Status, decode_status, error_of_status

LINE_BYTES_MAX = 64 << 20  # an object is at most a few MiB; what never ends a line is no API server


class EventType(StrEnum):
    """What happened to the object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"  # nothing; only the resourceVersion is news
    ERROR = "ERROR"  # the object is a Status


class WatchEvent(msgspec.Struct, frozen=True):
    """One event; the object is a window onto the line, to be decoded by whoever knows its kind."""

    type: EventType
    object_bytes: msgspec.Raw = msgspec.field(name="object")


class LineSplitter:
    """Gathers chunks into whole lines, each byte copied once however many chunks a line spans."""

    def __init__(self, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        self._line_bytes_max = line_bytes_max
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes; blank ones are left out."""
        head, *rest = chunk.split(b"\n")
        self._keep(head)
        lines = []
        for part in rest:
            lines.append(b"".join(self._parts))
            self._parts.clear()
            self._size = 0
            self._keep(part)
        return [line for line in lines if line.strip()]

    @property
    def pending_bytes(self) -> int:
        """How much of a line has come without its end; at the stream's end it is cut off there."""
        return self._size

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
        if self._size > self._line_bytes_max:
            raise MalformedAnswer(f"a line of more than {self._line_bytes_max} bytes in a watch")


_events = msgspec.json.Decoder(WatchEvent)


def decode_event(line: bytes) -> WatchEvent:
    """The event in one line of a watch."""
    try:
        return _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAnswer(f"not a watch event ({error}): {line[:200]!r}") from error


def error_of_event(event: WatchEvent, request: Request | str = "") -> ApiError:
    """What an ERROR event stands for; an expired one is the same as HTTP's 410."""
    status = decode_status(event.object_bytes)
    return error_of_status(
        status or Status(message="a watch error without a Status"), request=request
    )
