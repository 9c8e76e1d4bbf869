"""Who owns the replicas of an object that is scaled by its `scale`.

The real server shows the scale subresource an object of its own, whose managedFields are made from
those of the object and turned back after the write. What surprised us:

- Any write of a scale, also one that changes nothing, takes the replicas out of the entries of all
  who updated the object itself, and gives them new entries with the replicas alone.
- What a scale writes has no time in the object's managedFields.
- Apply of a custom resource's scale fails if it would change anything.
"""

from typing import Any, Final

from lws.sandbox.patch import entries as entry_list
from lws.sandbox.patch import fields
from lws.sandbox.patch.entries import Entries, Entry
from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.managed import applied as _applied
from lws.sandbox.patch.managed import updated as _updated
from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]
Path = tuple[str, ...]

_VERSION: Final = "autoscaling/v1"
_SUBRESOURCE: Final = "scale"
_TEXT: Final = Schema(type="string")
_COUNT: Final = Schema(type="integer")
_INCONVERTIBLE: Final = (
    "to proper version: request to convert CR to an invalid group/version: autoscaling/v1"
)
_REPLICAS: Final = fields.of_paths((("spec", "replicas"),))
_SCHEMA: Final = Schema(
    type="object",
    properties={
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": Schema(type="object", preserves_unknown=True),
        "spec": Schema(type="object", properties={"replicas": _COUNT}),
        "status": Schema(type="object", properties={"replicas": _COUNT, "selector": _TEXT}),
    },
)


def scaled(
    *,
    live: JsonObject,
    old: JsonObject,
    new: JsonObject,
    path: Path,
    manager: str,
    api_version: str,
    now: float,
) -> list[JsonObject]:
    """The managedFields of `live` after an update or a patch of its scale from `old` to `new`.

    `path`: where the object has its replicas. A scale of 0 has no `spec.replicas`.
    """
    parents = entry_list.read(live["metadata"].get("managedFields"))
    made = _updated(
        old=_with_managed(old, _shown(parents, path)),
        new=new,
        schema=_SCHEMA,
        manager=manager,
        api_version=_VERSION,
        subresource=_SUBRESOURCE,
        now=now,
    )
    return _turned_back(parents, made, path, api_version)


def scale_applied(
    *,
    live: JsonObject,
    old: JsonObject,
    applied: JsonObject,
    path: Path,
    manager: str,
    api_version: str,
    now: float,
    force: bool = False,
    is_custom: bool = False,
) -> tuple[JsonObject, list[JsonObject]]:
    """The scale after server-side apply, and the managedFields of `live`.

    Raises what `applied` raises. `is_custom`: of a custom resource.
    """
    parents = entry_list.read(live["metadata"].get("managedFields"))
    if is_custom and not _shown(parents, path):
        raise PatchError(
            "failed to create manager for existing fields: failed to convert live object"
            f" (/; autoscaling/v1, Kind=Scale) {_INCONVERTIBLE}",
            500,
        )
    made = _applied(
        live=_with_managed(old, _shown(parents, path)),
        applied=applied,
        schema=_SCHEMA,
        manager=manager,
        api_version=_VERSION,
        subresource=_SUBRESOURCE,
        now=now,
        force=force,
    )
    if is_custom and made["spec"] != old["spec"]:
        metadata = applied["metadata"]
        place = f"{metadata.get('namespace') or ''}/{metadata['name']}"
        raise PatchError(
            f"failed to convert new object ({place}; autoscaling/v1, Kind=Scale) {_INCONVERTIBLE}",
            500,
        )
    return made, _turned_back(parents, made, path, api_version)


def _with_managed(scale: JsonObject, managed: list[JsonObject]) -> JsonObject:
    return {**scale, "metadata": {**scale["metadata"], "managedFields": managed}}


def _elements(path: Path) -> tuple[str, ...]:
    return tuple(map(fields.field, path))


def _shown(parents: Entries, path: Path) -> list[JsonObject]:
    return entry_list.write(
        {
            manager: Entry(_REPLICAS, _VERSION, entry.time)
            for manager, entry in parents.items()
            if fields.has(entry.fields, _elements(path))
        }
    )


def _turned_back(
    parents: Entries, scale: JsonObject, path: Path, api_version: str
) -> list[JsonObject]:
    owners = entry_list.read(scale["metadata"].get("managedFields"))
    replicas = fields.of_paths((path,))
    result: Entries = {}
    for manager, entry in parents.items():
        if manager in owners:
            del owners[manager]
            result[manager] = entry
        else:
            rest = fields.difference(entry.fields, replicas)
            result[manager] = Entry(rest, entry.api_version, entry.time)
    for manager, entry in owners.items():
        if fields.has(entry.fields, ("f:spec", "f:replicas")):
            result[manager] = Entry(replicas, api_version)
    return entry_list.write(entry_list.without_empty(result))
