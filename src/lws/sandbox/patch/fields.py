"""Sets of fields, and the FieldsV1 that they are written as.

A set is a tree of dicts by path element, written as in FieldsV1: `f:NAME` a field, `k:{...}` an
item of a list by its keys, `v:VALUE` an item of a set, `i:N` by index. An element that is in the
set itself, and not only something below it, has the entry `.`; the tree has no empty branches.
Trees are never changed after they are made, so they may share branches.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from lws.sandbox.patch.values import number, shown

Json = Any
Fields = dict[str, Any]

SELF: Final = "."
EMPTY: Final[Fields] = {}
LEAF: Final[Fields] = {SELF: EMPTY}


class MalformedFieldsError(ValueError):
    """Not a FieldsV1."""


def field(name: str) -> str:
    """The path element of a field."""
    return f"f:{name}"


def key(values: Mapping[str, Json]) -> str:
    """The path element of a list's item by its key fields."""
    return "k:" + _compact({name: values[name] for name in sorted(values)})


def item(value: Json) -> str:
    """The path element of a set's item."""
    return "v:" + _compact(value)


def _compact(value: Json) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        inner = ",".join(f"{_text(name)}:{_compact(value[name])}" for name in value)
        return "{" + inner + "}"
    if isinstance(value, list):
        return f"[{','.join(map(_compact, value))}]"
    return number(value) if isinstance(value, float) else json.dumps(value)


def _text(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isascii() and not any(sign in quoted for sign in "<>&\x7f"):
        return quoted
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    escapes |= {"\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(sign, sign) for sign in quoted)


# Algebra


def of_paths(paths: tuple[tuple[str, ...], ...]) -> Fields:
    """The set of these paths (of field names)."""
    result: Fields = {}
    for path in paths:
        branch = result
        for name in path:
            branch = branch.setdefault(field(name), {})
        branch[SELF] = EMPTY
    return result


def union(left: Fields, right: Fields) -> Fields:
    """What is in either."""
    if left is right or not right:
        return left
    if not left:
        return right
    result = dict(left)
    for element, branch in right.items():
        known = result.get(element)
        result[element] = branch if known is None else union(known, branch)
    return result


def intersection(left: Fields, right: Fields) -> Fields:
    """What is in both."""
    result: Fields = {}
    for element, branch in left.items():
        other = right.get(element)
        if other is None:
            continue
        if element == SELF:
            result[SELF] = EMPTY
        elif common := intersection(branch, other):
            result[element] = common
    return result


def difference(left: Fields, right: Fields) -> Fields:
    """What is in the left and not in the right; what lies below is looked at by itself.

    The left itself if the right has nothing of it.
    """
    result: Fields = {}
    is_other = False
    for element, branch in left.items():
        other = right.get(element)
        if other is None:
            result[element] = branch
            continue
        rest = EMPTY if element == SELF else difference(branch, other)
        is_other = is_other or rest is not branch or element == SELF
        if rest:
            result[element] = rest
    return result if is_other else left


def without(left: Fields, right: Fields) -> Fields:
    """What is in the left, but nothing that the right has, nor anything below it."""
    if not right:
        return left
    result: Fields = {}
    for element, branch in left.items():
        other = right.get(element)
        if other is None:
            result[element] = branch
        elif SELF not in other and element != SELF and (rest := without(branch, other)):
            result[element] = rest
    return result


def has(fields: Fields, path: tuple[str, ...]) -> bool:
    """Is the path itself (of path elements) in the set?"""
    for element in path:
        if element not in fields:
            return False
        fields = fields[element]
    return bool(path) and SELF in fields


def paths(fields: Fields) -> Iterator[tuple[str, ...]]:
    """Every path of the set; at each level all that are in it, then what lies below."""
    yield from _paths(fields, ())


def _paths(fields: Fields, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    elements = sorted((each for each in fields if each != SELF), key=order)
    for element in elements:
        if SELF in fields[element]:
            yield (*above, element)
    for element in elements:
        yield from _paths(fields[element], (*above, element))


# Order and words


@lru_cache(maxsize=16384)
def order(element: str) -> tuple[int, Any]:
    """Sorts path elements: fields, keys, values, indexes."""
    sort, text = element[0], element[2:]
    if sort == "f":
        return (0, text)
    if sort == "k":
        return (1, tuple((name, _value_order(value)) for name, value in json.loads(text).items()))
    return (2, _value_order(json.loads(text))) if sort == "v" else (3, int(text))


def _value_order(value: Json) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, (int, float)):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    if isinstance(value, list):
        return (3, tuple(map(_value_order, value)))
    if isinstance(value, dict):
        return (4, tuple((name, _value_order(each)) for name, each in sorted(value.items())))
    return (5, 0)


@lru_cache(maxsize=16384)
def words(element: str) -> str:
    """A path element as messages have it: `.spec`, `[name="main"]`, `[="x"]`, `[0]`."""
    sort, text = element[0], element[2:]
    if sort == "f":
        return f".{text}"
    if sort == "i":
        return f"[{text}]"
    value = json.loads(text)
    if sort == "v":
        return f"[={shown(value)}]"
    return f"[{','.join(f'{name}={shown(each)}' for name, each in value.items())}]"


def path_words(path: tuple[str, ...]) -> str:
    """A path as messages have it."""
    return "".join(map(words, path))


# FieldsV1


def to_json(fields: Fields) -> Json:
    """The set as a FieldsV1, in the server's order."""
    result: Json = {}
    for element in sorted(fields, key=_written_order):
        if element == SELF:
            result[SELF] = {}
            continue
        branch = fields[element]
        result[element] = {} if len(branch) == 1 and SELF in branch else to_json(branch)
    return result


def _written_order(element: str) -> tuple[int, Any]:
    return (-1, "") if element == SELF else order(element)


def read_text(text: bytes) -> tuple[Fields, Json]:
    """The set of a FieldsV1's JSON text, and the FieldsV1 in the one form that the server writes.

    Remembers the last ones: most are of objects that differ in nothing of it.
    """
    return _read_text(text)


@lru_cache(maxsize=2048)
def _read_text(text: bytes) -> tuple[Fields, Json]:
    found = from_json(json.loads(text))
    return found, to_json(found)


def from_json(written: Json) -> Fields:
    """The set of a FieldsV1; elements of kinds that we do not know are left out, as in the server.

    Raises MalformedFieldsError.
    """
    if written is None:
        return EMPTY
    fields = _read(written)
    return {element: branch for element, branch in fields.items() if element != SELF}


def _read(written: Json) -> Fields:
    if not isinstance(written, dict):
        raise MalformedFieldsError("a FieldsV1 is an object of objects")
    result: Fields = {}
    for text, inner in written.items():
        if text == SELF:
            result[SELF] = EMPTY
            continue
        element = _canonical(text)
        if element:
            branch = _read(inner)
            result[element] = union(result.get(element, EMPTY), branch)
    return result if len(result) > (SELF in result) else LEAF


@lru_cache(maxsize=16384)
def _canonical(text: str) -> str:
    if len(text) < 2 or text[1] != ":":
        raise MalformedFieldsError(f"{text!r} is no path element")
    readers: dict[str, Callable[[str], str]] = {
        "f": field,
        "k": lambda rest: key(_object(rest)),
        "v": lambda rest: item(json.loads(rest)),
        "i": lambda rest: f"i:{int(rest)}",
    }
    reader = readers.get(text[0])
    try:
        return reader(text[2:]) if reader else ""
    except ValueError as problem:
        raise MalformedFieldsError(f"{text!r} is no path element") from problem


def _object(text: str) -> dict[str, Json]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise MalformedFieldsError(f"{text!r} is no object")
    return value
