"""What the demo shows: a line a step, and in a terminal a table of the groups that lives."""

import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from harness.pods import is_ready

Pods = Mapping[str, Mapping[str, Any]]
PREFIX = "leaderworkerset.sigs.k8s.io/"


class View:
    """Writes the story to stdout; `watch` gives it pods for the live table."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._started = time.monotonic()
        self._pods: Callable[[], Pods] = dict
        self._stop = threading.Event()
        self._live: Live | None = None
        self._thread: threading.Thread | None = None

    def watch(self, pods: Callable[[], Pods]) -> None:
        """Show these pods from now on."""
        self._pods = pods

    def say(self, text: str) -> None:
        """Something begins."""
        self.console.print(f"[dim]{self._clock()}[/]  {text}")

    def told(self, text: str) -> None:
        """Something was checked and is true."""
        self.console.print(f"[dim]{self._clock()}[/]  [green]✓[/] {text}")

    def failed(self, text: str) -> None:
        """What was told is not true."""
        self.console.print(f"[dim]{self._clock()}[/]  [red]✗[/] {text}")

    def picture(self) -> None:
        """The table once, where there is no live one."""
        if self._live is None and self._pods():
            self.console.print(table(self._pods()))

    def _clock(self) -> str:
        return f"{time.monotonic() - self._started:5.1f} s"

    def __enter__(self) -> "View":
        """In a terminal, keep the table at the bottom of the screen."""
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=8, transient=False)
            self._live.start()
            self._thread = threading.Thread(target=self._refresh, name="table", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last table on the screen."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2)
        if self._live is not None:
            self._live.stop()
        sys.stdout.flush()

    def _refresh(self) -> None:
        assert self._live is not None, "started with the live table"
        while not self._stop.wait(0.15):
            self._live.update(table(self._pods()))


def table(pods: Pods) -> Table:
    """Groups as rows: leader, workers, revision, node, restarts."""
    if not pods:
        return Table(box=None)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("GROUP", "LEADER", "WORKERS", "IMAGE", "REVISION", "NODE", "RESTARTS"):
        shown.add_column(heading)
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for pod in pods.values():
        index = pod["metadata"].get("labels", {}).get(PREFIX + "group-index", "")
        if index.isdigit():
            groups.setdefault(int(index), []).append(pod)
    for index in sorted(groups):
        shown.add_row(*_row(index, groups[index]))
    return shown


def _row(index: int, pods: list[Mapping[str, Any]]) -> list[str]:
    leaders = [pod for pod in pods if _label(pod, "worker-index") == "0"]
    workers = [pod for pod in pods if pod not in leaders]
    leader = leaders[0] if leaders else None
    ready = sum(is_ready(dict(pod)) for pod in workers)
    colour = "green" if workers and ready == len(workers) else "yellow"
    return [
        str(index),
        "[dim]-[/]" if leader is None else _state(leader),
        f"[{colour}]{ready}/{len(workers)} ready[/]",
        "-" if leader is None else leader["spec"]["containers"][0]["image"].rpartition(":")[2],
        "-" if leader is None else _label(leader, "template-revision-hash"),
        "-" if leader is None else leader["spec"].get("nodeName", "-"),
        str(sum(_restarts(pod) for pod in pods)),
    ]


def _state(pod: Mapping[str, Any]) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "[red]terminating[/]"
    if is_ready(dict(pod)):
        return "[green]ready[/]"
    return f"[yellow]{pod.get('status', {}).get('phase', 'Pending').lower()}[/]"


def _restarts(pod: Mapping[str, Any]) -> int:
    statuses = pod.get("status", {}).get("containerStatuses", [])
    return sum(int(one.get("restartCount", 0)) for one in statuses)


def _label(pod: Mapping[str, Any], name: str) -> str:
    return str(pod["metadata"].get("labels", {}).get(PREFIX + name, ""))
