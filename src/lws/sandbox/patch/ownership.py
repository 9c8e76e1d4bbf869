"""The set of fields that a value has, and what changed between two values as such sets.

What surprised us in the real server: an object is owned itself only if it is empty or no declared
field; an empty list is owned by nobody; of items of a list with the same identity only the
identity is owned.
"""

from dataclasses import dataclass
from typing import Any, Final

import orjson

from lws.sandbox.patch import fields
from lws.sandbox.patch.fields import EMPTY, LEAF, SELF, Fields
from lws.sandbox.patch.items import MisfitError, identity
from lws.sandbox.patch.types import LIST, MAP, SCALAR, Type
from lws.sandbox.patch.values import MISSING, same

Json = Any
_SCALARS: Final = (str, int, bool, float)


def owned(value: Json, of: Type) -> Fields:
    """All fields and items that the value has. The value fits the type."""
    kind = of.kind(of.form(value))
    if kind == SCALAR:
        return LEAF
    if kind == MAP:
        if of.is_atomic_map:
            return LEAF
        return _owned_members(value, of) if isinstance(value, dict) else EMPTY
    if of.is_atomic_list:
        return LEAF
    return _owned_items(value, of) if isinstance(value, list) else EMPTY


def _owned_members(value: dict[str, Json], of: Type) -> Fields:
    result: Fields = {}
    for name, each in value.items():
        member = of.member(name)
        assert member is not None, "the value fits the type"
        branch = owned(each, member)
        if SELF not in branch and (each is None or each == {} or not of.declares(name)):
            branch = {**branch, SELF: EMPTY}
        if branch:
            result[fields.field(name)] = branch
    return result


def _owned_items(value: list[Json], of: Type) -> Fields:
    result: Fields = {}
    for each in value:
        element = identity(each, of)
        if element in result:
            result[element] = LEAF
        else:
            result[element] = {**owned(each, of.item), SELF: EMPTY}
    return result


@dataclass(frozen=True, slots=True)
class Changes:
    """What a new value adds, changes and removes."""

    added: Fields
    modified: Fields
    removed: Fields

    def without(self, ignored: Fields) -> "Changes":
        """But for these fields and all below them."""
        if not ignored:
            return self
        return Changes(
            added=fields.without(self.added, ignored),
            modified=fields.without(self.modified, ignored),
            removed=fields.without(self.removed, ignored),
        )

    @property
    def taken(self) -> Fields:
        """What is the writer's now."""
        return fields.union(self.added, self.modified)


def changes(old: dict[str, Json], new: dict[str, Json], of: Type) -> Changes:
    """What the new object changes. Raises MisfitError if one does not fit the type, at least if
    that matters here."""
    found = _Found()
    for name in dict.fromkeys([*old, *new]):
        left, right = old.get(name, MISSING), new.get(name, MISSING)
        if left is not right and not _are_one_text(left, right):
            found.descend(fields.field(name), left, right, _member(of, name))
    return Changes(found.added, found.modified, found.removed)


def _are_one_text(left: Json, right: Json) -> bool:
    """A quick look at large parts that are mostly the same."""
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    try:
        return orjson.dumps(left) == orjson.dumps(right)
    except TypeError:  # an integer of more than 64 bits
        return False


def _member(of: Type, name: str) -> Type:
    member = of.member(name)
    if member is None:
        raise MisfitError(f"no field {name}")
    return member


def _everything(value: Json, of: Type) -> Fields:
    """All that comes or goes with a value, the objects and lists in it, too."""
    kind = of.kind(of.form(value))
    result: Fields = {}
    if kind == MAP and not of.is_atomic_map and isinstance(value, dict):
        for name, each in value.items():
            result[fields.field(name)] = _everything(each, _member(of, name))
    elif kind == LIST and not of.is_atomic_list and isinstance(value, list):
        for each in value:
            element = identity(each, of)
            result[element] = LEAF if element in result else _everything(each, of.item)
    if not result:
        return LEAF
    result[SELF] = EMPTY
    return result


class _Found:
    """The changes at one place and below it."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added: Fields = {}
        self.modified: Fields = {}
        self.removed: Fields = {}

    def descend(self, element: str, old: Json, new: Json, of: Type) -> None:
        """Look below this element."""
        if old is new or (old.__class__ is new.__class__ in _SCALARS and old == new):
            return
        if old is MISSING:
            self.added[element] = _everything(new, of)
        elif new is MISSING:
            self.removed[element] = _everything(old, of)
        else:
            below = _Found()
            below.compare(old, new, of)
            if below.added:
                self.added[element] = below.added
            if below.modified:
                self.modified[element] = below.modified
            if below.removed:
                self.removed[element] = below.removed

    def compare(self, old: Json, new: Json, of: Type) -> None:
        """Both are there. Of two kinds of values, as the old one's and as the new one's."""
        old_form, new_form = of.form(old), of.form(new)
        if old_form != new_form:
            self._compare_as(of.kind(old_form), old, new, of)
        self._compare_as(of.kind(new_form), old, new, of)

    def _compare_as(self, kind: str, old: Json, new: Json, of: Type) -> None:
        if kind == MAP and not of.is_atomic_map:
            left = old if isinstance(old, dict) else None
            right = new if isinstance(new, dict) else None
            if left or right:
                self._compare_members(left or {}, right or {}, of)
                return
        if kind == LIST and not of.is_atomic_list:
            lefts = old if isinstance(old, list) else None
            rights = new if isinstance(new, list) else None
            if lefts or rights:
                self._compare_items(lefts or [], rights or [], of)
                return
        if not same(old, new):
            self.modified[SELF] = EMPTY

    def _compare_members(self, old: dict[str, Json], new: dict[str, Json], of: Type) -> None:
        for name, left in old.items():
            self.descend(fields.field(name), left, new.get(name, MISSING), _member(of, name))
        for name, right in new.items():
            if name not in old:
                self.descend(fields.field(name), MISSING, right, _member(of, name))

    def _compare_items(self, old: list[Json], new: list[Json], of: Type) -> None:
        lefts, rights = _by_identity(old, of), _by_identity(new, of)
        for element in dict.fromkeys([*lefts, *rights]):
            left, right = lefts.get(element, []), rights.get(element, [])
            if len(left) > 1 and len(right) > 1:
                if not same(left, right):
                    self.modified[element] = LEAF
                continue
            one = left[0] if len(left) == 1 else MISSING
            other = right[0] if len(right) == 1 else MISSING
            if one is not MISSING or other is not MISSING:
                self.descend(element, one, other, of.item)
            self._mark_doubles(element, left, right)

    def _mark_doubles(self, element: str, left: list[Json], right: list[Json]) -> None:
        """Of items with one identity only the identity is there, and comes or goes."""
        if len(left) > 1:
            self.removed[element] = fields.union(self.removed.get(element, EMPTY), LEAF)
        elif len(right) > 1:
            self.added[element] = fields.union(self.added.get(element, EMPTY), LEAF)


def _by_identity(items: list[Json], of: Type) -> dict[str, list[Json]]:
    result: dict[str, list[Json]] = {}
    for each in items:
        result.setdefault(identity(each, of), []).append(each)
    return result
