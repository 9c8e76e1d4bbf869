"""managedFields: who owns which field; and server-side apply, which lives on it.

The order in the real server, which callers have to keep:

- create, update, patch of any kind but apply: decode, prune and default the new object; then
  `updated`; then mutating admission (what webhooks change is nobody's); then the kind's own
  preparation (status dropped, generation, ...), validation, storing.
- apply: `applied` on the live object and the body as it came (neither defaulted nor pruned); then
  default what comes out; then the same as above. Metadata that the server fills in (uid,
  creationTimestamp, ...) comes after it.
"""

from collections.abc import Sequence
from typing import Any

from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]
Path = tuple[str, ...]


def updated(
    *,
    old: JsonObject | None,
    new: JsonObject,
    schema: Schema,
    manager: str,
    operation: str = "Update",
    api_version: str,
    subresource: str = "",
    now: float,
    reset: Sequence[Path] = (),
) -> JsonObject:
    """The new object with managedFields as create, update and patch leave them.

    `old` is None on create. `schema` is the whole kind's, metadata included. `now`: seconds since
    the epoch. `reset`: paths that this endpoint drops from what is sent and that the caller
    therefore does not come to own: ("status",) on the main endpoint of a kind with a status,
    `("spec",)` and more on `/status`; see `reset_fields`.
    """
    raise NotImplementedError


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

    Not defaulted yet. If nothing changed, the result equals `live` with the managedFields as they
    were, times too. Raises ApplyConflict, and PatchError for a body that does not fit the schema
    (500 with the server's own words, as the server answers it) or brings managedFields (400).
    """
    raise NotImplementedError
