"""Custom resources: what their definitions' schemas do to their objects."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.schema.custom.definition import structural_errors
from lws.sandbox.schema.custom.embedded import embedded_errors
from lws.sandbox.schema.custom.lists import list_errors
from lws.sandbox.schema.custom.reading import read_crd_schema
from lws.sandbox.schema.custom.rules import rule_errors
from lws.sandbox.schema.custom.shaping import apply_defaults, prune
from lws.sandbox.schema.custom.values import value_errors
from lws.sandbox.schema.errors import (
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    invalid,
)
from lws.sandbox.schema.model import Schema

__all__ = ["apply_defaults", "prune", "read_crd_schema", "structural_errors", "validate"]

_BLOCKING = frozenset((NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID))
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation"
)


def validate(
    obj: Mapping[str, Any], schema: Schema, old: Mapping[str, Any] | None = None
) -> list[FieldError]:
    """What is wrong with a pruned and defaulted object, its metadata aside.

    With `old` as an update: what an update leaves as it was is not held against it. Rules in CEL
    are looked at if nothing else is badly wrong. UnsupportedError if a rule needs a function that
    we do not have.
    """
    faults = value_errors(obj, schema, old)
    faults += embedded_errors(obj, schema)
    if old is None or not list_errors(old, schema):
        faults += list_errors(obj, schema)
    if not has_rules(schema):
        return faults
    if any(fault.reason in _BLOCKING for fault in faults):
        return [*faults, invalid("<nil>", None, _UNCHECKED)]
    return faults + rule_errors(obj, schema, old)


def has_rules(schema: Schema) -> bool:
    """Is there any rule in CEL, here or below?"""
    found = _HAS_RULES.get(id(schema))
    if found is None or found[0] is not schema:
        found = (schema, bool(schema.rules) or any(has_rules(one) for one in _below(schema)))
        _HAS_RULES[id(schema)] = found
    return found[1]


_HAS_RULES: dict[int, tuple[Schema, bool]] = {}


def _below(schema: Schema) -> list[Schema]:
    inner = [*schema.all_of, *schema.any_of, *schema.one_of]
    inner += [one for one in (schema.additional, schema.items, schema.negated) if one is not None]
    return [*schema.properties.values(), *inner]
