"""A preview as a picture: for each role its bars over the steps, floor and ceiling drawn in."""

from collections.abc import Iterator
from html import escape

from lws.cli.plan.preview import Preview, RoleLine

BAR, GAP = 26, 8
ROW_HEIGHT, ROW_SPACE = 120, 56
LEFT, TOP = 150, 64
OLD_COLOUR, NEW_COLOUR, LINE_COLOUR = "#8fb3d9", "#3a9d5d", "#b03a2e"
FONT = 'font-family="ui-sans-serif, system-ui, sans-serif"'


def render(preview: Preview) -> str:
    """A whole SVG document; readable on white, also without colours (old is hatched lighter)."""
    width = LEFT + len(preview.steps) * (BAR + GAP) + 110
    height = TOP + len(preview.roles) * (ROW_HEIGHT + ROW_SPACE) + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(preview.title)}">'
    )
    parts = [
        head,
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(16, 26, preview.title, size=15, weight="600"),
        _legend(16, 46),
    ]
    for index in range(len(preview.roles)):
        parts += _row(preview, index, TOP + index * (ROW_HEIGHT + ROW_SPACE))
    return "\n".join([*parts, "</svg>", ""])


def _row(preview: Preview, index: int, top: int) -> Iterator[str]:
    role = preview.roles[index]
    most = max(preview.highest[index], role.ceiling, 1)
    unit = (ROW_HEIGHT - 16) / most
    base = top + ROW_HEIGHT
    yield _text(16, base - ROW_HEIGHT / 2, role.name, size=13, weight="600")
    for number, step in enumerate(preview.steps):
        x = LEFT + number * (BAR + GAP)
        old, new = step.old[index] * unit, step.new[index] * unit
        yield _bar(x, base - old, old, OLD_COLOUR)
        yield _bar(x, base - old - new, new, NEW_COLOUR)
        label = f"{step.old[index]}+{step.new[index]}"
        yield _text(x + BAR / 2, base - old - new - 4, label, size=9, anchor="middle")
        yield _text(x + BAR / 2, base + 14, str(number), size=9, anchor="middle")
    yield from _bounds(preview, role, base=base, unit=unit)


def _bounds(preview: Preview, role: RoleLine, *, base: float, unit: float) -> Iterator[str]:
    right = LEFT + len(preview.steps) * (BAR + GAP)
    for value, name in ((role.floor, "floor"), (role.ceiling, "ceiling")):
        y = base - value * unit
        yield (
            f'<line x1="{LEFT - 8}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" '
            f'stroke="{LINE_COLOUR}" stroke-width="1" stroke-dasharray="4 3"/>'
        )
        yield _text(right + 6, y + 4, f"{name} {value}", size=10, fill=LINE_COLOUR)


def _bar(x: float, y: float, height: float, colour: str) -> str:
    return f'<rect x="{x}" y="{y:.1f}" width="{BAR}" height="{height:.1f}" fill="{colour}"/>'


def _legend(x: float, y: float) -> str:
    return "".join(
        (
            f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{OLD_COLOUR}"/>',
            _text(x + 15, y, "old revision", size=11),
            f'<rect x="{x + 100}" y="{y - 9}" width="10" height="10" fill="{NEW_COLOUR}"/>',
            _text(x + 115, y, "new revision", size=11),
        )
    )


def _text(
    x: float,
    y: float,
    content: str,
    *,
    size: int,
    anchor: str = "start",
    **style: str,
) -> str:
    weight, fill = style.get("weight", "400"), style.get("fill", "#222222")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}" {FONT}>{escape(content)}</text>'
    )
