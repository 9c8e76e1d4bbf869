"""Numbers that are typed."""

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """A range that lets no `nan` and no `inf` through: whatever is compared with `nan` is false."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number typed, if it is one."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return number
