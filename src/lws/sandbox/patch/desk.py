"""What is the same within one request, and who owns what after a write."""

from dataclasses import dataclass
from typing import Any, Final

from lws.sandbox.patch import entries as entry_list
from lws.sandbox.patch import fields
from lws.sandbox.patch.blanks import is_version
from lws.sandbox.patch.combining import fitted
from lws.sandbox.patch.entries import Entries, Entry, Manager
from lws.sandbox.patch.fields import Fields
from lws.sandbox.patch.items import MisfitError
from lws.sandbox.patch.ownership import Changes, changes
from lws.sandbox.patch.types import Type
from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]

UNOWNED: Final = fields.of_paths(
    (
        ("apiVersion",),
        ("kind",),
        ("metadata",),
        ("metadata", "name"),
        ("metadata", "namespace"),
        ("metadata", "creationTimestamp"),
        ("metadata", "selfLink"),
        ("metadata", "uid"),
        ("metadata", "clusterName"),
        ("metadata", "generation"),
        ("metadata", "managedFields"),
        ("metadata", "resourceVersion"),
    )
)

_types: dict[int, tuple[Schema, Type]] = {}


def type_of(schema: Schema) -> Type:
    """The schema as apply sees it; made once for each."""
    known = _types.get(id(schema))
    if known is None:
        known = _types[id(schema)] = (schema, Type(schema))
    return known[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What does not change within one request."""

    type: Type
    api_version: str
    subresource: str
    time: str
    reset: Fields
    blank: JsonObject

    def after_update(
        self, live: JsonObject, new: JsonObject, entries: Entries, name: str
    ) -> Entries:
        """Who owns what after this write; nobody anything if an object does not fit the schema."""
        try:
            found = changes(live, new, self.type).without(self.reset)
        except MisfitError:
            return {}
        entries = self.after_changes(self.fitted(entries), found, but=None)
        taken = fields.difference(fields.without(found.taken, self.reset), UNOWNED)
        if not taken:
            return entry_list.capped(entries)
        writer = entry_list.updater(name, self.api_version, self.subresource)
        before = entries.get(writer)
        together = fields.union(taken, before.fields) if before else taken
        entries = {**entries, writer: Entry(together, self.api_version, self.time)}
        return entry_list.capped(entries)

    def fitted(self, entries: Entries) -> Entries:
        """The entries as the schema is now; those in versions that are no more are dropped."""
        kind = self.blank["kind"]
        return {
            manager: entry.with_fields(fitted(entry.fields, self.type))
            for manager, entry in entries.items()
            if is_version(entry.api_version, of=self.api_version, kind=kind)
        }

    def after_changes(self, entries: Entries, found: Changes, *, but: Manager | None) -> Entries:
        """The entries without what was taken from them or removed."""
        lost = fields.union(found.taken, found.removed)
        return entry_list.taken_from_all(entries, lost, but=but)


def bare(obj: JsonObject) -> JsonObject:
    """Without managedFields."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    kept = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**obj, "metadata": kept}


def with_entries(obj: JsonObject, entries: Entries) -> JsonObject:
    """With these managedFields; without any if there are none."""
    return with_managed(obj, entry_list.write(entries)) if entries else bare(obj)


def with_managed(obj: JsonObject, managed: list[JsonObject]) -> JsonObject:
    """With these managedFields."""
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "managedFields": managed}}
