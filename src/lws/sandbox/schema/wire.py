"""What an object is after a trip through the server's Go types.

Unknown fields are gone, nulls too, quantities and times are canonical, empty optional values are
left out, and what Go always writes is there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from string import ascii_letters, digits
from typing import Any, NamedTuple

from lws.api.quantities import canonical_quantity
from lws.base.times import format_micro_time, format_time, parse_time
from lws.sandbox.schema.errors import DecodeError
from lws.sandbox.schema.tables import (
    EXTENSIONS,
    INT_OR_STRING,
    JSON,
    MICRO_TIME,
    QUANTITY,
    RAW,
    TIME,
    Definition,
    definitions,
    wire,
)

Json = Any


class Place(NamedTuple):
    """Where a value stands, as Go's messages say it: innermost struct, path of names, Go type."""

    struct: str = ""
    path: str = ""
    go_type: str = ""

    def problem(self, value: Json) -> DecodeError:
        """The value is of a type that cannot stand here."""
        target = self.go_type.lstrip("*")
        found = go_word(value)
        if not self.struct:
            return DecodeError(f"json: cannot unmarshal {found} into Go value of type {target}")
        field = f"{self.struct}.{self.path}"
        return DecodeError(
            f"json: cannot unmarshal {found} into Go struct field {field} of type {target}"
        )


Reader = Callable[[Json, Place], Json]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    go_type: str
    word: str
    omits_empty: bool
    omits_zero: bool
    embedded: str
    read: Reader
    is_text: bool
    is_pointer: bool


@dataclass(slots=True)
class Struct:
    """One Go struct; `fields` is filled after it is made, since types hold themselves."""

    name: str
    fields: dict[str, _Field]
    always: tuple[_Field, ...] = ()

    def read(self, value: Json, place: Place) -> dict[str, Json]:
        """The struct's JSON; null is the zero value."""
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise place.problem(value)
        out: dict[str, Json] = {}
        path = f"{place.path}." if place.path else ""
        for name, member in value.items():
            field = self.fields.get(name)
            if field is None or member is None:
                continue
            if field.is_text and type(member) is str:  # most are; the rest has places to name
                read = member
            else:
                here = Place(self.name, path + field.embedded + name, field.go_type)
                read = field.read(member, here)
            if read or not _is_omitted(field, read):
                out[name] = read
        for field in self.always:
            if field.name not in out:
                out[field.name] = _zero(field)
        return out


def decoded(name: str, obj: Mapping[str, Json]) -> dict[str, Json]:
    """An object of the definition; DecodeError if a value is of a wrong type."""
    struct = _struct(name)
    return struct.read(obj, Place(go_type=f"v1.{struct.name}"))


def decoded_part(name: str, value: Json) -> dict[str, Json]:
    """A part of an object that is of the definition, as if it stood alone."""
    struct = _struct(name)
    return struct.read(value, Place(go_type=f"v1.{struct.name}"))


def go_word(value: Json) -> str:
    """What Go calls a JSON value in its messages."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _is_omitted(field: _Field, value: Json) -> bool:
    if field.is_pointer:
        return False
    if field.omits_zero and value in (None, {}, "", 0):
        return True
    return field.omits_empty and field.word not in _NEVER_EMPTY and not value


_NEVER_EMPTY = frozenset(("struct", "time", "quantity", "intorstring", "raw", "any"))
_ZEROS: Mapping[str, Json] = {
    "string": "",
    "int": 0,
    "float": 0,
    "bool": False,
    "quantity": "0",
    "intorstring": 0,
}


def _zero(field: _Field) -> Json:
    if field.word == "struct":
        return field.read({}, Place())
    return _ZEROS.get(field.word)


def _is_always_written(field: _Field) -> bool:
    if field.omits_zero:
        return False
    return not field.omits_empty or field.word in _NEVER_EMPTY


@cache
def _struct(name: str) -> Struct:
    made = Struct(name.rpartition(".")[2], {})
    _BEING_MADE[name] = made
    properties = definitions()[name].get("properties", {})
    for field_name, flags, word, go_type, embedded in wire()[name]:
        reader = _reader(properties.get(field_name, {}), word)
        made.fields[field_name] = _Field(
            field_name,
            go_type,
            word,
            "e" in flags,
            "z" in flags,
            embedded,
            reader,
            is_text=reader is _read_string,
            is_pointer=word.startswith("*"),
        )
    made.always = tuple(one for one in made.fields.values() if _is_always_written(one))
    del _BEING_MADE[name]
    return made


_BEING_MADE: dict[str, Struct] = {}


def _reader(definition: Definition, word: str = "") -> Reader:
    reference = definition.get("$ref")
    if reference is not None:
        return _READERS.get(reference) or (_BEING_MADE.get(reference) or _struct(reference)).read
    match definition.get("type"):
        case "array":
            return _list_reader(_reader(definition["items"]))
        case "object":
            values = definition.get("additionalProperties", {})
            if values.get("type") == "array":
                return _map_reader(_kept_if_empty(_reader(values)))
            return _map_reader(_reader(values))
        case "string":
            return _read_bytes if definition.get("format") == "byte" else _read_string
        case "boolean":
            return _read_bool
        case "integer":
            return _read_int
        case "number":
            return _read_number
    assert word in ("", "any", "*any", "raw", "time"), word
    return _read_anything


def _list_reader(read_item: Reader) -> Reader:
    def read(value: Json, place: Place) -> Json:
        if not isinstance(value, list):
            raise place.problem(value)
        inner = Place(place.struct, place.path, place.go_type.lstrip("*").removeprefix("[]"))
        return [read_item(item, inner) for item in value] or None

    return read


def _kept_if_empty(read: Reader) -> Reader:
    """In a map, a list of nothing and no list are themselves."""
    return lambda value, place: value if value is None or value == [] else read(value, place)


def _map_reader(read_value: Reader) -> Reader:
    def read(value: Json, place: Place) -> Json:
        if not isinstance(value, dict):
            raise place.problem(value)
        element = place.go_type.partition("]")[2]
        inner = Place(place.struct, place.path, element or "resource.Quantity")
        return {key: read_value(each, inner) for key, each in value.items()} or None

    return read


def _read_string(value: Json, place: Place) -> Json:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise place.problem(value)
    return value


def _read_bytes(value: Json, place: Place) -> Json:
    """Base64, as Go reads it: line ends do not count."""
    text = _read_string(value, place)
    plain = text.replace("\r", "").replace("\n", "")
    bad = next((at for at, one in enumerate(text) if one not in _BASE64), None)
    if bad is not None or len(plain) % 4:
        at = len(text) if bad is None else bad
        raise DecodeError(f"illegal base64 data at input byte {at}")
    return plain


_BASE64 = frozenset(ascii_letters + digits + "+/=\r\n")


def _read_bool(value: Json, place: Place) -> Json:
    if not isinstance(value, bool):
        raise place.problem(value)
    return value


_INT32 = ("int32", "*int32")


def _read_int(value: Json, place: Place) -> Json:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.problem(value)
    bits = 31 if place.go_type in _INT32 else 63
    if isinstance(value, float) or not -(2**bits) <= value < 2**bits:
        field = f"{place.struct}.{place.path}"
        raise DecodeError(
            f"json: cannot unmarshal number {value} into Go struct field {field} of type"
            f" {place.go_type.lstrip('*')}"
        )
    return value


def _read_number(value: Json, place: Place) -> Json:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.problem(value)
    return value


def _read_anything(value: Json, place: Place) -> Json:
    del place
    return value


def _read_object(value: Json, place: Place) -> Json:
    if value is not None and not isinstance(value, dict):
        raise place.problem(value)
    return value


def _read_quantity(value: Json, place: Place) -> Json:
    del place
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return canonical_quantity(value)
        except ValueError:
            pass
    raise DecodeError(
        "quantities must match the regular expression"
        " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )


def _read_int_or_string(value: Json, place: Place) -> Json:
    if isinstance(value, str):
        return value
    here = Place(place.struct, place.path, "int32")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise here.problem(value)
    return _read_int(value, here)


def _time_reader(write: Callable[[float], str], layout: str) -> Reader:
    @lru_cache(4096)
    def canonical(text: str) -> str:
        return write(parse_time(text))

    def read(value: Json, place: Place) -> Json:
        del place
        if not isinstance(value, str):
            raise DecodeError(
                f"json: cannot unmarshal {go_word(value)} into Go value of type string"
            )
        try:
            return canonical(value)
        except ValueError as error:
            raise DecodeError(
                f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"'
            ) from error

    return read


def _read_schema_or_bool(value: Json, place: Place) -> Json:
    return value if isinstance(value, bool) else _read_json_schema(value, place)


def _read_schema_or_list(value: Json, place: Place) -> Json:
    if isinstance(value, list):
        return [_read_json_schema(one, place) for one in value]
    return _read_json_schema(value, place)


def _read_json_schema(value: Json, place: Place) -> Json:
    name = f"{EXTENSIONS}.JSONSchemaProps"
    return (_BEING_MADE.get(name) or _struct(name)).read(value, place)


_READERS: Mapping[str, Reader] = {
    QUANTITY: _read_quantity,
    INT_OR_STRING: _read_int_or_string,
    TIME: _time_reader(format_time, "2006-01-02T15:04:05Z07:00"),
    MICRO_TIME: _time_reader(format_micro_time, "2006-01-02T15:04:05.000000Z07:00"),
    **dict.fromkeys(RAW, _read_object),
    JSON: _read_anything,
    f"{EXTENSIONS}.JSONSchemaPropsOrBool": _read_schema_or_bool,
    f"{EXTENSIONS}.JSONSchemaPropsOrArray": _read_schema_or_list,
    f"{EXTENSIONS}.JSONSchemaPropsOrStringArray": _read_anything,
}
