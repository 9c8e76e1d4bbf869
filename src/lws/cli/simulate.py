"""`lws simulate`: a rollout in virtual time, told and drawn."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lws.base.errors import InvalidInput
from lws.cli.extras import require_sandbox
from lws.cli.numbers import Seconds
from lws.cli.plan.manifests import read_documents
from lws.cli.problems import EXIT_USAGE, reason_of, tell

if TYPE_CHECKING:
    from lws.manager.up.simulated import Simulation

Document = Mapping[str, Any]

# Thirty years; far beyond, a second more is no other time any more, and nothing would end.
_LIMIT_MAX = 1e9
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


@click.command("simulate", context_settings={"max_content_width": 100})
@click.option("--filename", "-f", required=True, metavar="FILE", help="The set as it will be.")
@click.option("--old-file", metavar="FILE", help="The set as it is; else the same, older image.")
@click.option(
    "--start",
    default=60.0,
    show_default=True,
    type=Seconds(min=0),
    help="Seconds until a pod is ready.",
)
@click.option(
    "--limit",
    default=14_400.0,
    show_default=True,
    type=Seconds(min=0, min_open=True, max=_LIMIT_MAX),
    help="Seconds to give up after.",
)
@click.option(
    "--nodes", default=64, show_default=True, type=click.IntRange(1, 10_000), help="How many."
)
@click.option("--fail", multiple=True, metavar="SECONDS:POD", help="A container of POD ends then.")
@click.option("--max-unavailable-gate", is_flag=True, help="StatefulSets take several at a time.")
@click.option(
    "--output", "-o", type=click.Choice(("text", "json")), default="text", help="What to print."
)
@click.option("--svg", "svg_file", metavar="FILE", help="Draw ready groups over time.")
def simulate(
    *,
    filename: str,
    old_file: str | None,
    start: float,
    limit: float,
    nodes: int,
    fail: tuple[str, ...],
    max_unavailable_gate: bool,
    output: str,
    svg_file: str | None,
) -> None:
    """Roll out a manifest on a cluster in memory, in virtual time.

    Exit code 3: the rollout did not end within --limit.
    """
    require_sandbox()
    try:
        from lws.manager.up.simulated import SimulationOptions  # the sandbox
        from lws.manager.up.simulated import simulate as run

        new = read_documents(filename)
        options = SimulationOptions(
            start_seconds=start,
            limit_seconds=limit,
            nodes=nodes,
            max_unavailable_gate=max_unavailable_gate,
            failures=tuple(_failure(text) for text in fail),
        )
        result = run(old=_old(new, old_file), new=new, options=options)
        if svg_file is not None:
            _write(svg_file, drawn(result))
    except InvalidInput as error:
        tell(str(error))
        sys.exit(EXIT_USAGE)
    click.echo(json.dumps(document_of(result), indent=2) if output == "json" else told(result))
    sys.exit(0 if result.is_complete else 3)


def _write(svg_file: str, picture: str) -> None:
    try:
        Path(svg_file).write_text(picture, encoding="utf-8")
    except OSError as error:
        message = f"cannot be written: {reason_of(error)}"
        raise InvalidInput(field="--svg", message=message) from error


def _failure(text: str) -> Any:
    from lws.manager.up.simulated import PodFailure

    seconds, _, pod = text.partition(":")
    if not pod or not _SECONDS.fullmatch(seconds):
        message = f"must be SECONDS:POD, such as 90:vllm-0-1, not {text!r}"
        raise InvalidInput(field="--fail", message=message)
    return PodFailure(float(seconds), pod)


def _old(new: Sequence[Document], old_file: str | None) -> Sequence[Document]:
    """As given; else the new ones with a template that differs by an annotation only."""
    if old_file is not None:
        return read_documents(old_file)
    return [_older(document) for document in new]


def _older(document: Document) -> Document:
    if not isinstance(document.get("spec"), dict):
        raise InvalidInput(field="spec", message="must be an object with the set's fields")
    copy: Any = deepcopy(dict(document))
    specs = [copy["spec"], *(role.get("spec", {}) for role in copy["spec"].get("roles", []))]
    for spec in specs:
        worker = spec.get("leaderWorkerTemplate", {}).get("workerTemplate")
        if isinstance(worker, dict):
            annotations = worker.setdefault("metadata", {}).setdefault("annotations", {})
            annotations["simulation"] = "old"
    result: Document = copy
    return result


def document_of(result: "Simulation") -> dict[str, Any]:
    """For a program."""
    return {
        "complete": result.is_complete,
        "seconds": round(result.seconds),
        "podsCreated": result.pods_created,
        "lowestReady": dict(result.lowest),
        "samples": [
            {"seconds": round(sample.seconds), "ready": sample.ready} for sample in result.samples
        ],
    }


def told(result: "Simulation") -> str:
    """For a person: a line where something changed."""
    revisions = _revisions(result)
    lines = ["   TIME  READY GROUPS BY REVISION"]
    for sample in result.samples:
        roles = "   ".join(
            f"{role}: " + " + ".join(str(found.get(one, 0)) for one in revisions.get(role, []))
            for role, found in sample.ready.items()
        )
        lines.append(f"{_clock(sample.seconds)}  {roles}")
    outcome = "complete" if result.is_complete else "not complete"
    lines.append(
        f"{outcome} after {_clock(result.seconds).strip()}, {result.pods_created} pods created"
    )
    lines += [f"{role}: never fewer than {low} ready" for role, low in result.lowest.items()]
    return "\n".join(lines)


def _revisions(result: "Simulation") -> dict[str, list[str]]:
    """Of each role, in the order in which they came."""
    found: dict[str, list[str]] = {}
    for sample in result.samples:
        for role, ready in sample.ready.items():
            known = found.setdefault(role, [])
            known += [one for one in ready if one not in known]
    return found


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:4d}:{int(seconds) % 60:02d}"


_COLOURS = ("#8fb3d9", "#3a9d5d", "#c98b2b", "#8e5bb5")
_WIDTH, _HEIGHT, _LEFT, _TOP = 760, 110, 110, 40


def drawn(result: "Simulation") -> str:
    """Ready groups of each role over time, revisions stacked, the lowest drawn in."""
    roles = sorted(result.lowest)
    height = _TOP + len(roles) * (_HEIGHT + 50) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 90}" height="{height}">',
        f'<rect width="100%" height="{height}" fill="#ffffff"/>',
        _text(16, 24, f"Ready groups over {_clock(result.seconds).strip()} of virtual time", 14),
    ]
    for number, role in enumerate(roles):
        parts += _role(result, role, _TOP + number * (_HEIGHT + 50))
    return "\n".join([*parts, "</svg>", ""])


def _role(result: "Simulation", role: str, top: int) -> list[str]:
    revisions = _revisions(result)[role]
    totals = [sum(sample.ready.get(role, {}).values()) for sample in result.samples]
    unit = (_HEIGHT - 10) / max(*totals, 1)
    base = top + _HEIGHT
    ends = [*(sample.seconds for sample in result.samples[1:]), result.seconds]
    parts = [_text(16, base - _HEIGHT / 2, role, 13)]
    for sample, end in zip(result.samples, ends, strict=True):
        left = _LEFT + _WIDTH * sample.seconds / max(result.seconds, 1)
        right = _LEFT + _WIDTH * end / max(result.seconds, 1)
        y = float(base)
        for number, revision in enumerate(revisions):
            size = sample.ready.get(role, {}).get(revision, 0) * unit
            y -= size
            colour = _COLOURS[number % len(_COLOURS)]
            parts.append(
                f'<rect x="{left:.1f}" y="{y:.1f}" width="{max(right - left, 0.5):.1f}" '
                f'height="{size:.1f}" fill="{colour}"/>'
            )
    low = base - result.lowest[role] * unit
    parts.append(
        f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{low:.1f}" y2="{low:.1f}" '
        'stroke="#b03a2e" stroke-dasharray="4 3"/>'
    )
    parts.append(_text(_LEFT + _WIDTH + 6, low + 4, f"lowest {result.lowest[role]}", 11))
    parts.append(_text(_LEFT, base + 16, "0:00", 10))
    parts.append(_text(_LEFT + _WIDTH - 30, base + 16, _clock(result.seconds).strip(), 10))
    return parts


def _text(x: float, y: float, content: str, size: int) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="#222222" '
        f'font-family="ui-sans-serif, system-ui, sans-serif">{escape(content)}</text>'
    )
