"""Does a value fit the type that apply sees? The server asks before anything else."""

from collections.abc import Iterator
from typing import Any

from lws.sandbox.patch import fields
from lws.sandbox.patch.items import UnidentifiedError, identity
from lws.sandbox.patch.types import LIST, MAP, Type
from lws.sandbox.patch.values import json_kind, plain, quoted, type_name

Json = Any


def misfits(value: Json, of: Type, *, allows_duplicates: bool = False) -> list[str]:
    """What does not fit, in the server's words; empty if all does."""
    return [
        f"{path}: {complaint}" if path else complaint
        for path, complaint in _misfits(value, of, "", allows_duplicates)
    ]


def words(complaints: list[str]) -> str:
    """One complaint as it is, several as a list."""
    if len(complaints) == 1:
        return complaints[0]
    return "\n  ".join(["errors:", *complaints])


def _misfits(
    value: Json, of: Type, path: str, allows_duplicates: bool
) -> Iterator[tuple[str, str]]:
    kind = of.kind(of.form(value))
    if value is None:
        return
    if kind == MAP:
        yield from _object_misfits(value, of, path, allows_duplicates)
    elif kind == LIST:
        yield from _list_misfits(value, of, path, allows_duplicates)
    else:
        complaint = _scalar_misfit(value, of.scalar)
        if complaint:
            yield path, complaint


def _object_misfits(
    value: Json, of: Type, path: str, allows_duplicates: bool
) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield path, f"expected map, got &{{{plain(value)}}}"
        return
    for name, each in value.items():
        member = of.member(name)
        if member is None:
            yield f"{path}.{name}", "field not declared in schema"
            return
        yield from _misfits(each, member, f"{path}.{name}", allows_duplicates)


def _list_misfits(
    value: Json, of: Type, path: str, allows_duplicates: bool
) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield path, f"expected list, got &{{{plain(value)}}}"
        return
    seen: set[str] = set()
    for index, each in enumerate(value):
        element = f"i:{index}"
        if not of.is_atomic_list:
            try:
                element = identity(each, of)
            except UnidentifiedError as problem:
                yield path, f"element {index}: {problem}"
                return
            if element in seen and not allows_duplicates:
                yield path, f"duplicate entries for key {fields.words(element)}"
            seen.add(element)
        yield from _misfits(each, of.item, path + fields.words(element), allows_duplicates)


def _scalar_misfit(value: Json, scalar: str) -> str:
    is_container = isinstance(value, (dict, list))
    found = "" if is_container else json_kind(value)
    if scalar == "numeric" and found != "number":
        return f"expected numeric (int or float), got {type_name(value)}"
    if scalar == "string" and found != "string":
        return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
    if scalar == "boolean" and found != "bool":
        return f"expected boolean, got &{{{plain(value)}}}"
    if not scalar and is_container:
        return f"expected any scalar, got &{{{plain(value)}}}"
    return ""


def _literal(value: Json) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{quoted(name)}:{_literal(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    return "interface {}(nil)" if value is None else plain(value)
