"""The columns that a custom resource definition names."""

from typing import Any

from lws.sandbox.server.kinds import Column, Kind
from lws.sandbox.server.tables.jsonpath import values_at
from lws.sandbox.server.tables.layout import Cells, Layout, name_of, since

JsonObject = dict[str, Any]


def custom_layout(kind: Kind) -> Layout:
    """Name, then what the definition says."""

    def cells(obj: JsonObject, now: float) -> Cells:
        return [name_of(obj), *(_cell(one, obj, now) for one in kind.columns[1:])]

    return Layout(kind.columns, cells)


def _cell(column: Column, obj: JsonObject, now: float) -> Any:
    found = values_at(obj, column.json_path)
    if not found:
        return "" if column.type == "string" else None
    value = found[0]
    match column.type:
        case "integer":
            return value if isinstance(value, int) and not isinstance(value, bool) else None
        case "number":
            return value if isinstance(value, int | float) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return since(value, now) if isinstance(value, str) else "<unknown>"
    return _text(found)


def _text(found: list[Any]) -> str:
    return " ".join(_shown(one) for one in found)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        inner = " ".join(f"{key}:{_shown(value[key])}" for key in sorted(value))
        return f"map[{inner}]"
    if isinstance(value, list):
        return f"[{' '.join(_shown(one) for one in value)}]"
    return "<nil>" if value is None else str(value)
