"""The machines on which the judged program runs, and what is done to them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from lws.client.requests import Request
from lws.client.responses import Response
from lws.sandbox.server.handler import Handler, User
from lws.sandbox.transport import LocalTransport
from lws.simulation.lives import Life, LifeClock, apart
from lws.simulation.wire import Surroundings, Wire

RESTART_SECONDS = (0.5, 20.0)
Answer = Callable[[Request], Coroutine[Any, Any, Response]]


class Program(Protocol):
    """What is judged: one process of it, from its start to its exit code."""

    async def __call__(
        self, *, transport: Wire, clock: LifeClock, identity: str, terminated: asyncio.Event
    ) -> int:
        """`terminated` is SIGTERM."""
        ...


class Machine:
    """Runs the program, again after each end, as a Deployment's pod does."""

    def __init__(self, name: str, program: Program, handler: Handler, around: Surroundings) -> None:
        self.name = name
        self._program = program
        self._around = around
        self._local = LocalTransport(handler, user=User(f"operator-{name}"), user_agent="lws")
        self._lives = 0
        self.life: Life | None = None
        self.failures: list[str] = []
        """Ends that were nobody's doing, in words."""
        self._is_off = False
        self._terminated = asyncio.Event()

    def start(self) -> None:
        """A new life, unless it has one."""
        if self.life is not None or self._is_off:
            return
        self._lives += 1
        life = self.life = Life(f"{self.name}/{self._lives}", self._around.clock)
        wire = Wire(life, self._local, self._around)
        self._terminated = asyncio.Event()
        life.spawn(self._live(life, wire, self._terminated))

    async def _live(self, life: Life, wire: Wire, terminated: asyncio.Event) -> None:
        try:
            code = await self._program(
                transport=wire, clock=life.clock, identity=life.name, terminated=terminated
            )
        except Exception as error:  # noqa: BLE001 - the judge is told
            self.failures.append(f"{life.name} raised {type(error).__name__}: {error}")
            code = 1
        apart(self._ended(life, code))

    async def _ended(self, life: Life, code: int) -> None:
        del code
        if self.life is not life:
            return
        await life.kill()
        self.life = None
        await self._start_again()

    def terminate(self) -> None:
        """SIGTERM."""
        self._terminated.set()

    async def kill(self, *, again: bool = True) -> None:
        """SIGKILL, and a new life a little later."""
        life, self.life = self.life, None
        if life is not None:
            await life.kill()
        if again:
            await self._start_again()

    async def _start_again(self) -> None:
        await self._around.clock.sleep(self._around.chance.between(*RESTART_SECONDS))
        self.start()

    async def turn_off(self) -> None:
        """For good."""
        self._is_off = True
        await self.kill(again=False)
