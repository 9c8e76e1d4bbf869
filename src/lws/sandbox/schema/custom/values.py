"""A value against its schema, as the server's OpenAPI validator has it: same faults, same words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lws.sandbox.schema.custom.correlation import Old
from lws.sandbox.schema.custom.formats import FORMATS
from lws.sandbox.schema.custom.numbers import number_faults
from lws.sandbox.schema.custom.strings import string_fault
from lws.sandbox.schema.errors import (
    FieldError,
    invalid,
    not_supported,
    required,
    shown,
    too_many,
    type_invalid,
)
from lws.sandbox.schema.model import Schema

Json = Any


@dataclass(slots=True)
class Result:
    """Faults, and how many checks were passed: of several alternatives the nearest is told."""

    faults: list[FieldError] = field(default_factory=list)
    matches: int = 0

    def add(self, other: "Result") -> None:
        """Both together."""
        self.faults += other.faults
        self.matches += other.matches


def value_errors(obj: Json, schema: Schema, old: Json = None) -> list[FieldError]:
    """What is wrong with the whole object, its own metadata aside."""
    correlation = Old.of(old) if old is not None else Old.unknown()
    return _check(obj, schema, "", correlation).faults


def _check(value: Json, schema: Schema, path: str, old: Old) -> Result:
    result = Result()
    types = _types(schema)
    fault = _type_fault(value, schema, types, path)
    result.faults += [fault] if fault else []
    result.matches += 0 if fault else 1
    if value is not None:
        for check in _CHECKS:
            result.add(check(value, schema, path, old))
        result.matches += 1
    result.faults += _enum_faults(value, schema, path)
    if result.faults and old.equals(value):
        result.faults = []
    return result


def _types(schema: Schema) -> tuple[str, ...]:
    if schema.int_or_string:
        return ("integer", "string")
    return (schema.type,) if schema.type else ()


def json_type(value: Json) -> str:
    """What a schema calls the value's type."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if value is None:
        return "null"
    return "array" if isinstance(value, list) else "object"


def _type_fault(
    value: Json, schema: Schema, types: tuple[str, ...], path: str
) -> FieldError | None:
    found = json_type(value)
    if not types or (value is None and schema.nullable):
        return None
    is_number = "number" in types or "integer" in types
    if found in ("string", "array") and schema.format in FORMATS and not is_number:
        return None  # the format's own check says it
    is_whole = found == "number" and value.is_integer() and "integer" in types
    is_wider = found == "integer" and "number" in types
    if found in types or is_whole or is_wider:
        return None
    if found not in ("string", "array", "null") and schema.format in _TYPED_FORMATS:
        return _type_error(path, schema.format, _GO_FORMATS.get(found, ""))
    return _type_error(path, ",".join(types), found)


_TYPED_FORMATS = frozenset(("int32", "int64", "float", "double", *FORMATS))
_GO_FORMATS = {"integer": "int64", "number": "float64"}


def _type_error(path: str, wanted: str, found: str) -> FieldError:
    return type_invalid(name_of(path), found, f'{path} in body must be of type {wanted}: "{found}"')


def name_of(path: str) -> str:
    """The path as the error names it; the root has none."""
    return path.removeprefix(".") or "<nil>"


def _enum_faults(value: Json, schema: Schema, path: str) -> list[FieldError]:
    if not schema.enum or any(_is_same(value, one) for one in schema.enum):
        return []
    words = tuple(one if isinstance(one, str) else shown(one) for one in schema.enum)
    return [not_supported(name_of(path), value, words)]


def _is_same(value: Json, other: Json) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _check_alternatives(value: Json, schema: Schema, path: str, old: Old) -> Result:
    result = Result()
    if schema.any_of:
        result.add(_any_of(value, schema, path, old))
    if schema.one_of:
        result.add(_one_of(value, schema, path, old))
    if schema.all_of:
        result.add(_all_of(value, schema, path, old))
    if schema.negated is not None and not _check(value, schema.negated, path, old).faults:
        result.faults.append(_whole(f'"{path}" must not validate the schema (not)'))
    return result


def _whole(message: str) -> FieldError:
    return invalid("<nil>", "", message)


def _any_of(value: Json, schema: Schema, path: str, old: Old) -> Result:
    results = [_check(value, one, path, old) for one in schema.any_of]
    for one in results:
        if not one.faults:
            return one
    best = max(results, key=lambda one: one.matches)
    message = f'"{path}" must validate at least one schema (anyOf)'
    return Result([_whole(message), *best.faults], best.matches)


def _one_of(value: Json, schema: Schema, path: str, old: Old) -> Result:
    results = [_check(value, one, path, old) for one in schema.one_of]
    good = [one for one in results if not one.faults]
    if len(good) == 1:
        return good[0]
    head = f'"{path}" must validate one and only one schema (oneOf). '
    if good:
        return Result([_whole(f"{head}Found {len(good)} valid alternatives")])
    best = max(results, key=lambda one: one.matches)
    return Result([_whole(f"{head}Found none valid"), *best.faults], best.matches)


def _all_of(value: Json, schema: Schema, path: str, old: Old) -> Result:
    merged = Result()
    failed = 0
    for one in schema.all_of:
        found = _check(value, one, path, old)
        failed += bool(found.faults)
        merged.add(found)
    if failed:
        nobody = ". None validated" if failed == len(schema.all_of) else ""
        merged.faults.append(_whole(f'"{path}" must validate all the schemas (allOf){nobody}'))
    return merged


def _check_string(value: Json, schema: Schema, path: str, old: Old) -> Result:
    del old
    if not isinstance(value, str):
        return Result()
    fault = string_fault(value, schema, path=path, name=name_of(path))
    return Result([fault]) if fault else Result(matches=1)


def _check_format(value: Json, schema: Schema, path: str, old: Old) -> Result:
    del old
    check = FORMATS.get(schema.format)
    if check is None or not isinstance(value, str):
        return Result()
    if check(value):
        return Result(matches=1)
    message = f'{path} in body must be of type {schema.format}: "{value}"'
    return Result([type_invalid(name_of(path), value, message)])


def _check_number(value: Json, schema: Schema, path: str, old: Old) -> Result:
    del old
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Result()
    faults = number_faults(value, schema, path=path, name=name_of(path))
    return Result(faults, 0 if faults else 1)


def _check_list(value: Json, schema: Schema, path: str, old: Old) -> Result:
    if not isinstance(value, list):
        return Result()
    result = Result(matches=1)
    if schema.items is not None:
        for index, item in enumerate(value):
            inner = old.item(item, schema)
            result.add(_check(item, schema.items, f"{path}[{index}]", inner))
    name, count = name_of(path), len(value)
    if schema.min_items is not None and count < schema.min_items:
        message = f"{path} in body should have at least {schema.min_items} items"
        result.faults.append(invalid(name, count, message))
    if schema.max_items is not None and count > schema.max_items:
        result.faults.append(too_many(name, count, schema.max_items))
    if schema.unique_items and any(one in value[:index] for index, one in enumerate(value)):
        result.faults.append(invalid(name, "", f"{path} in body shouldn't contain duplicates"))
    return result


def _check_object(value: Json, schema: Schema, path: str, old: Old) -> Result:
    if not isinstance(value, Mapping):
        return Result()
    result = Result(_count_faults(value, schema, path))
    for name, member in value.items():
        known = schema.properties.get(name) or schema.additional
        if known is None or (schema.is_embedded_resource and name == "metadata"):
            continue
        inner = f"{path}.{name}" if path or name not in schema.properties else name
        result.add(_check(member, known, inner, old.key(name, is_root=not path)))
    for name in sorted(schema.required):
        if name not in value:
            result.faults.append(required(name_of(f"{path}.{name}")))
    return result


def _count_faults(value: Mapping[str, Json], schema: Schema, path: str) -> list[FieldError]:
    name, count = name_of(path), len(value)
    if schema.min_properties is not None and count < schema.min_properties:
        message = f"{path} in body should have at least {schema.min_properties} properties"
        return [invalid(name, count, message)]
    if schema.max_properties is not None and count > schema.max_properties:
        return [too_many(name, count, schema.max_properties)]
    return []


_CHECKS: tuple[Callable[[Json, Schema, str, Old], Result], ...] = (
    _check_alternatives,
    _check_string,
    _check_format,
    _check_number,
    _check_list,
    _check_object,
)
