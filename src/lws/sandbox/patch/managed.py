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

from collections.abc import Sequence
from typing import Any, Final

from lws.sandbox.patch import entries as entry_list
from lws.sandbox.patch import fields
from lws.sandbox.patch.applying import Application, check_body, with_last_applied
from lws.sandbox.patch.blanks import blank_object, is_builtin
from lws.sandbox.patch.desk import Desk, bare, type_of, with_entries, with_managed
from lws.sandbox.patch.entries import Entries, MalformedEntriesError
from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.values import same
from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]
Path = tuple[str, ...]

BEFORE_FIRST_APPLY: Final = "before-first-apply"


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
    desk = Desk(
        type=type_of(schema),
        api_version=api_version,
        subresource=subresource,
        time=entry_list.now_words(now),
        reset=fields.of_paths(tuple(reset)),
        blank=blank_object(api_version, new.get("kind", "")),
    )
    entries = _entries_for(old, new, ignores_new=bool(subresource))
    if not entries and old is not None and old.get("metadata", {}).get("uid"):
        return bare(new)
    live = desk.blank if old is None else bare(old)
    return with_entries(new, desk.after_update(live, bare(new), entries, manager))


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
    desk = Desk(
        type=type_of(schema),
        api_version=api_version,
        subresource=subresource,
        time=entry_list.now_words(now),
        reset=fields.of_paths(tuple(reset)),
        blank=blank_object(api_version, applied.get("kind", "")),
    )
    check_body(applied, live, api_version)
    entries = _live_entries(live)
    present = {} if live is None else bare(live)
    if live is not None and not entries:
        entries = desk.after_update(desk.blank, present, {}, BEFORE_FIRST_APPLY)
    made = Application(desk, live=present, body=applied, entries=entries, name=manager)
    result, entries = made.done(force=force, is_new=live is None)
    return with_last_applied(with_entries(result, entries), applied, manager)


def with_old_times(new: JsonObject, old: JsonObject) -> JsonObject:
    """The new object; if it differs from the old one only in times of managedFields, with the old
    times, so that nothing is written."""
    fresh = new.get("metadata", {}).get("managedFields") or []
    known = old.get("metadata", {}).get("managedFields") or []
    if len(fresh) != len(known) or fresh == known:
        return new
    if not same([_timeless(each) for each in fresh], [_timeless(each) for each in known]):
        return new
    return with_managed(new, known) if same(bare(new), bare(old)) else new


def _timeless(entry: JsonObject) -> JsonObject:
    return {name: value for name, value in entry.items() if name != "time"}


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
