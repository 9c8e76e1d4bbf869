"""One child process with a log file, and the home that all processes of a control plane share."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import guard


class Home:
    """A temporary folder that vanishes, with every process started in it, when its owner ends."""

    def __init__(self) -> None:
        """Make the folder and start its guard."""
        self.path = Path(tempfile.mkdtemp(prefix="lws-cp-"))
        (self.path / "logs").mkdir()
        try:
            self._guard = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", guard.__file__, str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the owner only
            )
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Kill what still runs, remove the folder; returns when both are done."""
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.close()
        self._guard.wait()


class Process:
    """A program that runs in a home; can be ended and started again with the same arguments."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str | Path],
        *,
        home: Home,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing runs before `start`."""
        self.name = name
        self.log = home.path / "logs" / f"{name}.log"
        self._arguments = [str(argument) for argument in arguments]
        self._environment = {**os.environ, **(environment or {}), guard.MARK: str(home.path)}
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id; an error if it was never started."""
        assert self._child is not None, f"{self.name} was not started"
        return self._child.pid

    @property
    def running(self) -> bool:
        """Started, and not ended."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """Start the program; its output is appended to the log."""
        assert not self.running, f"{self.name} runs already"
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(  # noqa: S603 - our own programs, no shell
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def require_running(self) -> None:
        """An error with the end of the log if the program ended by itself."""
        if not self.running:
            code = None if self._child is None else self._child.returncode
            raise RuntimeError(f"{self.name} ended (exit {code}); its log ends:\n{self.tail()}")

    def stop(self, grace: float = 10) -> int | None:
        """SIGTERM, and SIGKILL after `grace` seconds; the exit code."""
        if self._child is None:
            return None
        if self.running:
            self._child.terminate()
            try:
                self._child.wait(grace)
            except subprocess.TimeoutExpired:
                self._child.kill()
        return self._child.wait()

    def kill(self) -> None:
        """SIGKILL."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def tail(self, lines: int = 40) -> str:
        """The last lines of the log."""
        if not self.log.exists():
            return "(no log)"
        with self.log.open(encoding="utf-8", errors="replace") as log:
            return "".join(deque(log, maxlen=lines))
