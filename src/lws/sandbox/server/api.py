"""The verbs on plain objects, for whoever is in this process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.sandbox.patch import PatchError
from lws.sandbox.server import (
    patching,
    reviews,
    status,
    subresources,
    token_requests,
    writes,
)
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.deletion import Deleted, delete, delete_all
from lws.sandbox.server.documents import copied
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.reads import list_objects
from lws.sandbox.server.verbs import (
    ADMIN,
    Caller,
    DeleteOptions,
    Listing,
    ListOptions,
    WatchOptions,
)
from lws.sandbox.server.watches import StoreWatch

JsonObject = dict[str, Any]

_ALL = ListOptions()
_WATCH = WatchOptions()
_DELETE = DeleteOptions()


class Api:
    """`Verbs` on one world. See `verbs.Verbs` for what each does."""

    def __init__(self, world: World) -> None:
        self.world = world

    # Reads

    def get(
        self, resource: Resource, *, name: str, namespace: str | None = None, subresource: str = ""
    ) -> JsonObject:
        """One object, the newest there is."""
        operation = self._operation(resource, namespace, name, subresource, ADMIN)
        return self.read(operation)

    def read(self, operation: Operation) -> JsonObject:
        """`get` of an operation."""
        require_verb(operation, "get")
        obj = from_stored(operation.kind, writes.found(self.world, operation))
        if operation.subresource == "scale":
            return subresources.scale_of(operation.kind, obj)
        return obj

    def list(
        self, resource: Resource, *, namespace: str | None = None, options: ListOptions = _ALL
    ) -> Listing:
        """All objects that the options choose, at one revision, by namespace and name."""
        return list_objects(self.world, self._kind(resource), namespace, options)

    def watch(
        self, resource: Resource, *, namespace: str | None = None, options: WatchOptions = _WATCH
    ) -> StoreWatch:
        """Every change after the options' resourceVersion."""
        return StoreWatch(self.world, self._kind(resource), namespace, options)

    def resource_of(self, api_version: str, kind: str) -> Resource | None:
        """Where a kind is served, custom ones too; None if it is not."""
        found = self.world.registry.find_kind(api_version, kind)
        return found.resource if found is not None else None

    def resources(self) -> Sequence[Resource]:
        """Every kind that can be listed, once each."""
        return [kind.resource for kind in self.world.registry.stored_kinds()]

    # Writes

    async def create(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        name: str = "",
        subresource: str = "",
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """A new object as it was stored; or an action on one."""
        operation = self._operation(resource, namespace, name, subresource, caller)
        return await self.create_in(operation, copied(obj))

    async def create_in(self, operation: Operation, obj: JsonObject) -> JsonObject:
        """`create` of an operation; the object is ours to change."""
        require_verb(operation, "create")
        if operation.kind.resource.kind == "Binding":
            operation = self._of_pod(operation, obj)
        match operation.subresource:
            case "":
                return await self._created(operation, obj)
            case "binding":
                return await subresources.bind(self.world, operation, obj)
            case "eviction":
                return await subresources.evict(self.world, operation, obj)
            case "token":
                return await token_requests.request_token(self.world, operation, obj)
        raise status.not_implemented(f"{operation.kind.resource.plural}/{operation.subresource}")

    async def update(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        name: str = "",
        subresource: str = "",
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """The whole object anew."""
        name = name or obj.get("metadata", {}).get("name", "")
        operation = self._operation(resource, namespace, name, subresource, caller)
        return await self.update_in(operation, copied(obj))

    async def update_in(self, operation: Operation, obj: JsonObject) -> JsonObject:
        """`update` of an operation; the object is ours to change."""
        require_verb(operation, "update")
        match operation.subresource:
            case "" | "status":
                return await self._updated(operation, obj)
            case "scale":
                return await subresources.set_scale(self.world, operation, obj)
            case "finalize":
                return await subresources.finalize_namespace(self.world, operation, obj)
        raise status.not_implemented(f"{operation.kind.resource.plural}/{operation.subresource}")

    async def patch(
        self,
        resource: Resource,
        body: Any,
        *,
        patch_type: PatchType,
        name: str,
        namespace: str | None = None,
        subresource: str = "",
        force: bool = False,
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """A change to an object."""
        operation = self._operation(resource, namespace, name, subresource, caller)
        return (await self.patch_in(operation, body, patch_type=patch_type, force=force))[0]

    async def patch_in(
        self, operation: Operation, body: Any, *, patch_type: PatchType, force: bool
    ) -> tuple[JsonObject, bool]:
        """`patch` of an operation; and whether it made the object."""
        require_verb(operation, "patch")
        if operation.subresource not in ("", "status", "scale"):
            where = f"{operation.kind.resource.plural}/{operation.subresource}"
            raise status.not_implemented(f"patches of {where}")
        try:
            if patch_type is PatchType.APPLY:
                return await patching.apply(self.world, operation, body, force=force)
            done = await patching.patch(self.world, operation, body, patch_type)
        except PatchError as error:
            raise patching.refusal(error) from error
        return done, False

    async def delete(
        self,
        resource: Resource,
        *,
        name: str,
        namespace: str | None = None,
        options: DeleteOptions = _DELETE,
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """The end of one object."""
        operation = self._operation(resource, namespace, name, "", caller)
        deleted = await self.delete_in(operation, options)
        return deletion_answer(operation, deleted)

    async def delete_in(self, operation: Operation, options: DeleteOptions) -> Deleted:
        """`delete` of an operation."""
        require_verb(operation, "delete")
        return await delete(self.world, operation, options)

    async def delete_collection(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selection: ListOptions = _ALL,
        options: DeleteOptions = _DELETE,
        caller: Caller = ADMIN,
    ) -> Sequence[JsonObject]:
        """The end of all that the selection chooses; the objects as they were."""
        operation = self._operation(resource, namespace, "", "", caller)
        return await self.delete_collection_in(operation, namespace, selection, options)

    async def delete_collection_in(
        self,
        operation: Operation,
        namespace: str | None,
        selection: ListOptions,
        options: DeleteOptions,
    ) -> Sequence[JsonObject]:
        """`delete_collection` of an operation."""
        require_verb(operation, "deletecollection")
        listing = list_objects(self.world, operation.kind, namespace, selection)
        return await delete_all(self.world, operation, listing.items, options)

    # Inside

    def _kind(self, resource: Resource) -> Kind:
        kind = self.world.registry.of(resource)
        if kind is None:
            raise status.no_such_path()
        return kind

    def _operation(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        subresource: str,
        caller: Caller,
    ) -> Operation:
        return Operation(
            kind=self._kind(resource),
            namespace=namespace or "",
            name=name,
            subresource=subresource,
            caller=caller,
        )

    def _of_pod(self, operation: Operation, binding: JsonObject) -> Operation:
        """The older path for bindings names the pod in the body."""
        pods = self.world.registry.find("", "v1", "pods")
        assert pods is not None, "pods are built in"
        name = binding.get("metadata", {}).get("name", "")
        return replace(operation, kind=pods, name=name, subresource="binding")

    async def _created(self, operation: Operation, obj: JsonObject) -> JsonObject:
        if reviews.is_review(operation.kind):
            asked = writes.asked(self.world, operation, obj)
            return reviews.answer(self.world, operation, asked)
        return await writes.create(self.world, operation, obj)

    async def _updated(self, operation: Operation, obj: JsonObject) -> JsonObject:
        world = self.world
        metadata = obj.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else ""
        expected = status.checked_version(version)
        is_new = world.store.get(operation.key) is None
        if is_new and operation.kind.is_made_by_update and not operation.subresource:
            writes.require_place(operation, obj)
            operation.is_by_update = True
            return await writes.create(world, operation, obj)
        change = writes.replacement(world, operation, obj)
        if not expected and operation.kind.needs_version:
            writes.found(world, operation)
            raise writes.version_missing(operation)
        return await writes.update(world, operation, change, expected=expected)


def require_verb(operation: Operation, verb: str) -> None:
    """405 if the kind, or the part of it, does not have the verb; 404 if it has no such part."""
    kind = operation.kind
    if not operation.subresource:
        verbs = kind.verbs
    elif operation.subresource in kind.subresources:
        verbs = kind.subresources[operation.subresource].verbs
    else:
        raise _no_part(operation)
    if verb not in verbs:
        raise status.method_not_allowed()


def _no_part(operation: Operation) -> status.ApiStatus:
    """Of a custom kind, a part that it does not have is a name that is not there."""
    if operation.kind.is_custom:
        return status.not_found(operation.kind.subject(operation.name))
    return status.no_such_path()


def deletion_answer(operation: Operation, deleted: Deleted) -> JsonObject:
    """What a client is told: the object, if it stays a while, and of most kinds a Status else."""
    obj = from_stored(operation.kind, deleted.object)
    if not deleted.is_gone or operation.kind.storage in _ANSWERED_WITH_OBJECT:
        return obj
    metadata = obj["metadata"]
    return status.success(operation.kind.subject(metadata["name"], metadata["uid"]))


_ANSWERED_WITH_OBJECT = frozenset(
    (
        "/pods",
        "/services",
        "/serviceaccounts",
        "/podtemplates",
        "/persistentvolumes",
        "/persistentvolumeclaims",
        "/resourcequotas",
        "storage.k8s.io/storageclasses",
    )
)
