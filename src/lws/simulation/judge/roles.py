"""Rules about the roles of a DisaggregatedSet: how many groups of one there are.

Counted are replicas: what a role's LeaderWorkerSet does with its own is judged in `groups`.
"""

from collections.abc import Iterator

from lws.api import names
from lws.simulation.acts import Act
from lws.simulation.judge.books import Books
from lws.simulation.judge.wire import (
    Json,
    annotations_of,
    budgets,
    is_terminating,
    labels_of,
    owner_of,
    place_of,
    uid_of,
)

Role = tuple[str, str]
"""Slice and role."""


def role_changed(
    books: Books, act: Act, new: Json | None, old: Json | None
) -> Iterator[tuple[str, str]]:
    """A write to a role's LeaderWorkerSet, before the books know of it."""
    lws = new if new is not None else old
    assert lws is not None, "a write has an object"
    whole = _set_of(books, lws)
    if whole is None or act.is_late or is_terminating(whole):
        return
    before, after = _replicas(old), _replicas(new)
    if before == after:
        return
    bounds = _bounds(books, act, whole, lws)
    if bounds is None:
        return
    most, least = bounds
    others = [one for one in _same_role(books, lws) if place_of(one) != place_of(lws)]
    total = sum(map(_replicas, others))
    if after > before and total + after > max(most, total + before):
        yield "surge of roles", f"{place_of(lws)[1]} to {after}: {total + after} of {most}"
    if after < before and total + after < min(total + before, least):
        words = (
            f"{place_of(lws)[1]} from {before} to {after}: {total + after} groups stay of "
            f"{total + before}, {least} are to"
        )
        yield "availability of roles", words


def _bounds(books: Books, act: Act, whole: Json, lws: Json) -> tuple[int, int] | None:
    """(most, least) groups of the role; None if the spec has no such role or slice."""
    role = labels_of(lws).get(names.DS_ROLE, "")
    start = act.sent_at - act.blind_seconds
    specs = books.specs_since(uid_of(whole), start)
    index = int(labels_of(lws).get(names.DS_SLICE) or 0)
    found = [
        one
        for spec in specs
        for one in spec["roles"]
        if one["name"] == role and index < int(spec.get("slices", 1))
    ]
    if not found or len(found) < len(specs):
        return None
    if any((one.get("scaling") or {}).get("mode") == "External" for one in found):
        return None
    targets = [int(one["spec"].get("replicas", 1)) for one in found]
    both = [_role_budgets(one["spec"], target) for one, target in zip(found, targets, strict=True)]
    most = max(targets) + max(surge for surge, _ in both)
    baseline = _baseline(books, lws)
    least = min([*targets, *baseline]) - max(unavailable for _, unavailable in both)
    return most, least


def _role_budgets(spec: Json, target: int) -> tuple[int, int]:
    """Of a role, nothing said is a surge of one."""
    strategy = spec.get("rolloutStrategy") or {}
    if not strategy.get("rollingUpdateConfiguration"):
        return 1, 0
    surge, unavailable = budgets(spec, target)
    return max(surge, 1), unavailable


def _baseline(books: Books, lws: Json) -> list[int]:
    """What the role had when the update began, if one is running."""
    noted = [
        int(annotations_of(one)[names.DS_INITIAL_REPLICAS])
        for one in _same_role(books, lws)
        if annotations_of(one).get(names.DS_INITIAL_REPLICAS, "").isdecimal()
    ]
    return [sum(noted)] if noted else []


def _same_role(books: Books, lws: Json) -> list[Json]:
    owner, labels = owner_of(lws), labels_of(lws)
    wanted = labels.get(names.DS_SLICE), labels.get(names.DS_ROLE)
    return [
        one
        for one in books.all("leaderworkersets")
        if owner_of(one) == owner
        and (labels_of(one).get(names.DS_SLICE), labels_of(one).get(names.DS_ROLE)) == wanted
    ]


def _set_of(books: Books, lws: Json) -> Json | None:
    owner = owner_of(lws)
    return next((one for one in books.all("disaggregatedsets") if uid_of(one) == owner), None)


def _replicas(lws: Json | None) -> int:
    if lws is None or is_terminating(lws):
        return 0
    return int(lws["spec"].get("replicas", 1))
