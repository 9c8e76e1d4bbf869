"""Lines of many logs on their way to one terminal: none starves the others."""

import asyncio
from collections import defaultdict

from lws.cli.everyday.logs.reading import Told
from lws.client.logs import moment_of

ROOM = 200
"""Lines that each log may put in before it has to wait for the next emptying."""


class Basket:
    """Filled by several tasks, emptied by one."""

    def __init__(self) -> None:
        self._held: dict[str, list[Told]] = defaultdict(list)
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self.is_closed = False

    async def put(self, told: Told) -> None:
        """Wait for room, which is each log's own."""
        while len(self._held[told.source.label]) >= ROOM:
            await self._emptied.wait()
        self._held[told.source.label].append(told)
        self._filled.set()

    async def wait(self) -> None:
        """Until there is something to take, or it is closed."""
        await self._filled.wait()

    def close(self) -> None:
        """Nothing more is put in."""
        self.is_closed = True
        self._filled.set()

    def take(self) -> list[Told]:
        """All there is, by time; a line without one stays behind the line before it."""
        timed: list[tuple[str, Told]] = []
        for lines in self._held.values():
            moment = ""
            for told in lines:
                moment = max(moment, moment_of(told.line.time)) if told.line.time else moment
                timed.append((moment, told))
        self._held.clear()
        if not self.is_closed:
            self._filled.clear()
        self._emptied.set()
        self._emptied = asyncio.Event()
        return [told for _, told in sorted(timed, key=lambda each: each[0])]
