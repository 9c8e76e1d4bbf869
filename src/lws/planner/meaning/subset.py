"""Apply by difference: does every field that we would apply already stand in the live object?

What only the live object has is somebody else's, or the server's default, and is no difference;
except in what server-side apply would replace whole (atomic maps, lists, and the maps and lists of
atomic structs). Lists that merge are matched by their keys, values are compared by meaning.

With a `manager`, the live object's managedFields are read too, and answer two questions that the
values cannot. A field that is recorded as ours but does not stand was dropped by the server (a
feature gate is off) and is no difference, unless what we applied may have been a zero or empty. One
that is recorded as ours, stands, and that we no longer apply is one: an apply would remove it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lws.api.schema.gotypes import GoField, GoType, parse_type, struct_fields
from lws.api.schema.mergekeys import ATOMIC, SET, Merge, merges_of
from lws.planner.meaning.managed import Recorded, given_up, recorded_at, recorded_fields
from lws.planner.meaning.normal import Normal, meaning_of_field, renamed
from lws.planner.meaning.paths import (
    Path,
    Step,
    field_step,
    index_step,
    item_step,
    value_step,
    written,
)
from lws.planner.meaning.rules import DROPPED_BY_SERVERS, defaults_of

_STRUCTS: Mapping[str, str] = {
    "StatefulSet": "apps.StatefulSet",
    "ControllerRevision": "apps.ControllerRevision",
    "Service": "core.Service",
    "LeaderWorkerSet": "lws.LeaderWorkerSet",
}
_NOT_COMPARED = ("apiVersion", "kind", "status")
_UNTYPED = GoType("raw")

Items = Sequence[object]


@dataclass(frozen=True, slots=True)
class _Missing:
    """The outermost thing that the live object lacks."""

    path: Path
    was_empty: bool
    """It would be missing too if what we applied last had been a zero, or empty."""


@dataclass(frozen=True, slots=True)
class _Difference:
    path: Path
    missing: _Missing | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the two objects we are; `whole`: inside something that is replaced whole."""

    go: GoType
    path: Path = ()
    merge: Merge | None = None
    whole: bool = False
    missing: _Missing | None = None

    def at(self, name: str) -> _Place:
        """A field of a struct, or a key of a map."""
        if self.go.kind == "map" and self.go.item is not None:
            return self._inner(self.go.item, field_step(name))
        field = _fields(self.go).get(name)
        if field is None:
            return self._inner(_UNTYPED, field_step(name))
        return self._inner(field.type, field_step(name), merges_of(self.go.struct).get(name))

    def inside(self, step: Step) -> _Place:
        """An item of a list."""
        return self._inner(self.go.item or _UNTYPED, step)

    def _inner(self, go: GoType, step: Step, merge: Merge | None = None) -> _Place:
        whole = self.whole or merge == ATOMIC
        return _Place(go, (*self.path, step), merge, whole, self.missing)

    def lacked(self) -> _Place:
        """The same place, where the live object has nothing."""
        if self.missing is not None:
            return self
        is_atomic_list = self.go.kind == "list" and not isinstance(self.merge, tuple)
        speaks = self.go.pointer or self.go.kind == "raw" or is_atomic_list
        return replace(self, missing=_Missing(self.path, was_empty=not speaks))

    def differs(self) -> _Difference:
        return _Difference(self.path, self.missing)


def differing_fields(
    desired: Mapping[str, object],
    live: Mapping[str, object],
    *,
    kind: str,
    manager: str | None = None,
) -> list[str]:
    """Paths of the fields that an apply would change; empty: it would change nothing."""
    want = {name: value for name, value in desired.items() if name not in _NOT_COMPARED}
    struct = _STRUCTS.get(kind)
    root = _Place(_UNTYPED if struct is None else parse_type(struct))
    record = recorded_fields(live, manager) if manager else {}
    found = [each.path for each in _differences(want, live, root) if not _dropped(each, record)]
    return [written(path) for path in (*found, *given_up(record, want, live))]


def _dropped(difference: _Difference, record: Recorded) -> bool:
    """Whether the server took it from our apply and left it out."""
    missing = difference.missing
    if missing is None:
        return False
    if written(difference.path) in DROPPED_BY_SERVERS:
        return True
    recorded = recorded_at(missing.path, record)
    return recorded is not None and (bool(recorded) or not missing.was_empty)


def _differences(want: object, have: object, place: _Place) -> Iterator[_Difference]:
    if want is None:
        return
    if have is None:
        place = place.lacked()
    if isinstance(want, Mapping) and (have is None or isinstance(have, Mapping)):
        yield from _in_fields(want, have, place)
    elif isinstance(want, list | tuple) and (have is None or isinstance(have, list | tuple)):
        yield from _in_items(want, have, place)
    elif _meaning(want, place.go) != _meaning(have, place.go):
        yield place.differs()


def _meaning(value: object, go: GoType) -> Normal | None:
    return None if value is None else meaning_of_field(value, go)


def _in_fields(
    want: Mapping[str, object], have: Mapping[str, object] | None, place: _Place
) -> Iterator[_Difference]:
    stands: Mapping[str, object] = have or {}
    alike = True
    for name, each in want.items():
        ours = renamed(each, place.go.struct, name)
        theirs = renamed(stands.get(name), place.go.struct, name)
        for difference in _differences(ours, theirs, place.at(name)):
            alike = False
            yield difference
    if have is None and alike and _meaning(want, place.go) is not None:
        yield place.differs()  # that it is there says something
    if place.whole:
        for name in sorted(stands.keys() - want.keys()):
            # A single value may be a default of the server's; maps and lists have none.
            if stands[name] and (place.go.kind == "map" or not _is_single(stands[name])):
                yield place.at(name).differs()


def _is_single(value: object) -> bool:
    return not isinstance(value, Mapping | list | tuple)


def _in_items(want: Items, have: Items | None, place: _Place) -> Iterator[_Difference]:
    stands: Items = have or ()
    if isinstance(place.merge, tuple) and not place.whole:
        yield from _in_merged_items(want, stands, place, place.merge)
    elif place.merge == SET and not place.whole:
        for each in want:
            if each not in stands:
                yield place.inside(value_step(each)).lacked().differs()
    elif len(want) != len(stands):
        yield place.differs()
    else:
        for index, (ours, theirs) in enumerate(zip(want, stands, strict=True)):
            yield from _differences(ours, theirs, place.inside(index_step(index)))


def _in_merged_items(
    want: Items, have: Items, place: _Place, names: tuple[str, ...]
) -> Iterator[_Difference]:
    item = place.go.item or _UNTYPED
    left: dict[str, list[object]] = {}
    for each in have:
        left.setdefault(item_step(_keys(each, item, names)).record, []).append(each)
    for each in want:
        step = item_step(_keys(each, item, names))
        inside = place.inside(step)
        matching = left.get(step.record)
        if matching:
            yield from _differences(each, matching.pop(0), inside)
        else:
            yield inside.lacked().differs()


def _keys(item: object, go: GoType, names: tuple[str, ...]) -> dict[str, object]:
    """What tells the item apart, defaults filled in."""
    given = item if isinstance(item, Mapping) else {}
    defaults = defaults_of(go.struct)
    return {name: defaults.get(name) if given.get(name) is None else given[name] for name in names}


def _fields(go: GoType) -> Mapping[str, GoField]:
    return struct_fields(go.struct) if go.kind == "struct" else {}
