"""What identifies an item of a list that is owned item by item."""

from functools import lru_cache
from typing import Any

from lws.sandbox.patch import fields
from lws.sandbox.patch.types import Type
from lws.sandbox.patch.values import MISSING

Json = Any


class MisfitError(ValueError):
    """A value does not fit the schema as apply sees it."""


class UnidentifiedError(MisfitError):
    """An item has no identity; the message is the server's."""


def identity(item: Json, of: Type) -> str:
    """The path element of an item of a list of this type (a set, or a list of maps by keys).

    A key field that is missing is taken for its default; without a default it is left out.
    """
    return _by_keys(item, of) if of.keys else _by_value(item)


def _by_keys(item: Json, of: Type) -> str:
    if item is None:
        raise UnidentifiedError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise UnidentifiedError("associative list with keys may not have non-map elements")
    values = [item.get(name, MISSING) for name in of.keys]
    if MISSING in values:
        values = [
            of.item.default(name) if value is MISSING else value
            for name, value in zip(of.keys, values, strict=True)
        ]
    try:
        element = _element(of.keys, *values)
    except TypeError:  # an object or a list as a key
        found = zip(of.keys, values, strict=True)
        element = fields.key({name: value for name, value in found if value is not MISSING})
    if not element:
        names = " ".join(f'"{name}"' for name in of.keys)
        raise UnidentifiedError(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return element


@lru_cache(maxsize=16384, typed=True)
def _element(names: tuple[str, ...], *values: Json) -> str:
    found = zip(names, values, strict=True)
    known = {name: value for name, value in found if value is not MISSING}
    return fields.key(known) if known else ""


def _by_value(item: Json) -> str:
    if isinstance(item, dict):
        raise UnidentifiedError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise UnidentifiedError("not supported: associative list with lists as elements")
    if item is None:
        raise UnidentifiedError(
            "associative list without keys has an element that's an explicit null"
        )
    return fields.item(item)
