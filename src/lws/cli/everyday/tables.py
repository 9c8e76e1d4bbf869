"""Tables, ages and colours. Pure but for the question whether a person looks."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import yaml

from lws.base.times import parse_time
from lws.cli.columns import aligned
from lws.cli.everyday.family import Document, wanted_groups
from lws.cli.everyday.groups import GroupLine
from lws.cli.everyday.roles import RolesStatus, slices_of, state_of_roles, totals_of
from lws.cli.everyday.status import Status, state_of_set

if TYPE_CHECKING:
    from lws.cli.everyday.history import RevisionLine  # loads the planner

OUTPUTS = ("table", "wide", "json", "yaml")
FEW = 5
"""Changed fields told of a revision before it says how many more."""
Row = Sequence[str]

_COLOURS = {"available": "green", "ready": "green", "failed": "red", "blocked": "red"}
_COLOURS |= {"stuck": "red"}


def wants_colour() -> bool:
    """In a terminal, unless NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show_document(document: Any, output: str) -> None:
    """As JSON or YAML."""
    if output == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip())


def painted(word: str, *, colour: bool) -> str:
    """A state in its colour: good, bad, or on its way."""
    return click.style(word, fg=_COLOURS.get(word, "yellow")) if colour and word else word


def age(created: str, now: float) -> str:
    """How long ago, as kubectl says it in short."""
    if not created:
        return "-"
    seconds = max(0, int(now - parse_time(created)))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def sets_table(
    sets: Sequence[Document], *, now: float, wide: bool, namespaces: bool, colour: bool
) -> list[str]:
    """A line a set."""
    head = ["NAME", "READY", "UP-TO-DATE", "STATE", "AGE"]
    head = (["NAMESPACE"] if namespaces else []) + head
    rows: list[Row] = [head + (["SIZE", "RESTARTS-BY", "STARTUP"] if wide else [])]
    for lws in sets:
        metadata, status = lws["metadata"], lws.get("status") or {}
        template = lws["spec"]["leaderWorkerTemplate"]
        row = [metadata["namespace"]] if namespaces else []
        row += [
            metadata["name"],
            f"{status.get('readyReplicas') or 0}/{wanted_groups(lws)}",
            str(status.get("updatedReplicas") or 0),
            _state(lws, colour=colour),
            age(metadata.get("creationTimestamp", ""), now),
        ]
        if wide:
            row += [str(template.get("size", 1)), template.get("restartPolicy", "-")]
            row.append(lws["spec"].get("startupPolicy", "-"))
        rows.append(row)
    return aligned(rows)


def _state(lws: Document, *, colour: bool) -> str:
    state = state_of_set(lws)
    note = " (paused)" if lws["spec"].get("paused") and state != "paused" else ""
    return painted(state, colour=colour) + note


def roles_table(
    sets: Sequence[Document], *, now: float, wide: bool, namespaces: bool, colour: bool
) -> list[str]:
    """A line a DisaggregatedSet."""
    head = (["NAMESPACE"] if namespaces else []) + ["NAME", "ROLES-READY", "STATE", "AGE"]
    rows: list[Row] = [head + (["SLICES", "PLACEMENT"] if wide else [])]
    for ds in sets:
        metadata = ds["metadata"]
        roles = (f"{role} {ready}/{wanted}" for role, ready, wanted in totals_of(ds))
        row = [metadata["namespace"]] if namespaces else []
        row += [
            metadata["name"],
            ", ".join(roles) or "-",
            painted(state_of_roles(ds), colour=colour),
            age(metadata.get("creationTimestamp", ""), now),
        ]
        if wide:
            placement = (ds["spec"].get("placementPolicy") or {}).get("type", "None")
            row += [str(slices_of(ds)), placement]
        rows.append(row)
    return aligned(rows)


def tree_lines(status: Status, *, now: float, wide: bool, colour: bool) -> list[str]:
    """The set, its groups, their pods; each group's first line says what is wrong with it."""
    lines = _groups_tree(status.groups, now=now, wide=wide, colour=colour)
    return [status.title, *(f"  {reason}" for reason in status.reasons), *lines]


def roles_tree(status: RolesStatus, *, now: float, wide: bool, colour: bool) -> list[str]:
    """The set, and below it a tree for each of its LeaderWorkerSets."""
    lines = [status.title, *(f"  {reason}" for reason in status.reasons)]
    for line in status.sets:
        ready = f"{line.ready}/{line.wanted} groups ready"
        lines += ["", f"{status.called(line)}: {ready}, lws/{line.name}"]
        lines += (f"  {reason}" for reason in line.reasons)
        lines += _groups_tree(line.groups, now=now, wide=wide, colour=colour)
    return lines


def _groups_tree(groups: Sequence[GroupLine], *, now: float, wide: bool, colour: bool) -> list[str]:
    head = ["GROUP", "NODE", "STATE", "RESTARTS", "REVISION"] + (["POD-IP", "AGE"] if wide else [])
    rows: list[Row] = [head]
    notes: dict[int, str] = {}
    for number, group in enumerate(groups):
        is_last = number == len(groups) - 1
        notes[len(rows)] = "; ".join(group.problems)
        rows.append(_group_row(group, is_last=is_last, colour=colour, columns=len(head)))
        for pod in group.pods:
            corner = "└─" if pod is group.pods[-1] else "├─"
            stem = f"{'   ' if is_last else '│  '}{corner} {pod.role}  {pod.name}"
            row = [stem, pod.node or "-", painted(pod.state, colour=colour), str(pod.restarts), ""]
            rows.append(row + ([pod.ip or "-", age(pod.created, now)] if wide else []))
    return [
        f"{line}  {notes[number]}" if notes.get(number) else line
        for number, line in enumerate(aligned(rows))
    ]


def _group_row(group: GroupLine, *, is_last: bool, colour: bool, columns: int) -> Row:
    again = f" (made anew {group.recreated} times)" if group.recreated else ""
    state = "ready" if not group.problems else "not ready"
    row = [
        f"{'└─' if is_last else '├─'} group {group.index}{again}",
        f"{group.ready_pods}/{group.size} pods",
        painted(state, colour=colour),
        str(group.restarts),
        group.revision or "-",
    ]
    return row + [""] * (columns - len(row))


def history_lines(history: Sequence["RevisionLine"], *, now: float, wide: bool) -> list[str]:
    """Newest first, each with what it changed; at most a few fields unless `wide`."""
    if not history:
        return ["no revision is recorded yet"]
    shown = list(reversed(history))
    rows: list[Row] = [["REVISION", "KEY", "STATE", "AGE"]]
    for one in shown:
        revision = one.revision
        rows.append([str(revision.number), revision.key, one.state, age(revision.created, now)])
    head, *lines = aligned(rows)
    printed = [head]
    for line, one in zip(lines, shown, strict=True):
        few = one.changes if wide else one.changes[:FEW]
        printed += [line, *(f"    {change}" for change in few)]
        if len(few) < len(one.changes):
            printed.append(f"    and {len(one.changes) - len(few)} more fields (-o wide)")
    return printed
