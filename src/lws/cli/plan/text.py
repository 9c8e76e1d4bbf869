"""A preview as text: a table of its steps, with bars where a person looks at it."""

import click

from lws.cli.columns import aligned
from lws.cli.plan.preview import Preview, RoleLine, StepLine

BAR_WIDTH = 24
OLD, NEW, FREE = "▒", "█", "·"


def render(preview: Preview, *, colour: bool) -> str:
    """The table, what it goes down and up to, and what is worth knowing."""
    rows = [("STEP", *(role.name.upper() for role in preview.roles), "")]
    widest = max(preview.highest) or 1
    for number, step in enumerate(preview.steps):
        cells = [
            _cell(step, index, role, widest=widest, colour=colour)
            for index, role in enumerate(preview.roles)
        ]
        rows.append((str(number), *cells, step.detail))
    lines = [preview.title, "", *aligned(rows), ""]
    lines += [_summary(preview, index, role) for index, role in enumerate(preview.roles)]
    lines += [f"note: {note}" for note in preview.notes]
    if not preview.is_complete:
        lines.append("It stops here: no further step is possible within these budgets")
    legend = f"{_paint(OLD, 'blue', colour)} old  {_paint(NEW, 'green', colour)} new"
    return "\n".join([*lines, legend])


def _cell(step: StepLine, index: int, role: RoleLine, *, widest: int, colour: bool) -> str:
    old, new = step.old[index], step.new[index]
    numbers = f"{old:>3} old {new:>3} new"
    scale = min(1.0, BAR_WIDTH / widest)
    filled_old, filled_new = round(old * scale), round(new * scale)
    free = max(0, round(widest * scale) - filled_old - filled_new)
    bar = (
        _paint(OLD * filled_old, "blue", colour)
        + _paint(NEW * filled_new, "green", colour)
        + _paint(FREE * free, "bright_black", colour)
    )
    warning = "!" if step.available[index] < role.floor else " "
    return f"{numbers} {bar}{warning}"


def _summary(preview: Preview, index: int, role: RoleLine) -> str:
    low, high = preview.lowest[index], preview.highest[index]
    return f"{role.name}: never fewer than {low} (floor {role.floor}), at most {high} of " + str(
        role.ceiling
    )


def _paint(text: str, colour_name: str, colour: bool) -> str:
    return click.style(text, fg=colour_name) if colour and text else text
