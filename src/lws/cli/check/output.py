"""The report for a person."""

from collections.abc import Iterator

import click

from lws.cli.check.findings import Finding, Inventory, Report, Severity

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def lines(report: Report, *, colour: bool) -> Iterator[str]:
    """What is there, then what was found, then the verdict."""
    yield from _found(report.inventory)
    for finding in report.findings:
        yield from _told(finding, colour=colour)
    yield ""
    yield verdict(report)


def verdict(report: Report) -> str:
    """In one line."""
    errors = sum(one.severity is Severity.ERROR for one in report.findings)
    if report.is_clear:
        return "nothing is in the way, and nothing would be written"
    changes = f"{report.changes} writes" if report.changes else "nothing"
    return f"{errors} errors; {changes} would be done at once if this operator took over"


def _found(inventory: Inventory) -> Iterator[str]:
    where = ", ".join(inventory.namespaces) or "all namespaces"
    yield f"server       {inventory.server}, {where}"
    counts = [f"{number} {kind}" for kind, number in sorted(inventory.counts.items())]
    yield f"objects      {', '.join(counts) or 'none of ours'}"
    for name, versions in inventory.definitions.items():
        yield f"definition   {name}: {versions}"
    yield f"lease        {inventory.lease}"
    for kind, managers in sorted(inventory.managers.items()):
        told = [f"{manager} {number}" for manager, number in sorted(managers.items())]
        yield f"written by   {kind}: {', '.join(told)}"


def _told(finding: Finding, *, colour: bool) -> Iterator[str]:
    word = finding.severity.value
    yield ""
    painted = click.style(word, fg=_COLOURS[finding.severity]) if colour else word
    yield f"{painted}: {finding.about}: {finding.message}"
    for field in finding.fields:
        yield f"    {field}"
    if finding.hint:
        yield f"  hint: {finding.hint}"
