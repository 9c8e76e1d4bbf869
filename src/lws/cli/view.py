"""The groups of a sandbox as they change: a table that lives in a terminal, else lines."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from lws.api import names
from lws.client import resources

if TYPE_CHECKING:
    from lws.manager.up import LocalControlPlane

LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group in words."""

    name: str
    leader: str
    workers: str
    revision: str
    restarts: int


async def watch_groups(plane: "LocalControlPlane", head: Sequence[str]) -> None:
    """Until cancelled. `head` stands above the table."""
    shown: list[GroupLine] = []
    screen = Screen(head) if sys.stdout.isatty() else None
    while True:
        lines = group_lines(_pods(plane))
        if screen is not None:
            click.echo(screen.drawn(lines, get_terminal_size()), nl=False)
        elif lines != shown:
            _tell(lines, shown)
            shown = lines
        await asyncio.sleep(LOOK_SECONDS)


def _pods(plane: "LocalControlPlane") -> list[Mapping[str, Any]]:
    listing = plane.server.api.list(resources.PODS)
    return [pod for pod in listing.items if names.NAME in _labels(pod)]


def group_lines(pods: list[Mapping[str, Any]]) -> list[GroupLine]:
    """Groups by namespace, set and index."""
    groups: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
    for pod in pods:
        index = _labels(pod).get(names.GROUP_INDEX, "")
        if index.isdigit():
            key = (pod["metadata"]["namespace"], _labels(pod)[names.NAME], int(index))
            groups.setdefault(key, []).append(pod)
    return [_line(key, groups[key]) for key in sorted(groups)]


def _line(key: tuple[str, str, int], pods: list[Mapping[str, Any]]) -> GroupLine:
    namespace, lws, index = key
    leader = next((pod for pod in pods if _labels(pod).get(names.WORKER_INDEX) == "0"), None)
    workers = [pod for pod in pods if pod is not leader]
    ready = sum(_state(pod) == "ready" for pod in workers)
    prefix = "" if namespace == "default" else f"{namespace}/"
    return GroupLine(
        name=f"{prefix}{lws}-{index}",
        leader="-" if leader is None else _state(leader),
        workers=f"{ready}/{max(len(workers), _size(pods[0]) - 1)}",
        revision="-" if leader is None else _labels(leader).get(names.REVISION_KEY, ""),
        restarts=sum(
            int(status.get("restartCount", 0))
            for pod in pods
            for status in pod.get("status", {}).get("containerStatuses", [])
        ),
    )


def _size(pod: Mapping[str, Any]) -> int:
    """How many pods its group has when it is whole."""
    text = (pod["metadata"].get("annotations") or {}).get(names.SIZE, "")
    return int(text) if text.isdecimal() else 0


def _state(pod: Mapping[str, Any]) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "ending"
    conditions = pod.get("status", {}).get("conditions", [])
    if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
        return "ready"
    return str(pod.get("status", {}).get("phase", "Pending")).lower()


def _labels(pod: Mapping[str, Any]) -> Mapping[str, str]:
    labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
    return labels


_HEAD = ("GROUP", "LEADER", "WORKERS", "REVISION", "RESTARTS")
_UP_AND_CLEAR, _WHOLE = "\x1b[{}F\x1b[J", "\x1b[H\x1b[2J\x1b[3J"


class Screen:
    """A table that is drawn over itself, never higher or wider than the terminal."""

    def __init__(self, head: Sequence[str]) -> None:
        self._head = tuple(head)
        self._size: os.terminal_size | None = None
        self._table: list[str] = []

    def drawn(self, lines: Sequence[GroupLine], size: os.terminal_size) -> str:
        """What to write so that the terminal shows these groups; nothing if it does."""
        above = sum(1 + (len(row) - 1) // max(1, size.columns) for row in self._head)
        room = max(3, size.lines - above - 1)
        table = [_cut(row, size.columns) for row in table_of(lines, room)]
        if table == self._table and size == self._size:
            return ""
        text = "".join(f"{row}\n" for row in table)
        if self._size not in (None, size):  # what stood there is wrapped anew, who knows how
            text = _WHOLE + "".join(f"{row}\n" for row in self._head) + text
        elif self._table:
            text = _UP_AND_CLEAR.format(len(self._table)) + text
        self._table, self._size = table, size
        return text


def table_of(lines: Sequence[GroupLine], room: int) -> list[str]:
    """At most so many rows. If that is too few, groups that are not ready come first, and the last
    row counts what is left out."""
    if not lines:
        return []
    kept = list(lines)
    if len(lines) + 1 > room:
        kept.sort(key=is_ready)
        kept = kept[: max(0, room - 2)]
    rows = [_HEAD] + [
        (line.name, line.leader, line.workers, line.revision, str(line.restarts)) for line in kept
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if len(kept) < len(lines):
        ready = sum(map(is_ready, lines))
        left = len(lines) - len(kept)
        table.append(f"and {left} more; {ready} of {len(lines)} groups are ready")
    return table


def is_ready(line: GroupLine) -> bool:
    """Are all its pods?"""
    ready, _, count = line.workers.partition("/")
    return line.leader == "ready" and ready == count


def _cut(row: str, width: int) -> str:
    return row if len(row) <= width else f"{row[: width - 1]}…"


def _tell(lines: Sequence[GroupLine], shown: Sequence[GroupLine]) -> None:
    """Where nothing can be drawn over, what changed."""
    known = set(shown)
    for line in lines:
        if line not in known:
            click.echo(
                f"{line.name}: leader {line.leader}, workers {line.workers}, revision "
                f"{line.revision}"
            )
    names_now = {line.name for line in lines}
    for line in shown:
        if line.name not in names_now:
            click.echo(f"{line.name}: gone")
