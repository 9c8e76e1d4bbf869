"""The old value of each place of an object that is updated, where it can be told which it was."""

from dataclasses import dataclass
from typing import Any, Final

from lws.sandbox.schema.model import MISSING, ListType, Schema

Json = Any


@dataclass(frozen=True, slots=True)
class Old:
    """The old value of one place; MISSING if there is none or it cannot be told."""

    value: Json

    @classmethod
    def of(cls, value: Json) -> "Old":
        """A known old value."""
        return cls(value)

    @classmethod
    def unknown(cls) -> "Old":
        """There is none."""
        return _UNKNOWN

    @property
    def is_known(self) -> bool:
        """Is there an old value?"""
        return self.value is not MISSING

    def equals(self, value: Json) -> bool:
        """Did the update leave the place as it was?"""
        return self.value is not MISSING and self.value == value

    def key(self, name: str, *, is_root: bool = False) -> "Old":
        """The old value of a member."""
        if is_root and name in ("apiVersion", "kind"):
            return _UNKNOWN
        if isinstance(self.value, dict) and name in self.value:
            return Old(self.value[name])
        return _UNKNOWN

    def item(self, item: Json, schema: Schema) -> "Old":
        """The old value of a list's item: only lists with map keys tell which it was."""
        if schema.list_type is not ListType.MAP or not isinstance(item, dict):
            return _UNKNOWN
        if not isinstance(self.value, list):
            return _UNKNOWN
        wanted = _keys(item, schema)
        for one in self.value:
            if isinstance(one, dict) and _keys(one, schema) == wanted:
                return Old(one)
        return _UNKNOWN


def _keys(item: dict[str, Json], schema: Schema) -> list[Json]:
    return [item.get(key) for key in schema.list_map_keys]


_UNKNOWN: Final = Old(MISSING)
