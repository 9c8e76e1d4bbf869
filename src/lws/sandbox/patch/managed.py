"""managedFields: who owns which field; and server-side apply, which lives on it.

The order in the real server, which callers have to keep:

- create, update, patch of any kind but apply: decode, prune and default the new object; then
  `updated`; then mutating admission (what webhooks change is nobody's); then the kind's own
  preparation (status dropped, generation, ...), validation, storing.
- apply: `applied` on the live object and the body as it came (neither defaulted nor pruned); then
  default what comes out; then the same as above. Metadata that the server fills in (uid,
  creationTimestamp, ...) comes after it.
- before an update or a patch is stored: `with_old_times`.

What surprised us in the real server:

- An applier whose first apply changes nothing gets an entry without a time.
- An object without managedFields (a client once sent `[]`) gets none by updates, until somebody
  applies: then all there is belongs to `before-first-apply`.
- managedFields sent to a subresource are ignored; those sent to the object are believed if they
  can be read, else the live ones are. `[{}]` clears them; `[]` clears those of a built-in kind, of
  a custom resource it changes nothing.
- What an endpoint drops from what it is sent (`reset`) is neither owned nor a conflict there.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lws.sandbox.patch import entries as entry_list
from lws.sandbox.patch import fields
from lws.sandbox.patch.blanks import blank_object, is_builtin, is_version
from lws.sandbox.patch.combining import fitted, merged, with_named, without
from lws.sandbox.patch.entries import Entries, Entry, MalformedEntriesError, Manager
from lws.sandbox.patch.errors import ApplyConflict, Conflict, PatchError
from lws.sandbox.patch.fields import Fields
from lws.sandbox.patch.items import MisfitError
from lws.sandbox.patch.ownership import Changes, changes, owned
from lws.sandbox.patch.types import Type
from lws.sandbox.patch.validation import misfits, words
from lws.sandbox.patch.values import same
from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]
Path = tuple[str, ...]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
BEFORE_FIRST_APPLY: Final = "before-first-apply"
_UNOWNED: Final = fields.of_paths(
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


def updated(
    *,
    old: JsonObject | None,
    new: JsonObject,
    schema: Schema,
    manager: str,
    operation: str = entry_list.UPDATE,
    api_version: str,
    subresource: str = "",
    now: float,
    reset: Sequence[Path] = (),
) -> JsonObject:
    """The new object with managedFields as create, update and patch leave them.

    `old` is None on create. `schema` is the whole kind's, metadata included. `now`: seconds since
    the epoch. `reset`: paths that this endpoint drops from what is sent and that the caller
    therefore does not come to own: ("status",) on the main endpoint of a kind with a status,
    ("spec",) and more on `/status`.
    """
    assert operation == entry_list.UPDATE, "apply has a function of its own"
    desk = _Desk(
        type=type_of(schema),
        api_version=api_version,
        subresource=subresource,
        time=entry_list.now_words(now),
        reset=fields.of_paths(tuple(reset)),
        blank=blank_object(api_version, new.get("kind", "")),
    )
    entries = _entries_for(old, new, ignores_new=bool(subresource))
    bare = _bare(new)
    if not entries and old is not None and old.get("metadata", {}).get("uid"):
        return bare
    live = desk.blank if old is None else _bare(old)
    return _with_entries(bare, desk.after_update(live, bare, entries, manager))


def applied(
    *,
    live: JsonObject | None,
    applied: JsonObject,
    schema: Schema,
    manager: str,
    api_version: str,
    subresource: str = "",
    now: float,
    force: bool = False,
    reset: Sequence[Path] = (),
) -> JsonObject:
    """The live object (None: there is none yet) with the applied fields and new managedFields.

    Not defaulted yet. If nothing changed, the result equals `live` but for managedFields, whose
    times stay. Raises ApplyConflict, and PatchError for a body that does not fit the schema (500
    with the server's own words, as the server answers it) or brings managedFields (400).
    """
    desk = _Desk(
        type=type_of(schema),
        api_version=api_version,
        subresource=subresource,
        time=entry_list.now_words(now),
        reset=fields.of_paths(tuple(reset)),
        blank=blank_object(api_version, applied.get("kind", "")),
    )
    _check_body(applied, live, api_version)
    entries = _live_entries(live)
    bare = {} if live is None else _bare(live)
    if live is not None and not entries:
        entries = desk.after_update(desk.blank, bare, {}, BEFORE_FIRST_APPLY)
    made = _Application(desk, live=bare, body=applied, entries=entries, name=manager)
    result, entries = made.done(force=force, is_new=live is None)
    return _with_last_applied(_with_entries(result, entries), applied, manager)


def with_old_times(new: JsonObject, old: JsonObject) -> JsonObject:
    """The new object; if it differs from the old one only in times of managedFields, with the old
    times, so that nothing is written."""
    fresh = new.get("metadata", {}).get("managedFields") or []
    known = old.get("metadata", {}).get("managedFields") or []
    if len(fresh) != len(known) or fresh == known:
        return new
    if not same([_timeless(each) for each in fresh], [_timeless(each) for each in known]):
        return new
    return _with_managed(new, known) if same(_bare(new), _bare(old)) else new


def _timeless(entry: JsonObject) -> JsonObject:
    return {name: value for name, value in entry.items() if name != "time"}


_types: dict[int, tuple[Schema, Type]] = {}


def type_of(schema: Schema) -> Type:
    """The schema as apply sees it; made once for each."""
    known = _types.get(id(schema))
    if known is None:
        known = _types[id(schema)] = (schema, Type(schema))
    return known[1]


# Objects


def _bare(obj: JsonObject) -> JsonObject:
    """Without managedFields."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    kept = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**obj, "metadata": kept}


def _with_entries(obj: JsonObject, entries: Entries) -> JsonObject:
    return _with_managed(obj, entry_list.write(entries)) if entries else _bare(obj)


def _with_managed(obj: JsonObject, managed: list[JsonObject]) -> JsonObject:
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "managedFields": managed}}


def _live_entries(live: JsonObject | None) -> Entries:
    try:
        return entry_list.read((live or {}).get("metadata", {}).get("managedFields"))
    except MalformedEntriesError as problem:
        raise PatchError(f"failed to decode managed fields: {problem}", 500) from problem


def _entries_for(old: JsonObject | None, new: JsonObject, *, ignores_new: bool) -> Entries:
    known = (old or {}).get("metadata", {}).get("managedFields")
    sent = (new.get("metadata") or {}).get("managedFields")
    if not ignores_new:
        builtin = is_builtin(new.get("apiVersion", ""), new.get("kind", ""))
        if sent == [{}] or (sent == [] and builtin):
            return {}
        try:
            if found := entry_list.read(sent):
                return found
        except MalformedEntriesError:
            pass  # a client that does not know better must not take everybody's fields
    try:
        return entry_list.read(known)
    except MalformedEntriesError:
        return {}


# Update


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
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
        taken = fields.difference(fields.without(found.taken, self.reset), _UNOWNED)
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


# Apply


def _check_body(body: JsonObject, live: JsonObject | None, api_version: str) -> None:
    version, kind = body.get("apiVersion", ""), body.get("kind", "")
    if version != api_version or (live is not None and kind != live.get("kind")):
        shown = version if "/" in version else f"/{version}"
        raise PatchError(f"invalid object type: {shown}, Kind={kind}", 400)
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
        raise PatchError("metadata.managedFields must be nil", 400)


class _Application:
    """One apply on its way."""

    def __init__(
        self, desk: _Desk, *, live: JsonObject, body: JsonObject, entries: Entries, name: str
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
        kept = fields.difference(entry.fields, _UNOWNED)
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


def _with_last_applied(result: JsonObject, body: JsonObject, manager: str) -> JsonObject:
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
