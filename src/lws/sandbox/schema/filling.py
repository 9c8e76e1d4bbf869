"""Walks an object of a built-in kind and lets each type fill in its defaults."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from lws.sandbox.schema.defaults import BY_DEFINITION
from lws.sandbox.schema.tables import Definition, definitions

JsonObject = dict[str, Any]

# How a field leads to values of another type: itself, its items, its values.
_ITSELF, _ITEMS, _VALUES = range(3)


def fill_defaults(name: str, obj: JsonObject) -> None:
    """Fill in an object of the definition, in place, from the outside in."""
    setter = BY_DEFINITION.get(name)
    if setter is not None:
        setter(obj)
    for field, (way, inner) in _paths(name).items():
        value = obj.get(field)
        if not value and value != {}:
            continue
        for part in _parts(value, way):
            fill_defaults(inner, part)


def _parts(value: Any, way: int) -> Iterator[JsonObject]:
    if way == _ITSELF:
        yield value
    elif way == _ITEMS:
        yield from value
    else:
        yield from value.values()


@cache
def _paths(name: str) -> Mapping[str, tuple[int, str]]:
    """The fields that lead to a type with defaults."""
    found = {}
    for field, definition in definitions()[name].get("properties", {}).items():
        step = _step(definition)
        if step is not None and _has_defaults(step[1], frozenset()):
            found[field] = step
    return found


def _step(definition: Definition) -> tuple[int, str] | None:
    for way, part in (
        (_ITSELF, definition),
        (_ITEMS, definition.get("items", {})),
        (_VALUES, definition.get("additionalProperties", {})),
    ):
        if "$ref" in part:
            return way, part["$ref"]
    return None


def _has_defaults(name: str, seen: frozenset[str]) -> bool:
    if name in BY_DEFINITION:
        return True
    if name in seen:
        return False
    steps = map(_step, definitions()[name].get("properties", {}).values())
    return any(_has_defaults(step[1], seen | {name}) for step in steps if step is not None)
