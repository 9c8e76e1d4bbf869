"""The groups of a sandbox as they change: a table that lives in a terminal, else lines."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
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


async def watch_groups(plane: "LocalControlPlane") -> None:
    """Until cancelled."""
    shown: list[GroupLine] = []
    live = sys.stdout.isatty()
    while True:
        lines = group_lines(_pods(plane))
        if lines != shown:
            _show(lines, shown, live=live)
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
        workers=f"{ready}/{len(workers)}",
        revision="-" if leader is None else _labels(leader).get(names.REVISION_KEY, ""),
        restarts=sum(
            int(status.get("restartCount", 0))
            for pod in pods
            for status in pod.get("status", {}).get("containerStatuses", [])
        ),
    )


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


def _show(lines: list[GroupLine], shown: list[GroupLine], *, live: bool) -> None:
    """In a terminal the table is drawn over itself; elsewhere only what changed is told."""
    if not live:
        for line in lines:
            if line not in shown:
                click.echo(
                    f"{line.name}: leader {line.leader}, workers {line.workers}, revision "
                    f"{line.revision}"
                )
        return
    if shown:
        click.echo(f"\x1b[{len(shown) + 1}A\x1b[J", nl=False)
    rows = [_HEAD] + [
        (line.name, line.leader, line.workers, line.revision, str(line.restarts)) for line in lines
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows if lines else []:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
