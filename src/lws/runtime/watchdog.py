"""Notices that the event loop is blocked, and says by what."""

import asyncio
import sys
import threading
import traceback

import structlog

from lws.base.clock import Clock

log = structlog.get_logger(__name__)

BLOCKED_SECONDS = 10.0  # a pass computes for milliseconds; this is a hang, not load
LOOK_SECONDS = 1.0


class LoopWatchdog:
    """A thread that asks the event loop for a sign of life every second.

    While the loop is blocked nobody answers a probe either, so `check` fails only just after: the
    use of the thread is the line that tells where the loop stands.
    """

    def __init__(self, *, clock: Clock, blocked_seconds: float = BLOCKED_SECONDS) -> None:
        self._clock = clock
        self._blocked_seconds = blocked_seconds
        self._beaten_at = clock.monotonic()
        self._has_told = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop_thread = threading.main_thread().ident or 0

    def check(self) -> str | None:
        """What is wrong with the loop, None if nothing is; for the liveness probe."""
        silence = self._clock.monotonic() - self._beaten_at
        if silence < self._blocked_seconds:
            return None
        return f"the event loop gave no sign of life for {silence:.0f} s"

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Watch this loop, which runs in the calling thread."""
        self._loop_thread = threading.get_ident()
        self.beat()
        self._thread = threading.Thread(
            target=self._watch, args=(loop,), name="event loop watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=LOOK_SECONDS)

    def beat(self) -> None:
        """The loop's sign of life."""
        self._beaten_at = self._clock.monotonic()
        self._has_told = False

    def look(self) -> None:
        """Tell once of each time that the loop is blocked."""
        problem = self.check()
        if problem is None or self._has_told:
            return
        self._has_told = True
        log.error("event loop is blocked", problem=problem, stack=self._stack())

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            self.look()
            try:
                loop.call_soon_threadsafe(self.beat)
            except RuntimeError:  # the loop is closed: there is nothing left to watch
                return

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame)) if frame is not None else ""
