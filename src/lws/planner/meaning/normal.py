"""The normal form of an object: equal for two objects that mean the same.

It is made of dicts, lists and strings; each leaf is a string (`leaves`), so that `true` and `1`
differ. Fields that no table knows (of a newer Kubernetes) are kept and compared as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lws.api.schema.gotypes import GoType, struct_fields
from lws.planner.meaning.leaves import is_zero, leaf, zero
from lws.planner.meaning.rules import (
    EMPTY_SAYS_NOTHING,
    NOT_TEMPLATE,
    OTHER_NAMES,
    defaults_of,
)

Normal = str | list["Normal"] | dict[str, "Normal"]

_NONE: Final[frozenset[str]] = frozenset()


def normal_struct(value: Mapping[str, object], struct: str) -> dict[str, Normal]:
    """The normal form of an object of this Go type."""
    fields, ignored = struct_fields(struct), NOT_TEMPLATE.get(struct, _NONE)
    out: dict[str, Normal] = {}
    for name, each in value.items():
        if each is None or name in ignored:
            continue
        field = fields.get(name)
        if field is None:
            out[name] = _unknown(each)
            continue
        form = meaning_of_field(renamed(each, struct, name), field.type)
        if form is not None:
            out[name] = form
    for name, default in defaults_of(struct).items():
        if name not in out:
            form = meaning_of_field(default, fields[name].type)
            if form is not None:
                out[name] = form
    return out


def renamed(value: object, struct: str, name: str) -> object:
    others = OTHER_NAMES.get((struct, name))
    if others is None or not isinstance(value, str):
        return value
    return others.get(value, value)


def meaning_of_field(value: object, go: GoType) -> Normal | None:
    """None: it means no more than if it were absent."""
    form = _value(value, go)
    if isinstance(form, str):
        return None if not go.pointer and is_zero(form, go.kind) else form
    if form:
        return form
    says_something = go.kind == "struct" and go.pointer and go.struct not in EMPTY_SAYS_NOTHING
    return form if says_something else None


def _value(value: object, go: GoType) -> Normal:
    if go.kind == "struct":
        if value is None:
            return normal_struct({}, go.struct)
        if isinstance(value, Mapping):
            return normal_struct(value, go.struct)
    elif go.kind == "list" and isinstance(value, list | tuple):
        return [_value(each, _item(go)) for each in value]
    elif go.kind == "map" and isinstance(value, Mapping):
        return {str(key): _value(each, _item(go)) for key, each in value.items()}
    elif go.kind == "raw" or isinstance(value, Mapping | list | tuple):
        return _unknown(value)
    return zero(go.kind) if value is None else leaf(value, go.kind)


def _item(go: GoType) -> GoType:
    assert go.item is not None, "a list or a map has items"
    return go.item


def _unknown(value: object) -> Normal:
    if isinstance(value, Mapping):
        return {str(key): _unknown(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_unknown(each) for each in value]
    return leaf(value, "unknown")
