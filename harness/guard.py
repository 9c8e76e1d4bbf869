"""Removes a control plane when its owner is gone, however it went.

Run as a program of its own: `guard.py HOME`, with a pipe from the owner as standard input. The end
of that pipe (closed on purpose, or by the kernel because the owner was killed) means: kill every
process that carries HOME in its environment, then remove the folder HOME.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

MARK = "LWS_HARNESS_HOME"


def marked_processes(home: str) -> list[int]:
    """The process ids of all that were started for the control plane in `home`."""
    wanted = f"{MARK}={home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # ended meanwhile, or another user's
            continue
        if wanted in environment:
            found.append(int(entry.name))
    return found


def kill_marked(home: str, *, quiet_rounds: int = 2, most_seconds: float = 20) -> None:
    """Kill until none was found twice: a child may be between its fork and its own environment."""
    deadline = time.monotonic() + most_seconds
    quiet = 0
    while quiet < quiet_rounds and time.monotonic() < deadline:
        pids = marked_processes(home)
        quiet = 0 if pids else quiet + 1
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def main(home: str) -> None:
    """Wait for the owner's end, then leave nothing behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    kill_marked(home)
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
