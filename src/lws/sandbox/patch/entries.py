"""metadata.managedFields: one entry for each manager, operation, version and subresource."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from lws.base.times import format_time, parse_time
from lws.sandbox.patch import fields
from lws.sandbox.patch.fields import Fields, MalformedFieldsError
from lws.sandbox.patch.values import quoted

Json = Any
JsonObject = dict[str, Any]

APPLY: Final = "Apply"
UPDATE: Final = "Update"
MOST_UPDATERS: Final = 10
ANCIENT: Final = "ancient-changes"


class Manager(NamedTuple):
    """Who an entry is of. An applier is the same one in every version of the kind."""

    name: str
    operation: str
    api_version: str
    subresource: str

    @property
    def written(self) -> str:
        """As the server writes it; it sorts managers by this."""
        parts = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        kept = {name: value for name, value in parts.items() if value}
        return json.dumps(kept, separators=(",", ":"))

    @property
    def words(self) -> str:
        """As messages have it: `"kubectl" with subresource "status" using apps/v1`."""
        text = quoted(self.name)
        if self.subresource:
            text += f" with subresource {quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text


def updater(name: str, api_version: str, subresource: str) -> Manager:
    """Who creates, updates or patches."""
    return Manager(name or "unknown", UPDATE, api_version, subresource)


def applier(name: str, subresource: str) -> Manager:
    """Who applies."""
    return Manager(name or "unknown", APPLY, "", subresource)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a manager owns, and since when; an entry may have no time."""

    fields: Fields
    api_version: str
    time: str = ""
    written: Json = None
    """The fields as FieldsV1, if that is known."""

    def with_fields(self, owned: Fields) -> "Entry":
        """The entry with other fields; the same if they are the same ones."""
        return self if owned is self.fields else Entry(owned, self.api_version, self.time)

    @property
    def seconds(self) -> int:
        """The time, to sort by."""
        try:
            return int(parse_time(self.time)) if self.time else 0
        except ValueError:
            return 0


Entries = dict[Manager, Entry]


class MalformedEntriesError(ValueError):
    """Not managedFields; the message is the server's."""


def read(written: Json) -> Entries:
    """The entries of an object's managedFields (None and [] have none)."""
    if written is None:
        return {}
    if not isinstance(written, list):
        raise MalformedEntriesError("managedFields is a list")
    result: Entries = {}
    for index, each in enumerate(written):
        manager, entry = _entry(each, index)
        result[manager] = entry
    return result


def _entry(written: Json, index: int) -> tuple[Manager, Entry]:
    if not isinstance(written, dict):
        raise MalformedEntriesError("an entry of managedFields is an object")
    operation, api_version = written.get("operation"), written.get("apiVersion")
    if operation not in (APPLY, UPDATE):
        raise MalformedEntriesError("operation must be `Apply` or `Update`")
    if not isinstance(api_version, str) or not api_version:
        raise MalformedEntriesError("apiVersion must not be empty")
    sort = written.get("fieldsType") or ""
    if sort != "FieldsV1":
        what = f"invalid fieldsType {json.dumps(sort)}" if sort else "missing fieldsType"
        raise MalformedEntriesError(f"{what} in managed fields entry {index}")
    manager = Manager(
        str(written.get("manager") or ""),
        operation,
        "" if operation == APPLY else api_version,
        str(written.get("subresource") or ""),
    )
    try:
        owned, canonical = fields.read_text(orjson.dumps(written.get("fieldsV1")))
    except (MalformedFieldsError, TypeError) as problem:
        raise MalformedEntriesError(f"error decoding set: {problem}") from problem
    return manager, Entry(owned, api_version, str(written.get("time") or ""), canonical)


def write(entries: Entries) -> list[JsonObject]:
    """The managedFields: appliers first, then by time, manager, version, subresource."""

    def place(item: tuple[Manager, Entry]) -> tuple[str, int, str, str, str]:
        manager, entry = item
        return (
            manager.operation,
            entry.seconds,
            manager.name,
            entry.api_version,
            manager.subresource,
        )

    return [_written(manager, entry) for manager, entry in sorted(entries.items(), key=place)]


def _written(manager: Manager, entry: Entry) -> JsonObject:
    parts: JsonObject = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": entry.api_version,
        "time": entry.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields.to_json(entry.fields) if entry.written is None else entry.written,
        "subresource": manager.subresource,
    }
    return {name: value for name, value in parts.items() if value != ""}


def without_empty(entries: Entries) -> Entries:
    """Who owns nothing has no entry."""
    return {manager: entry for manager, entry in entries.items() if entry.fields}


def taken_from_all(entries: Entries, taken: Fields, *, but: Manager | None) -> Entries:
    """The entries without these fields, except one manager's."""
    return without_empty(
        {
            manager: entry
            if manager == but
            else entry.with_fields(fields.difference(entry.fields, taken))
            for manager, entry in entries.items()
        }
    )


def capped(entries: Entries) -> Entries:
    """At most ten updaters: the oldest of a version become one, called `ancient-changes`.

    If another one is as old (of the same second) and sorts before it, `ancient-changes` is lost.
    """
    updaters = [manager for manager in entries if manager.operation == UPDATE]
    excess = len(updaters) - MOST_UPDATERS
    if excess <= 0:
        return entries
    result = dict(entries)
    firsts: dict[str, Manager] = {}
    for manager in sorted(updaters, key=lambda each: (entries[each].seconds, each.written)):
        if excess <= 0:
            break
        entry = entries[manager]
        bucket = updater(ANCIENT, entry.api_version, "")
        first = firsts.setdefault(entry.api_version, manager)
        if first == manager:
            continue
        if bucket not in result:
            result[bucket] = result.pop(first)
        together = fields.union(entry.fields, result[bucket].fields)
        result[bucket] = Entry(together, entry.api_version, entry.time)
        del result[manager]  # in the real server, too, the bucket itself if it is not the oldest
        excess -= 1
    return result


def now_words(seconds: float) -> str:
    """A moment as an entry has it."""
    return format_time(seconds)


def union_of(entries: Iterable[Entry]) -> Fields:
    """Whatever anybody owns."""
    result: Fields = {}
    for entry in entries:
        result = fields.union(result, entry.fields)
    return result
