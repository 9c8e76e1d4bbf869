"""The set of fields that a value has, and what changed between two values as such sets.

What surprised us in the real server: an object is owned itself only if it is empty or no declared
field; an empty list is owned by nobody; of items of a list with the same identity only the
identity is owned.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from lws.sandbox.patch import fields
from lws.sandbox.patch.fields import EMPTY, LEAF, SELF, Fields
from lws.sandbox.patch.items import identity
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
    """What a new value adds, changes and removes. No field is in two of the sets."""

    added: Fields = field(default_factory=dict)
    modified: Fields = field(default_factory=dict)
    removed: Fields = field(default_factory=dict)

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


def changes(old: Json, new: Json, of: Type) -> Changes:
    """What the new value changes; both fit the type."""
    found = Changes()
    if old is not new:
        _compare(old, new, of, found)
    for each in (found.added, found.modified, found.removed):
        each.pop(SELF, None)
    return found


def _compare(old: Json, new: Json, of: Type, found: Changes) -> None:
    old_form, new_form = of.form(old), of.form(new)
    is_leaf = False
    if new is MISSING:
        is_leaf = _compare_as(of.kind(old_form), old, new, of, found)
    elif old is MISSING or old_form == new_form:
        is_leaf = _compare_as(of.kind(new_form), old, new, of, found)
    else:
        _compare_as(of.kind(old_form), old, new, of, found)
        is_leaf = _compare_as(of.kind(new_form), old, new, of, found)
    if not is_leaf:
        if old is MISSING:
            found.added[SELF] = EMPTY
        elif new is MISSING:
            found.removed[SELF] = EMPTY


def _compare_as(kind: str, old: Json, new: Json, of: Type, found: Changes) -> bool:
    """Compare as values of this kind; are they compared as a whole?"""
    if kind == MAP and not of.is_atomic_map:
        left = old if isinstance(old, dict) else None
        right = new if isinstance(new, dict) else None
        if left or right:
            _compare_members(left or {}, right or {}, of, found)
            return False
    if kind == LIST and not of.is_atomic_list:
        lefts = old if isinstance(old, list) else None
        rights = new if isinstance(new, list) else None
        if lefts or rights:
            _compare_items(lefts or [], rights or [], of, found)
            return False
    _compare_whole(old, new, found)
    return True


def _compare_whole(old: Json, new: Json, found: Changes) -> None:
    if old is MISSING:
        found.added[SELF] = EMPTY
    elif new is MISSING:
        found.removed[SELF] = EMPTY
    elif not same(old, new):
        found.modified[SELF] = EMPTY


def _compare_members(old: dict[str, Json], new: dict[str, Json], of: Type, found: Changes) -> None:
    for name, left in old.items():
        _descend(fields.field(name), left, new.get(name, MISSING), _member(of, name), found)
    for name, right in new.items():
        if name not in old:
            _descend(fields.field(name), MISSING, right, _member(of, name), found)


def _member(of: Type, name: str) -> Type:
    member = of.member(name)
    assert member is not None, "the value fits the type"
    return member


def _descend(element: str, old: Json, new: Json, of: Type, found: Changes) -> None:
    if old is new or (old.__class__ is new.__class__ in _SCALARS and old == new):
        return
    below = Changes()
    _compare(old, new, of, below)
    for mine, its in (
        (found.added, below.added),
        (found.modified, below.modified),
        (found.removed, below.removed),
    ):
        if its:
            mine[element] = fields.union(mine.get(element, EMPTY), its)


def _compare_items(old: list[Json], new: list[Json], of: Type, found: Changes) -> None:
    lefts, rights = _by_identity(old, of), _by_identity(new, of)
    for element in dict.fromkeys([*lefts, *rights]):
        left, right = lefts.get(element, []), rights.get(element, [])
        if len(left) > 1 and len(right) > 1:
            if not same(left, right):
                found.modified[element] = LEAF
            continue
        one = left[0] if len(left) == 1 else MISSING
        other = right[0] if len(right) == 1 else MISSING
        if one is not MISSING or other is not MISSING:
            _descend(element, one, other, of.item, found)
        _mark_duplicates(element, left, right, found)


def _mark_duplicates(element: str, left: list[Json], right: list[Json], found: Changes) -> None:
    if len(left) > 1:
        found.removed[element] = fields.union(found.removed.get(element, EMPTY), LEAF)
    elif len(right) > 1:
        found.added[element] = fields.union(found.added.get(element, EMPTY), LEAF)


def _by_identity(items: list[Json], of: Type) -> dict[str, list[Json]]:
    result: dict[str, list[Json]] = {}
    for each in items:
        result.setdefault(identity(each, of), []).append(each)
    return result
