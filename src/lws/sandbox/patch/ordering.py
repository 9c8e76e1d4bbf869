"""The order of a merged list, and what identifies an item of one.

Items that the patch names come in its order; those that only the server has stay in theirs. The
two are zipped: one of the server's goes first if it stood before the other.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.values import plain, type_name

Json = Any
Key = tuple[type, Json]

PATCH: Final = "$patch"
ORDER: Final = "$setElementOrder"


def is_directive(value: Json) -> bool:
    """An object that says what to do in the place of what it is."""
    return isinstance(value, dict) and PATCH in value


def merge_key_of(item: Mapping[str, Json], key: str) -> Json:
    """The value of an item's merge key; PatchError if it has none."""
    if key not in item:
        raise PatchError(
            f"map: {plain(dict(item))} does not contain declared merge key: {key}", 500
        )
    return item[key]


def identity(value: Json) -> Key:
    """1, 1.0 and true are three scalars; objects and lists are nothing to look up by."""
    if isinstance(value, (dict, list)):
        raise PatchError("an object or a list cannot identify an item of a list", 500)
    return type(value), value


def check_order(patch: list[Json], order: list[Json], key: str) -> None:
    """The patch's items have to come in the order's order, and all be in it."""
    if not order or not patch:
        return
    waiting = [each for each in patch if not (is_directive(each) and each[PATCH] == "delete")]
    at = next_in_order = 0
    while at < len(waiting) and next_in_order < len(order):
        if is_directive(waiting[at]):
            at += 1
            continue
        if identity_in(waiting[at], key) == identity_in(order[next_in_order], key):
            at += 1
        next_in_order += 1
    if at < len(waiting):
        raise PatchError(
            f"The order in patch list:\n{plain(patch)}\n doesn't match {ORDER} list:\n"
            f"{plain(order)}\n",
            500,
        )


def identity_in(item: Json, key: str) -> Key:
    """By merge key; of a list of scalars, without one, by itself."""
    if not key:
        return identity(item)
    if not isinstance(item, dict):
        raise PatchError(
            f"expected a map[string]interface {{}}, but received a {type_name(item)}", 500
        )
    return identity(merge_key_of(item, key))


def ordered(merged: list[Json], order: list[Json], before: list[Json], key: str) -> list[Json]:
    """Items of the order by the order, the others by their old places, zipped by old places."""
    wanted, old = _places(order, key), _places(before, key)
    listed = [each for each in merged if identity_in(each, key) in wanted]
    others = [each for each in merged if identity_in(each, key) not in wanted]
    listed, others = _sorted_by(listed, wanted, key), _sorted_by(others, old, key)
    return _zipped(others, listed, old, key)


def _places(items: Iterable[Json], key: str) -> dict[Key, int]:
    places: dict[Key, int] = {}
    for place, each in enumerate(items):
        places.setdefault(identity_in(each, key), place)
    return places


def _sorted_by(items: list[Json], places: Mapping[Key, int], key: str) -> list[Json]:
    """By place. An item without one goes before all that came before it, as in the server."""
    result: list[tuple[int | None, Json]] = []
    for each in items:
        place = places.get(identity_in(each, key))
        at = len(result)
        while at and _goes_before(place, result[at - 1][0]):
            at -= 1
        result.insert(at, (place, each))
    return [each for _, each in result]


def _goes_before(place: int | None, other: int | None) -> bool:
    return place is None or other is None or place < other


def _zipped(left: list[Json], right: list[Json], places: Mapping[Key, int], key: str) -> list[Json]:
    """Both lists in one: an item of the left first only if its old place says so."""
    result: list[Json] = []
    lefts, rights = list(reversed(left)), list(reversed(right))
    while lefts and rights:
        one = places.get(identity_in(lefts[-1], key))
        other = places.get(identity_in(rights[-1], key))
        left_first = one is not None and other is not None and one < other
        result.append((lefts if left_first else rights).pop())
    return result + lefts[::-1] + rights[::-1]
