"""Tables: what `kubectl get` shows of each kind.

Law: pure; objects in, cells out.
"""

from collections.abc import Sequence
from typing import Any

from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.tables.builtin import builtin_layout
from lws.sandbox.server.tables.custom import custom_layout
from lws.sandbox.server.tables.layout import Layout, Rows, age_layout

JsonObject = dict[str, Any]

__all__ = ["Rows", "table_rows"]


def table_rows(kind: Kind, objects: Sequence[JsonObject], *, now: float) -> Rows:
    """The columns of a kind, and the cells of its objects."""
    layout = _layout(kind)
    return Rows(layout.columns, [layout.cells(obj, now) for obj in objects])


def _layout(kind: Kind) -> Layout:
    if kind.is_custom:
        return custom_layout(kind)
    return builtin_layout(kind) or age_layout()
