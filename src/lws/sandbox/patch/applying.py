"""One server-side apply: merge, prune, conflicts, and who owns what after it.

What surprised us in the real server:

- An item of a list goes with the last who applied its identity, even if others own fields of it.
- Only fields that are added or changed are conflicts. Where a scalar takes the place of an object
  (below unknown fields), others lose what was below it, without force.
- What loses its last member becomes null. A built-in kind drops that; of a custom resource it is
  refused (422), unless the field is nullable: the result of an apply is defaulted, not decoded.
"""

import json
from typing import Any, Final

from lws.sandbox.patch import entries as entry_list
from lws.sandbox.patch import fields
from lws.sandbox.patch.combining import merged, with_named, without
from lws.sandbox.patch.desk import UNOWNED, Desk
from lws.sandbox.patch.entries import Entries, Entry
from lws.sandbox.patch.errors import ApplyConflict, Conflict, PatchError
from lws.sandbox.patch.fields import Fields
from lws.sandbox.patch.ownership import Changes, changes, owned
from lws.sandbox.patch.validation import misfits, words
from lws.sandbox.patch.values import same

JsonObject = dict[str, Any]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def check_body(body: JsonObject, live: JsonObject | None, api_version: str) -> None:
    """PatchError (400) for a body of something else, or with managedFields."""
    version, kind = body.get("apiVersion", ""), body.get("kind", "")
    if version != api_version or (live is not None and kind != live.get("kind")):
        shown = version if "/" in version else f"/{version}"
        raise PatchError(f"invalid object type: {shown}, Kind={kind}", 400)
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
        raise PatchError("metadata.managedFields must be nil", 400)


class Application:
    """One apply on its way."""

    def __init__(
        self, desk: Desk, *, live: JsonObject, body: JsonObject, entries: Entries, name: str
    ) -> None:
        self._desk = desk
        self._live = live
        self._body = body
        self._name = name
        self._manager = entry_list.applier(name, desk.subresource)
        self._require_fit()
        self._entries = desk.fitted(entries)

    def _require_fit(self) -> None:
        complaints = misfits(self._body, self._desk.type)
        if complaints:
            raise self._misfit("create typed patch object", self._body, complaints)
        complaints = misfits(self._live, self._desk.type, allows_duplicates=True)
        if complaints:
            raise self._misfit("create typed live object", self._live, complaints)

    def _misfit(self, doing: str, obj: JsonObject, complaints: list[str]) -> PatchError:
        metadata = obj.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
        shown = version if "/" in version else f"/{version}"
        place = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
        return PatchError(
            f"failed to {doing} ({place}; {shown}, Kind={kind}): {words(complaints)}", 500
        )

    def done(self, *, force: bool, is_new: bool) -> tuple[JsonObject, Entries]:
        """The object, and who owns what of it."""
        desk, before = self._desk, self._entries.get(self._manager)
        mine = fields.without(owned(self._body, desk.type), desk.reset)
        entry = Entry(mine, desk.api_version, before.time if before else "")
        entries = {**self._entries, self._manager: entry}
        result = merged(self._live, self._body, desk.type)
        if before is not None and before.fields:
            result = self._pruned(result, entries, before.fields)
        live = desk.blank if is_new else self._live
        found = changes(live, result, desk.type).without(desk.reset)
        if not force:
            self._require_no_conflict(entries, found)
        entries = desk.after_changes(entries, found, but=self._manager)
        stays = not is_new and same(self._live, result)
        return self._live if stays else result, self._stripped(entries, is_changed=not stays)

    def _stripped(self, entries: Entries, *, is_changed: bool) -> Entries:
        entry = entries.get(self._manager)
        if entry is None:
            return entries
        kept = fields.difference(entry.fields, UNOWNED)
        time = self._desk.time if is_changed else entry.time
        others = {each: known for each, known in entries.items() if each != self._manager}
        return entry_list.without_empty(
            {**others, self._manager: Entry(kept, entry.api_version, time)}
        )

    def _pruned(self, result: JsonObject, entries: Entries, last: Fields) -> JsonObject:
        """Without what this applier applied before, does not apply now, and nobody else owns."""
        of = self._desk.type
        last_named = with_named(last, of)
        pruned = without(result, last_named, of)
        everything = with_named(owned(result, of), of)
        left = with_named(owned(pruned, of), of)
        somebodys = with_named(entry_list.union_of(entries.values()), of)
        gone = fields.difference(everything, fields.union(left, somebodys))
        pruned = without(result, gone, of)
        left = with_named(owned(pruned, of), of)
        gone = fields.intersection(fields.difference(everything, left), last_named)
        kept: JsonObject = without(result, gone, of)
        return kept

    def _require_no_conflict(self, entries: Entries, found: Changes) -> None:
        conflicts = [
            Conflict(manager.words, fields.path_words(path))
            for manager, entry in sorted(entries.items(), key=lambda item: item[0].written)
            if manager != self._manager
            for path in fields.paths(fields.intersection(entry.fields, found.taken))
        ]
        allowed = self._client_side_applied() if conflicts and self._name == "kubectl" else set()
        conflicts = [each for each in conflicts if each.path not in allowed]
        if conflicts:
            raise ApplyConflict(conflicts)

    def _client_side_applied(self) -> set[str]:
        """What `kubectl apply` owns by its annotation; `kubectl apply --server-side` takes it."""
        annotations = self._live.get("metadata", {}).get("annotations") or {}
        try:
            last = json.loads(annotations.get(LAST_APPLIED) or "")
        except ValueError:
            return set()
        of = self._desk.type
        fits = isinstance(last, dict) and not misfits(last, of) and not misfits(self._live, of)
        if not fits or last.get("apiVersion") != self._desk.api_version:
            return set()
        found = changes(last, self._live, of)
        lost = fields.union(found.taken, found.removed)
        kept = fields.difference(owned(last, of), lost)
        return {fields.path_words(path) for path in fields.paths(kept)}


def with_last_applied(result: JsonObject, body: JsonObject, manager: str) -> JsonObject:
    """kubectl's annotation follows `kubectl apply --server-side`."""
    annotations = (result.get("metadata") or {}).get("annotations") or {}
    if manager != "kubectl" or not annotations.get(LAST_APPLIED):
        return result
    metadata = dict(body.get("metadata") or {})
    if "annotations" in metadata:
        kept = {
            name: value
            for name, value in (metadata.pop("annotations") or {}).items()
            if name != LAST_APPLIED
        }
        if kept:
            metadata["annotations"] = kept
    text = json.dumps(
        {**body, "metadata": metadata}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    for sign, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, escape)
    new = {**annotations, LAST_APPLIED: f"{text}\n"}
    return {**result, "metadata": {**result["metadata"], "annotations": new}}
