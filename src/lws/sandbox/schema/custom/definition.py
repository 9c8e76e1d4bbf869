"""Is a definition's schema structural, and may all that it says be said?"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lws.sandbox.schema.custom.expressions import compile_fault
from lws.sandbox.schema.custom.lists import list_errors
from lws.sandbox.schema.custom.reading import fingerprint, has_default, read_crd_schema
from lws.sandbox.schema.custom.shaping import prune
from lws.sandbox.schema.custom.strings import compiled
from lws.sandbox.schema.custom.values import value_errors
from lws.sandbox.schema.errors import (
    FieldError,
    UnsupportedError,
    forbidden,
    invalid,
    not_supported,
    required,
)

Source = Mapping[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_ROOT, _FIELD, _ITEM = range(3)
_EMPTY_WORDS = {
    _ROOT: "must not be empty at the root",
    _FIELD: "must not be empty for specified object fields",
    _ITEM: "must not be empty for specified array items",
}
# What a schema inside allOf, anyOf, oneOf or not may not say, and the word for its absence.
_NOT_NESTED = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_UNSUPPORTED = ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems")


def structural_errors(
    open_api_v3_schema: Source, path: str = "spec.validation.openAPIV3Schema"
) -> list[FieldError]:
    """The faults of a version's schema; without any, `read_crd_schema` may read it."""
    faults = list(_node(open_api_v3_schema, path, _ROOT))
    return faults or list(_default_faults(open_api_v3_schema, path))


class _Clean:
    """What was found without a fault once need not be looked at again, wherever it stands."""

    def __init__(self) -> None:
        self._known: set[tuple[bytes, int]] = set()

    def faults(
        self, look: Callable[[], Iterator[FieldError]], source: Source, level: int
    ) -> Iterable[FieldError]:
        """Those that `look` finds."""
        key = fingerprint(source)
        if key is not None and (key, level) in self._known:
            return ()
        found = list(look())
        if not found and key is not None and len(self._known) < _CLEAN_MAX:
            self._known.add((key, level))
        return found


_CLEAN_MAX = 50_000
_NODES, _DEFAULTS = _Clean(), _Clean()


def _node(source: Source, path: str, level: int) -> Iterable[FieldError]:
    return _NODES.faults(lambda: _node_faults(source, path, level), source, level)


def _node_faults(source: Source, path: str, level: int) -> Iterator[FieldError]:
    yield from _type_faults(source, path, level)
    yield from _extension_faults(source, path)
    yield from _keyword_faults(source, path)
    yield from _list_faults(source, path)
    yield from _rule_faults(source, path)
    yield from _metadata_faults(source, path, level)
    for name, one in (source.get("properties") or {}).items():
        yield from _node(one, f"{path}.properties[{name}]", _FIELD)
    if isinstance(source.get("items"), Mapping):
        yield from _node(source["items"], f"{path}.items", _ITEM)
    if isinstance(source.get("additionalProperties"), Mapping):
        yield from _node(source["additionalProperties"], f"{path}.additionalProperties", _FIELD)
    for nested, inner in _nested(source, path):
        yield from _nested_faults(nested, inner)


def _type_faults(source: Source, path: str, level: int) -> Iterator[FieldError]:
    kind = source.get("type") or ""
    is_whole = bool(source.get("x-kubernetes-embedded-resource"))
    may_lack = source.get("x-kubernetes-int-or-string") or source.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    elif is_whole and kind != "object":
        words = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, words) if kind else required(f"{path}.type", words)
    elif not kind and not may_lack:
        yield required(f"{path}.type", _EMPTY_WORDS[level])
    elif level == _ROOT and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if kind == "array" and not source.get("items"):
        yield required(f"{path}.items", "must be specified")


def _extension_faults(source: Source, path: str) -> Iterator[FieldError]:
    is_free = bool(source.get("x-kubernetes-preserve-unknown-fields"))
    is_whole = bool(source.get("x-kubernetes-embedded-resource"))
    if source.get("x-kubernetes-int-or-string"):
        words = "must be false if x-kubernetes-int-or-string is true"
        if is_free:
            yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", True, words)
        if is_whole:
            yield invalid(f"{path}.x-kubernetes-embedded-resource", True, words)
    if is_whole and not is_free and not source.get("properties"):
        words = (
            "must not be empty if x-kubernetes-embedded-resource is true without"
            " x-kubernetes-preserve-unknown-fields"
        )
        yield required(f"{path}.properties", words)


def _keyword_faults(source: Source, path: str) -> Iterator[FieldError]:
    if source.get("uniqueItems"):
        yield forbidden(
            f"{path}.uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        )
    if source.get("additionalProperties") is False:
        yield forbidden(
            f"{path}.additionalProperties", "additionalProperties cannot be set to false"
        )
    if source.get("additionalProperties") and source.get("properties"):
        yield forbidden(
            f"{path}.additionalProperties",
            "additionalProperties and properties are mutual exclusive",
        )
    for name in _UNSUPPORTED:
        if source.get(name):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if source.get("pattern"):
        try:
            compiled(source["pattern"])
        except re.error as error:
            words = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", source["pattern"], words)


def _list_faults(source: Source, path: str) -> Iterator[FieldError]:
    form = source.get("x-kubernetes-list-type")
    keys = source.get("x-kubernetes-list-map-keys") or []
    here = f"{path}.x-kubernetes-list-type"
    if form is not None and form not in ("atomic", "set", "map"):
        yield not_supported(here, form, ("atomic", "map", "set"))
    if form is not None and source.get("type") != "array":
        yield invalid(
            f"{path}.type",
            source.get("type") or "",
            "must be array if x-kubernetes-list-type is specified",
        )
    keys_path = f"{path}.x-kubernetes-list-map-keys"
    if form == "map" and not keys:
        yield required(keys_path, "must not be empty if x-kubernetes-list-type is map")
    if keys and form != "map":
        yield invalid(here, form or "", "must be map if x-kubernetes-list-map-keys is non-empty")
    yield from _key_faults(source, keys, path)


def _key_faults(source: Source, keys: list[str], path: str) -> Iterator[FieldError]:
    items = source.get("items") or {}
    fields = items.get("properties") or {}
    here = f"{path}.x-kubernetes-list-map-keys"
    for key in keys:
        if key not in fields:
            yield invalid(here, keys, "entries must all be names of item properties")
        elif key not in (items.get("required") or []) and "default" not in fields[key]:
            yield required(
                f"{path}.items.properties[{key}].default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a"
                " required property",
            )


def _rule_faults(source: Source, path: str) -> Iterator[FieldError]:
    for index, rule in enumerate(source.get("x-kubernetes-validations") or ()):
        here = f"{path}.x-kubernetes-validations[{index}]"
        if not str(rule.get("rule") or "").strip():
            yield required(f"{here}.rule", "rule is not specified")
            continue
        for name in ("rule", "messageExpression"):
            fault = _compile_fault(rule.get(name) or "")
            if fault:
                yield invalid(f"{here}.{name}", rule[name], f"compilation failed: {fault}")


def _compile_fault(expression: str) -> str:
    try:
        return compile_fault(expression) if expression else ""
    except UnsupportedError:
        return ""  # said when the rule is asked about an object


def _metadata_faults(source: Source, path: str, level: int) -> Iterator[FieldError]:
    metadata = (source.get("properties") or {}).get("metadata")
    is_checked = level == _ROOT or source.get("x-kubernetes-embedded-resource")
    if metadata is None or not is_checked:
        return
    here = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        yield invalid(f"{here}.type", metadata.get("type") or "", "must be object")
    others = set(metadata) - {"type", "properties", "description"}
    named = set(metadata.get("properties") or ()) - {"name", "generateName"}
    if level == _ROOT and (others or named):
        yield forbidden(
            here,
            "must not specify anything other than name and generateName, but metadata is"
            " implicitly specified",
        )


def _nested(source: Source, path: str) -> Iterator[tuple[Source, str]]:
    is_int_or_string = bool(source.get("x-kubernetes-int-or-string"))
    for name in ("allOf", "anyOf", "oneOf"):
        for index, one in enumerate(source.get(name) or ()):
            if is_int_or_string and _is_int_or_string_part(name, one):
                continue
            yield one, f"{path}.{name}[{index}]"
    if source.get("not"):
        yield source["not"], f"{path}.not"


def _is_int_or_string_part(name: str, one: Source) -> bool:
    """The one place where a nested type is allowed: either of a number or a string."""
    if name == "anyOf":
        return one in ({"type": "integer"}, {"type": "string"})
    return name == "allOf" and one == {"anyOf": [{"type": "integer"}, {"type": "string"}]}


def _nested_faults(source: Source, path: str) -> Iterator[FieldError]:
    for name, words in _NOT_NESTED.items():
        if source.get(name):
            yield forbidden(f"{path}.{name}", words)
    for name, one in (source.get("properties") or {}).items():
        inner = f"{path}.properties[{name}]"
        if name == "metadata":
            yield forbidden(inner, "must not be specified in a nested context")
        yield from _nested_faults(one, inner)
    if isinstance(source.get("items"), Mapping):
        yield from _nested_faults(source["items"], f"{path}.items")
    for nested, inner in _nested(source, path):
        yield from _nested_faults(nested, inner)


def _default_faults(source: Source, path: str) -> Iterable[FieldError]:
    return _DEFAULTS.faults(lambda: _faults_of_defaults(source, path), source, _ROOT)


def _faults_of_defaults(source: Source, path: str) -> Iterator[FieldError]:
    """Each default is an object that the schema around it would take."""
    if "default" in source and source["default"] is not None:
        schema = read_crd_schema({"type": "object", "properties": {"x": dict(source)}})
        whole, dropped = prune({"x": source["default"]}, schema)
        here = f"{path}.default"
        if dropped:
            yield invalid(here, source["default"], "must not have unknown fields")
        else:
            for fault in [*value_errors(whole, schema), *list_errors(whole, schema)]:
                where = here + fault.field.removeprefix("x")
                yield FieldError(where, fault.reason, fault.message, fault.value)
        assert has_default(schema.properties["x"]), "a default that is not null counts"
    for name, one in (source.get("properties") or {}).items():
        yield from _default_faults(one, f"{path}.properties[{name}]")
    for name in ("items", "additionalProperties"):
        if isinstance(source.get(name), Mapping):
            yield from _default_faults(source[name], f"{path}.{name}")
