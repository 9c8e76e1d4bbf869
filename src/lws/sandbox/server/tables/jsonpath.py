"""JSON paths as far as printer columns use them: fields, indexes, wildcards, equality filters."""

import re
from typing import Any

_STEP = re.compile(
    r"""\.?\['((?:[^'\\]|\\.)*)'\]   # ['a.b/c']
      | \[\?\(@\.([^=<>!)\s]+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\s*\)\]   # [?(@.a=="b")]
      | \[(-?\d+|\*)\]
      | \.((?:[^.\[\\]|\\.)+)""",
    re.VERBOSE,
)


def values_at(obj: Any, path: str) -> list[Any]:
    """All values at a path; none, if the path leads nowhere."""
    values, position = [obj], 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            return []
        values = [found for value in values for found in _step(value, match)]
        position = match.end()
    return values


def _step(value: Any, match: re.Match[str]) -> list[Any]:
    quoted, field, first, second, third, index, name = match.groups()
    if field is not None:
        wanted = next(one for one in (first, second, third) if one is not None)
        return [one for one in _items(value) if _is(values_at(one, f".{field}"), wanted)]
    if index is not None:
        return _indexed(value, index)
    key = quoted if quoted is not None else re.sub(r"\\(.)", r"\1", name)
    if key == "*":
        return _items(value)
    if isinstance(value, dict) and key in value and value[key] is not None:
        return [value[key]]
    return []


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _is(found: list[Any], wanted: str) -> bool:
    return any((str(one).lower() if isinstance(one, bool) else str(one)) == wanted for one in found)


def _indexed(value: Any, index: str) -> list[Any]:
    if index == "*":
        return _items(value)
    number = int(index)
    if isinstance(value, list) and -len(value) <= number < len(value):
        return [value[number]]
    return []
