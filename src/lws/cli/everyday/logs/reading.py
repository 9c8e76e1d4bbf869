"""What is there of several logs, in the order in which it was written."""

import heapq
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lws.cli.everyday.logs.sources import Source
from lws.client import errors, requests
from lws.client.logs import LogLine, moment_of

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


async def read_all(
    client: "KubernetesClient", sources: Sequence[Source], extent: Extent, tell: Tell
) -> AsyncGenerator[Told]:
    """Merged by time; of each log one line is held at a time, however long it is."""
    async with AsyncExitStack() as stack:
        streams = [await _opened(client, stack, source, extent, tell) for source in sources]
        heads: list[tuple[str, int, LogLine]] = []
        for number, stream in enumerate(streams):
            await _next(heads, number, stream, after="")
        heapq.heapify(heads)
        while heads:
            moment, number, line = heapq.heappop(heads)
            yield Told(sources[number], line)
            await _next(heads, number, streams[number], after=moment)


async def _opened(
    client: "KubernetesClient", stack: AsyncExitStack, source: Source, extent: Extent, tell: Tell
) -> AsyncIterator[LogLine] | None:
    """None, and said so, where there is no log."""
    request = requests.pod_log(
        namespace=source.namespace,
        name=source.pod,
        container=source.container,
        previous=extent.previous,
        since_seconds=extent.since_seconds,
        tail_lines=extent.tail_lines,
    )
    try:
        return await stack.enter_async_context(client.log_lines(request))
    except (errors.NotFound, errors.BadRequest) as error:
        tell(source.label, no_log(source, error, previous=extent.previous))
        return None


def no_log(source: Source, error: errors.ApiError, *, previous: bool) -> str:
    """Why there is none, in our words where we know them. Pure."""
    if isinstance(error, errors.NotFound):
        return "is gone"
    if previous and "previous terminated container" in error.message:
        return f"container {source.container} has not run before in this pod"
    return source.words or error.message


async def _next(
    heads: list[tuple[str, int, LogLine]],
    number: int,
    stream: AsyncIterator[LogLine] | None,
    *,
    after: str,
) -> None:
    """Put a stream's next line among the heads; one without a time is as old as that before it."""
    line = None if stream is None else await anext(stream, None)
    if line is not None:
        moment = max(after, moment_of(line.time)) if line.time else after
        heapq.heappush(heads, (moment, number, line))
