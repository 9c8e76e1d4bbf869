"""The kinds that Kubernetes brings: their schemas, defaults and rules."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.schema.definitions import schema_named
from lws.sandbox.schema.errors import FieldError
from lws.sandbox.schema.filling import fill_defaults
from lws.sandbox.schema.model import Schema
from lws.sandbox.schema.rules.kinds import RULES
from lws.sandbox.schema.tables import definition_names, wire
from lws.sandbox.schema.wire import decoded

JsonObject = dict[str, Any]

_STATUS = ("", "v1", "Status")
KINDS: tuple[tuple[str, str, str], ...] = tuple(
    sorted(key for key, name in definition_names().items() if name in wire() and key != _STATUS)
)
"""(group, version, kind) of all objects that have a schema, lists aside."""


def schema_of(group: str, version: str, kind: str) -> Schema | None:
    """The kind's schema; None if the kind is none of ours."""
    name = definition_names().get((group, version, kind))
    return schema_named(name) if name is not None else None


def defaulted(group: str, version: str, kind: str, obj: Mapping[str, Any]) -> JsonObject:
    """The object as the server's decoding and defaulting leave it; DecodeError if it does not fit.

    Nothing of it is shared with `obj` but values that the server does not look into.
    """
    name = definition_names()[group, version, kind]
    made = decoded(name, obj)
    fill_defaults(name, made)
    return made


def validated(
    group: str,
    version: str,
    kind: str,
    obj: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
) -> list[FieldError]:
    """What is wrong with a defaulted object, its own metadata aside; with `old` as an update."""
    rules = RULES.get((group, version, kind))
    return list(rules(obj, old)) if rules is not None else []
