"""What is there of several logs, in the order in which it was written."""

import heapq
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lws.cli.everyday.logs.sources import Source
from lws.client import errors, requests
from lws.client.logs import LogLine, moment_of
from lws.client.requests import Request

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

Tell = Callable[[str, str], None]
"""A label, and what is to be said of it on stderr."""


class Told(NamedTuple):
    """A line, and whose it is."""

    source: Source
    line: LogLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of each log; None: all."""

    previous: bool = False
    since_seconds: int | None = None
    tail_lines: int | None = None


class Reading:
    """Several logs merged by time; of each one line is held at a time, however long it is.

    A log that cannot be read, say of a node that is away, is told of and does not hide the others.
    """

    def __init__(self, client: "KubernetesClient", extent: Extent, tell: Tell) -> None:
        self._client = client
        self._extent = extent
        self._tell = tell
        self.failures = 0
        """Logs that are there, and could not be read to their end."""

    async def lines(self, sources: Sequence[Source]) -> AsyncGenerator[Told]:
        """All there is."""
        async with AsyncExitStack() as stack:
            streams = [await self._open(stack, source) for source in sources]
            heads: list[tuple[str, int, LogLine]] = []
            for number, source in enumerate(sources):
                await self._next(heads, number, source, streams[number], after="")
            while heads:
                moment, number, line = heapq.heappop(heads)
                source = sources[number]
                yield Told(source, line)
                await self._next(heads, number, source, streams[number], after=moment)

    async def _open(self, stack: AsyncExitStack, source: Source) -> AsyncIterator[LogLine] | None:
        """None, and said so, where there is no log."""
        request = _request(source, self._extent)
        try:
            return await stack.enter_async_context(self._client.log_lines(request))
        except (errors.NotFound, errors.BadRequest) as error:
            self._tell(source.label, no_log(source, error, previous=self._extent.previous))
        except errors.Retryable as error:
            self._fail(source, error)
        return None

    async def _next(
        self,
        heads: list[tuple[str, int, LogLine]],
        number: int,
        source: Source,
        stream: AsyncIterator[LogLine] | None,
        *,
        after: str,
    ) -> None:
        """A stream's next line among the heads; one without a time is as old as that before it."""
        try:
            line = None if stream is None else await anext(stream, None)
        except errors.Retryable as error:
            self._fail(source, error)
            return
        if line is not None:
            moment = max(after, moment_of(line.time)) if line.time else after
            heapq.heappush(heads, (moment, number, line))

    def _fail(self, source: Source, error: errors.Retryable) -> None:
        self.failures += 1
        self._tell(source.label, f"its log cannot be read: {reason_of(error)}")


def reason_of(error: errors.ClientError) -> str:
    """Without the request, which says nothing new. Pure."""
    return error.message if isinstance(error, errors.ApiError) and error.message else str(error)


def no_log(source: Source, error: errors.ApiError, *, previous: bool) -> str:
    """Why there is none, in our words where we know them. Pure."""
    if isinstance(error, errors.NotFound):
        return "is gone"
    if previous and "previous terminated container" in error.message:
        return f"container {source.container} has not run before in this pod"
    return source.words or error.message


def _request(source: Source, extent: Extent) -> Request:
    return requests.pod_log(
        namespace=source.namespace,
        name=source.pod,
        container=source.container,
        previous=extent.previous,
        since_seconds=extent.since_seconds,
        tail_lines=extent.tail_lines,
    )
