"""Get and list: one object, or a page of many at one revision."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lws.sandbox.server import status
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.selectors import (
    FieldRequirement,
    Requirement,
    field_requirements,
    label_requirements,
    matches_fields,
    matches_labels,
)
from lws.sandbox.server.verbs import Listing, ListOptions
from lws.sandbox.store import Compacted, FutureRevision

JsonObject = dict[str, Any]
Place = tuple[str, str]

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105 - a version
_COMMON_FIELDS = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind."""

    kind: Kind
    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    @property
    def is_all(self) -> bool:
        """Does it choose every object?"""
        return not self.labels and not self.fields

    def includes(self, obj: JsonObject) -> bool:
        """Is the object, in its kind's version, chosen?"""
        if self.labels and not matches_labels(self.labels, obj["metadata"].get("labels") or {}):
            return False
        return not self.fields or matches_fields(self.fields, obj, self.kind.resource.kind)


def selection_of(kind: Kind, label_selector: str, field_selector: str) -> Selection:
    """The selectors of a query; ApiStatus 400 for what they are not."""
    fields: tuple[FieldRequirement, ...] = ()
    if field_selector:
        is_plain = not kind.is_custom and not kind.selectable
        known = (*_COMMON_FIELDS, *kind.selectable)
        fields = field_requirements(field_selector, known, is_plain=is_plain)
    return Selection(kind, label_requirements(label_selector), fields)


def list_objects(world: World, kind: Kind, namespace: str | None, options: ListOptions) -> Listing:
    """One page; without a limit, all."""
    selection = selection_of(kind, options.label_selector, options.field_selector)
    after, revision = ("", ""), _revision(world, options)
    if options.continue_token:
        after, revision = _continued(options)
    try:
        page = world.store.list(kind.storage, namespace=namespace, revision=revision, after=after)
    except Compacted:
        raise _forgotten(options, after) from None
    except FutureRevision as error:
        raise status.too_large_version(error.asked, error.current) from None
    return _cut(selection, page.items, revision=page.revision, limit=options.limit)


def _cut(
    selection: Selection,
    items: Sequence[tuple[Place, JsonObject]],
    *,
    revision: int,
    limit: int,
) -> Listing:
    if limit <= 0:
        chosen = [obj for _, obj in _chosen(selection, items)]
        return Listing(chosen, str(revision))
    taken: list[JsonObject] = []
    last: Place = ("", "")
    for place, obj in _chosen(selection, items):
        if len(taken) == limit:
            remaining = _remaining(items, last) if selection.is_all else None
            return Listing(taken, str(revision), _token(revision, last), remaining)
        taken.append(obj)
        last = place
    return Listing(taken, str(revision))


def _chosen(
    selection: Selection, items: Sequence[tuple[Place, JsonObject]]
) -> Iterator[tuple[Place, JsonObject]]:
    for place, stored in items:
        obj = from_stored(selection.kind, stored)
        if selection.is_all or selection.includes(obj):
            yield place, obj


def _remaining(items: Sequence[tuple[Place, JsonObject]], last: Place) -> int:
    return sum(1 for place, _ in items if place > last)


def _revision(world: World, options: ListOptions) -> int | None:
    """At which revision; None for the newest."""
    asked = options.resource_version
    if asked in ("", "0"):
        return None
    number = parse_version(asked)
    is_exact = options.resource_version_match == "Exact" or (
        options.limit > 0 and not options.resource_version_match
    )
    if number > world.store.revision:
        raise status.too_large_version(number, world.store.revision)
    return number if is_exact else None


def parse_version(text: str) -> int:
    """A resourceVersion of a query; 400 if it is none."""
    is_number = text.isascii() and text.isdecimal()
    if not is_number or int(text) >= 2**64:
        why = "value out of range" if is_number else "invalid syntax"
        raise status.bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{text}":'
            f' strconv.ParseUint: parsing "{text}": {why}'
        )
    return int(text)


def _token(revision: int, last: Place) -> str:
    """Goes on after `last`; at the newest revision, if it is negative."""
    namespace, name = last
    start = f"{namespace}/{name}" if namespace else name
    content = {"v": _TOKEN_VERSION, "rv": revision, "start": start}
    return urlsafe_b64encode(orjson.dumps(content)).decode().rstrip("=")


def _continued(options: ListOptions) -> tuple[Place, int | None]:
    """Where a token goes on, and at which revision; None: at the newest."""
    try:
        padded = options.continue_token + "=" * (-len(options.continue_token) % 4)
        content = orjson.loads(urlsafe_b64decode(padded.encode()))
        version, revision, start = content["v"], int(content["rv"]), str(content["start"])
    except (ValueError, KeyError, TypeError) as error:
        raise status.bad_request(
            f"invalid continue token: continue key is not valid: {error}"
        ) from None
    if version != _TOKEN_VERSION:
        raise status.bad_request(
            f"invalid continue token: continue key is not valid: server does not recognize this"
            f' encoded version "{version}"'
        )
    if not start:
        raise status.bad_request(
            "invalid continue token: continue key is not valid: encoded start key empty"
            f" (version {version})"
        )
    if options.resource_version not in ("", "0"):
        raise status.bad_request("specifying resource version is not allowed when using continue")
    space, _, name = start.rpartition("/")
    return (space, name), None if revision < 0 else revision


def _forgotten(options: ListOptions, after: Place) -> status.ApiStatus:
    if not options.continue_token:
        return status.expired("The resourceVersion for the provided list is too old.")
    return status.expired(
        "The provided continue parameter is too old to display a consistent list result. You can"
        " start a new list without the continue parameter, or use the continue token in this"
        " response to retrieve the remainder of the results. Continuing with the provided token"
        " results in an inconsistent list - objects that were created, modified, or deleted"
        " between the time the first chunk was returned and now may show up in the list.",
        continue_token=_token(-1, after),
    )
