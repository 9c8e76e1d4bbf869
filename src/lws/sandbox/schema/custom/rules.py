"""Rules in CEL (`x-kubernetes-validations`) on an object and on its change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lws.sandbox.schema.custom.cel_values import cel_value
from lws.sandbox.schema.custom.correlation import Old
from lws.sandbox.schema.custom.expressions import evaluator, program, reason
from lws.sandbox.schema.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    omitted_invalid,
    required,
)
from lws.sandbox.schema.model import Rule, Schema

Json = Any


def rule_errors(obj: Json, schema: Schema, old: Json = None) -> list[FieldError]:
    """The rules that do not hold; UnsupportedError for one that we cannot evaluate."""
    known = Old.of(old) if old is not None else Old.unknown()
    return list(_at(obj, schema, "", _Place(known, is_unchanged=False)))


@dataclass(frozen=True, slots=True)
class _Place:
    """The old value here, and whether all of this was there before the update."""

    old: Old
    is_unchanged: bool

    def key(self, name: str) -> "_Place":
        """A member's."""
        return self._inner(self.old.key(name))

    def item(self, item: Json, schema: Schema) -> "_Place":
        """An item's."""
        return self._inner(self.old.item(item, schema))

    def _inner(self, old: Old) -> "_Place":
        return _Place(old, is_unchanged=self.is_unchanged)


def _at(value: Json, schema: Schema, path: str, place: _Place) -> Iterator[FieldError]:
    if value is None:
        return
    here = _Place(place.old, is_unchanged=place.is_unchanged or place.old.equals(value))
    for rule in schema.rules:
        yield from _judge(rule, value, schema, path=path, place=here)
    for part in schema.all_of:
        yield from _at(value, part, path, place)
    if isinstance(value, dict):
        for name, member in value.items():
            known = schema.properties.get(name)
            if known is not None and not (schema.is_embedded_resource and name == "metadata"):
                inner = f"{path}.{name}" if path else name
                yield from _at(member, known, inner, here.key(name))
            elif known is None and schema.additional is not None:
                yield from _at(member, schema.additional, f"{path}[{name}]", here.key(name))
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from _at(item, schema.items, f"{path}[{index}]", here.item(item, schema))


def _judge(
    rule: Rule, value: Json, schema: Schema, *, path: str, place: _Place
) -> Iterator[FieldError]:
    compiled = program(rule.rule)
    if compiled.uses_old and not place.old.is_known and not rule.optional_old_self:
        return
    names = _names(rule, value, schema, place)
    field = path or "<nil>"
    try:
        holds = compiled.run(names)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        yield invalid(field, schema.type, f"{reason(error)} evaluating rule: {_short(rule)}")
        return
    if holds is True or (place.is_unchanged and not compiled.uses_old):
        return
    yield _fault(rule, value, schema, field=_with_field_path(path, rule), names=names)


def _names(rule: Rule, value: Json, schema: Schema, place: _Place) -> dict[str, Json]:
    names = {"self": cel_value(value, schema)}
    old = cel_value(place.old.value, schema) if place.old.is_known else None
    if rule.optional_old_self:
        optional = evaluator().OptionalValue
        names["oldSelf"] = optional.of(old) if place.old.is_known else optional.none()
    elif place.old.is_known:
        names["oldSelf"] = old
    return names


def _with_field_path(path: str, rule: Rule) -> str:
    inner = re.sub(r"\['([^']*)'\]", r"[\1]", rule.field_path)
    return (path + inner).removeprefix(".") or "<nil>"


def _fault(
    rule: Rule, value: Json, schema: Schema, *, field: str, names: dict[str, Json]
) -> FieldError:
    detail = _message(rule, names)
    is_whole = schema.type in ("object", "array")
    match rule.reason:
        case "FieldValueForbidden":
            return forbidden(field, detail)
        case "FieldValueRequired":
            return required(field, detail)
        case "FieldValueDuplicate":
            return duplicate(field, None if is_whole else value)
    return omitted_invalid(field, detail) if is_whole else invalid(field, value, detail)


def _message(rule: Rule, names: dict[str, Json]) -> str:
    if rule.message_expression:
        try:
            said = program(rule.message_expression).run(names)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
            said = None
        if isinstance(said, str) and said.strip() and "\n" not in said.strip():
            return said.strip()
    return rule.message.strip() or f"failed rule: {rule.rule.strip()}"


def _short(rule: Rule) -> str:
    return rule.message.strip() or rule.rule.strip()
