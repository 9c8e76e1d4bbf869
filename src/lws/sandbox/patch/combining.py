"""Laying an applied value over a live one, and taking fields out of a value.

What surprised us in the real server: an applied null or empty object does not remove what a
granular object has. Items of a list come in the order of the applied value, those that it does not
name stay where they were among the others. An object or a list that loses its last member becomes
null.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

from lws.sandbox.patch import fields
from lws.sandbox.patch.fields import EMPTY, SELF, Fields
from lws.sandbox.patch.items import identity
from lws.sandbox.patch.types import LIST, MAP, Type
from lws.sandbox.patch.values import MISSING

Json = Any


def merged(live: Json, applied: Json, of: Type) -> Json:
    """The live value with what is applied; both fit the type."""
    if applied is MISSING or live is MISSING:
        return live if applied is MISSING else applied
    kind = of.kind(of.form(applied))
    if kind == MAP and not of.is_atomic_map:
        left = live if isinstance(live, dict) else {}
        right = applied if isinstance(applied, dict) else {}
        if left or right:
            return _merged_members(left, right, of)
    if kind == LIST and not of.is_atomic_list:
        lefts = live if isinstance(live, list) else []
        rights = applied if isinstance(applied, list) else []
        if lefts or rights:
            return _merged_items(lefts, rights, of)
    return applied


def _merged_members(live: dict[str, Json], applied: dict[str, Json], of: Type) -> dict[str, Json]:
    result = dict(live)
    for name, each in applied.items():
        member = of.member(name)
        assert member is not None, "the value fits the type"
        result[name] = merged(live.get(name, MISSING), each, member)
    return result


def _merged_items(live: list[Json], applied: list[Json], of: Type) -> list[Json]:
    olds = [identity(each, of) for each in live]
    news = [identity(each, of) for each in applied]
    old_items: dict[str, Json] = {}
    for element, each in zip(olds, live, strict=True):
        old_items[element] = None if element in old_items else each  # duplicates are not merged
    new_items = dict(zip(news, applied, strict=True))
    result: list[Json] = []
    for place, element in _zipped(olds, news):
        if place is not None:
            result.append(live[place])
        else:
            old = old_items.get(element, MISSING)
            result.append(merged(old, new_items[element], of.item))
    return result


def _zipped(olds: list[str], news: list[str]) -> Iterator[tuple[int | None, str]]:
    """The order of a merged list: (its place, element) for what only the live list has, else
    (None, element).

    Goes through both lists at once. Elements of both are met in the applied order: the live list
    waits at one of its own, and passes over a shared one whose turn it is not.
    """
    applied = set(news)
    known = set(olds)
    turns = deque(element for element in news if element in known)
    done: set[str] = set()
    at_old = at_new = 0

    def is_past() -> bool:
        """Is the live list's element shared, but not the one whose turn it is?"""
        element = olds[at_old]
        return element in applied and bool(turns) and turns[0] != element

    while at_old < len(olds) or at_new < len(news):
        both = at_old < len(olds) and at_new < len(news)
        if both and olds[at_old] == news[at_new]:
            at_old += 1
        elif both and is_past():
            at_old += 1
            continue
        elif at_old < len(olds):
            if olds[at_old] not in applied:
                yield at_old, olds[at_old]
                at_old += 1
                continue
            at_old += olds[at_old] in done
        if at_new < len(news):
            element = news[at_new]
            yield None, element
            done.add(element)
            at_new += 1
            if turns and turns[0] == element:
                turns.popleft()


def without(value: Json, removed: Fields, of: Type) -> Json:
    """The value without these members and items; None if nothing is left of it."""
    kind = of.kind(of.form(value))
    if kind == MAP:
        if not isinstance(value, dict) or not value or of.is_atomic_map:
            return None
        return _without_members(value, removed, of) or None
    if kind == LIST:
        if not isinstance(value, list) or not value or of.is_atomic_list:
            return None
        return _without_items(value, removed, of) or None
    return value


def _without_members(value: dict[str, Json], removed: Fields, of: Type) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for name, each in value.items():
        below = removed.get(fields.field(name), EMPTY)
        if SELF in below:
            continue
        member = of.member(name)
        assert member is not None, "the value fits the type"
        result[name] = without(each, below, member) if below else each
    return result


def _without_items(value: list[Json], removed: Fields, of: Type) -> list[Json]:
    result: list[Json] = []
    for each in value:
        below = removed.get(identity(each, of), EMPTY)
        if SELF not in below:
            result.append(without(each, below, of.item) if below else each)
    return result


def with_named(found: Fields, of: Type | None) -> Fields:
    """The set with each declared field that something below is in the set of."""
    result: Fields = {}
    for element, branch in found.items():
        if element == SELF:
            result[SELF] = EMPTY
            continue
        name = element[2:]
        is_field = element[0] == "f" and of is not None and MAP in of.kinds
        below = with_named(branch, _type_below(element, of))
        if is_field and of is not None and of.declares(name) and SELF not in below:
            below = {**below, SELF: EMPTY}
        result[element] = below
    return result


def _type_below(element: str, of: Type | None) -> Type | None:
    if of is None:
        return None
    if element[0] == "f" and MAP in of.kinds:
        return of.member(element[2:])
    return of.item if element[0] == "k" and LIST in of.kinds else None


def fitted(found: Fields, of: Type) -> Fields:
    """The set as the schema has it now: what became atomic is owned as a whole.

    The same set if nothing is to be changed.
    """
    result: Fields = {}
    changed = False
    for element, branch in found.items():
        fit = branch if element == SELF else _fitted_branch(element, branch, of)
        changed = changed or fit is not branch
        result[element] = fit
    return result if changed else found


def _fitted_branch(element: str, branch: Fields, of: Type) -> Fields:
    below = _type_for(element, of)
    if below is None or (kind := below.kinds[0]) not in (MAP, LIST):
        return branch
    if kind == MAP and below.takes_only_the_unknown():
        return branch
    is_whole = len(branch) == 1 and SELF in branch
    is_atomic = below.is_atomic_map if kind == MAP else below.is_atomic_list
    if not is_atomic:
        return branch if is_whole else fitted(branch, below)
    return branch if is_whole else fields.LEAF


def _type_for(element: str, of: Type) -> Type | None:
    if of.kinds[0] == LIST:
        return of.item
    return of.member(element[2:]) if element[0] == "f" else of.element
