"""Tables of text."""

from collections.abc import Sequence

import click


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell, colours not counted; each row with as many cells."""
    widths = [
        max(len(click.unstyle(row[column])) for row in rows) for column in range(len(rows[0]))
    ]
    return [
        "  ".join(
            cell + " " * (width - len(click.unstyle(cell)))
            for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
