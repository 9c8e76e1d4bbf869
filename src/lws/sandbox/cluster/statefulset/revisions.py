"""The ControllerRevisions of a set: the templates that it had, by number."""

from collections.abc import Iterable
from dataclasses import dataclass

from lws.base.times import parse_time
from lws.client.requests import PatchType
from lws.client.resources import CONTROLLERREVISIONS
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.hashing import encoded, hash_of
from lws.sandbox.cluster.objects import (
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    status_of,
    uid_of,
)
from lws.sandbox.cluster.owners import OWNER, owner_key, owner_keys
from lws.sandbox.cluster.statefulset.identity import revision_of, spec_of
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

HASH = "controller.kubernetes.io/hash"
_PREFIX_MAX = 223


@dataclass(frozen=True, slots=True)
class Revisions:
    """Those that matter for a pass; `listed` are all that there were when it began, in order."""

    current: JsonObject
    update: JsonObject
    collisions: int
    listed: list[JsonObject]


class History:
    """Reads and writes the revisions of sets."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._cache = context.caches.of(CONTROLLERREVISIONS)
        self._cache.index(OWNER, owner_keys)

    def listed(self, stateful_set: JsonObject) -> list[JsonObject]:
        """The set's own and orphans that it selects, in order."""
        space = namespace_of(stateful_set)
        selector = selector_requirements(spec_of(stateful_set).get("selector")) or ()
        found = self._cache.by(OWNER, owner_key(space, uid_of(stateful_set)))
        found += self._cache.by(OWNER, owner_key(space, ""))
        return sorted(
            (one for one in found if matches_labels(selector, labels_of(one))), key=_order
        )

    async def adopt(self, stateful_set: JsonObject, revision: JsonObject) -> None:
        """The set becomes the controller of an orphan."""
        change = {
            "metadata": {
                "uid": uid_of(revision),
                "ownerReferences": [owner_reference(stateful_set)],
            }
        }
        adopted = await self._api.patch(
            CONTROLLERREVISIONS,
            change,
            patch_type=PatchType.STRATEGIC,
            name=name_of(revision),
            namespace=namespace_of(revision),
            caller=CONTROLLERS,
        )
        await self._cache.seen(adopted)

    async def current_and_update(self, stateful_set: JsonObject) -> Revisions:
        """The revision of the set's template, made or renumbered if need be, and the current."""
        listed = self.listed(stateful_set)
        collisions = int(status_of(stateful_set).get("collisionCount") or 0)
        data = _data_of(stateful_set)
        number = (listed[-1].get("revision") or 0) + 1 if listed else 1
        equal = [one for one in listed if one.get("data") == data]
        if equal and equal[-1]["data"] == listed[-1].get("data"):
            update = listed[-1]
        elif equal:
            update = await self._renumber(equal[-1], number)
        else:
            update, collisions = await self._create(stateful_set, data, number, collisions)
        wanted = status_of(stateful_set).get("currentRevision")
        current = next((one for one in listed if name_of(one) == wanted), update)
        return Revisions(current, update, collisions, listed)

    async def truncate(
        self, stateful_set: JsonObject, pods: Iterable[JsonObject], revisions: Revisions
    ) -> None:
        """Delete the oldest that no pod is of, down to the limit."""
        live = {name_of(revisions.current), name_of(revisions.update)}
        live.update(map(revision_of, pods))
        old = [one for one in revisions.listed if name_of(one) not in live]
        limit = spec_of(stateful_set).get("revisionHistoryLimit")
        limit = 10 if limit is None else limit
        if limit < 0:
            return
        for one in old[: max(0, len(old) - limit)]:
            await self._api.delete(
                CONTROLLERREVISIONS,
                name=name_of(one),
                namespace=namespace_of(one),
                caller=CONTROLLERS,
            )
            await self._cache.seen(one, later=True)

    async def _renumber(self, revision: JsonObject, number: int) -> JsonObject:
        renumbered = await self._api.update(
            CONTROLLERREVISIONS,
            {**revision, "revision": number},
            namespace=namespace_of(revision),
            caller=CONTROLLERS,
        )
        await self._cache.seen(renumbered)
        return renumbered

    async def _create(
        self, stateful_set: JsonObject, data: JsonObject, number: int, collisions: int
    ) -> tuple[JsonObject, int]:
        """A new one; where its name is taken by another template, the next name."""
        raw = encoded(data)
        first_hash = hash_of(raw, collisions)
        space = namespace_of(stateful_set)
        while True:
            name = f"{name_of(stateful_set)[:_PREFIX_MAX]}-{hash_of(raw, collisions)}"
            revision = _new(stateful_set, data, name=name, number=number, label=first_hash)
            try:
                created = await self._api.create(
                    CONTROLLERREVISIONS, revision, namespace=space, caller=CONTROLLERS
                )
            except ApiStatus as refusal:
                if refusal.reason != "AlreadyExists":
                    raise
                present = self._api.get(CONTROLLERREVISIONS, name=name, namespace=space)
                if present.get("data") == data:
                    return present, collisions
                collisions += 1
            else:
                await self._cache.seen(created)
                return created, collisions


def template_of(revision: JsonObject) -> JsonObject:
    """The pod template that a revision keeps."""
    template = dict(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template


def _new(
    stateful_set: JsonObject, data: JsonObject, *, name: str, number: int, label: str
) -> JsonObject:
    labels = (spec_of(stateful_set)["template"].get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": namespace_of(stateful_set),
            "labels": {**labels, HASH: label},
            "annotations": dict(annotations_of(stateful_set)),
            "ownerReferences": [owner_reference(stateful_set)],
        },
        "data": data,
        "revision": number,
    }


def _data_of(stateful_set: JsonObject) -> JsonObject:
    return {"spec": {"template": {**spec_of(stateful_set)["template"], "$patch": "replace"}}}


def _order(revision: JsonObject) -> tuple[int, float, str]:
    created = parse_time(revision["metadata"]["creationTimestamp"])
    return revision.get("revision") or 0, created, name_of(revision)
