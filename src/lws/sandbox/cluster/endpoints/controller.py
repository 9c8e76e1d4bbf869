"""Keeps the slices of every Service: a pod's change rewrites only the slice that it is in."""

from dataclasses import dataclass, field

import orjson

from lws.client.resources import NODES, PODS, SERVICES
from lws.sandbox.cluster.absent import find, may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, ENDPOINT_SLICES, Context
from lws.sandbox.cluster.endpoints.endpoints import (
    MANAGED_BY,
    MANAGER,
    SERVICE_NAME,
    endpoint_of,
    ports_of,
    selector_of,
    selects,
    slice_labels,
)
from lws.sandbox.cluster.objects import (
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    place_of,
    uid_of,
    version_of,
)
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

MAX_ENDPOINTS = 100
_BATCH_SECONDS = 0.1  # changes of pods that come together are written together
_BY_SERVICE, _BY_LABEL = "service", "label"
Place = tuple[str, str]


@dataclass(slots=True, eq=False)
class _Slice:
    """One slice; the object is None until it is made."""

    ports: bytes
    object: JsonObject | None = None
    endpoints: dict[str, JsonObject] = field(default_factory=dict)
    is_stale: bool = True


@dataclass(slots=True, eq=False)
class _State:
    """One Service's slices, and the pods that have changed since they were written."""

    uid: str
    slices: list[_Slice] = field(default_factory=list)
    of_pod: dict[str, _Slice] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    is_new: bool = True
    seen: JsonObject | None = None


class EndpointSliceController:
    """One worker for all Services."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._services = context.caches.of(SERVICES)
        self._pods = context.caches.of(PODS)
        self._nodes = context.caches.of(NODES)
        self._slices = context.caches.of(ENDPOINT_SLICES)
        self._slices.index(_BY_SERVICE, _service_keys)
        self._services.index(_BY_LABEL, _label_keys)
        self._pods.index("namespace", lambda pod: (namespace_of(pod),))
        self._states: dict[Place, _State] = {}
        self.worker: Worker[Place] = Worker(context.clock, self._sync)
        self._services.on_change(self._service_changed)
        self._pods.on_change(self._pod_changed)
        self._slices.on_change(self._slice_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    # What is due

    def _service_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        changed = new or old
        if changed is not None:
            self.worker.add(place_of(changed))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        for pod in (old, new):
            for service in self._selecting(pod) if pod is not None else ():
                state = self._states.get(place_of(service))
                if state is None:
                    self.worker.add(place_of(service))
                    continue
                if not state.changed:
                    self.worker.add_after(place_of(service), _BATCH_SECONDS)
                state.changed.add(name_of(pod or {}))

    def _selecting(self, pod: JsonObject) -> list[JsonObject]:
        space = namespace_of(pod)
        found = {
            name_of(service): service
            for key, value in labels_of(pod).items()
            for service in self._services.by(_BY_LABEL, f"{space}/{key}={value}")
        }
        return [service for service in found.values() if selects(service, pod)]

    def _slice_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        """A slice that somebody else deletes or changes is written anew."""
        changed = new or old
        if changed is None or labels_of(changed).get(MANAGED_BY) != MANAGER:
            return
        place = namespace_of(changed), labels_of(changed).get(SERVICE_NAME, "")
        state = self._states.get(place)
        if state is None:
            return
        for one in state.slices:
            if one.object is None or name_of(one.object) != name_of(changed):
                continue
            if new is None:
                one.object, one.is_stale = None, True
                self.worker.add(place)
            elif version_of(new) > version_of(one.object):
                one.object, one.is_stale = new, True
                self.worker.add(place)

    # A Service

    async def _sync(self, place: Place) -> None:
        service = self._services.get(*place)
        if service is None or not selector_of(service):
            self._states.pop(place, None)  # the collector ends its slices
            return
        if is_terminating(service):
            return
        state = self._states.get(place)
        if state is None or state.uid != uid_of(service):
            state = self._states[place] = self._loaded(service)
        if state.seen is not service:
            self._take_all(service, state)
            state.seen = service
        changed, state.changed = state.changed, set()
        for name in changed:
            self._take(service, state, name)
        for one in list(state.slices):
            if one.is_stale:
                await self._write(service, state, one)

    def _loaded(self, service: JsonObject) -> _State:
        """From the slices that there are."""
        state = _State(uid_of(service))
        space = namespace_of(service)
        for obj in self._slices.by(_BY_SERVICE, f"{space}/{name_of(service)}"):
            one = _Slice(_coded(obj.get("ports") or []), obj)
            for endpoint in obj.get("endpoints") or ():
                name = (endpoint.get("targetRef") or {}).get("name") or ""
                one.endpoints[name] = endpoint
                state.of_pod[name] = one
            state.slices.append(one)
        return state

    def _take_all(self, service: JsonObject, state: _State) -> None:
        """The Service has changed: every pod anew, and every slice."""
        state.changed.update(state.of_pod)
        for pod in self._pods.by("namespace", namespace_of(service)):
            if selects(service, pod):
                state.changed.add(name_of(pod))
        for one in state.slices:
            one.is_stale = True
        if not state.slices:
            state.slices.append(_Slice(_coded([])))

    def _take(self, service: JsonObject, state: _State, name: str) -> None:
        pod = self._pods.get(namespace_of(service), name)
        endpoint = None
        ports = b""
        if pod is not None and selects(service, pod):
            node = self._nodes.get("", pod["spec"].get("nodeName") or "")
            endpoint = endpoint_of(service, pod, node)
            ports = _coded(ports_of(service, pod))
        present = state.of_pod.get(name)
        if present is not None and (endpoint is None or present.ports != ports):
            del state.of_pod[name]
            del present.endpoints[name]
            present.is_stale, present = True, None
        if endpoint is None:
            return
        if present is None:
            present = state.of_pod[name] = _room(state, ports)
        if present.endpoints.get(name) != endpoint:
            present.endpoints[name] = endpoint
            present.is_stale = True

    async def _write(self, service: JsonObject, state: _State, one: _Slice) -> None:
        """Make, change or delete a slice; one empty slice stays."""
        space = namespace_of(service)
        is_last = all(other is one or not other.endpoints for other in state.slices)
        if not one.endpoints and not (is_last and one is state.slices[0]):
            state.slices.remove(one)
            if one.object is not None:
                await self._delete(one.object)
            return
        one.is_stale = False
        wanted = {
            "labels": slice_labels(service),
            "endpoints": list(one.endpoints.values()),
            "ports": orjson.loads(one.ports),
        }
        try:
            if one.object is None:
                body = _new_slice(service, wanted)
                one.object = await self._api.create(
                    ENDPOINT_SLICES, body, namespace=space, caller=CONTROLLERS
                )
            elif _differs(one.object, wanted):
                one.object = await self._api.update(
                    ENDPOINT_SLICES,
                    _changed_slice(one.object, wanted),
                    namespace=space,
                    caller=CONTROLLERS,
                )
        except ApiStatus:
            one.is_stale = True
            one.object = self._live(one.object)
            raise

    def _live(self, obj: JsonObject | None) -> JsonObject | None:
        if obj is None:
            return None
        return find(self._api, ENDPOINT_SLICES, name=name_of(obj), namespace=namespace_of(obj))

    async def _delete(self, obj: JsonObject) -> None:
        with may_be_gone():
            await self._api.delete(
                ENDPOINT_SLICES,
                name=name_of(obj),
                namespace=namespace_of(obj),
                caller=CONTROLLERS,
            )


def _room(state: _State, ports: bytes) -> _Slice:
    """A slice of these ports that is not full; the empty first one takes any ports."""
    for one in state.slices:
        if not one.endpoints:
            one.ports = ports
        if one.ports == ports and len(one.endpoints) < MAX_ENDPOINTS:
            return one
    fresh = _Slice(ports)
    state.slices.append(fresh)
    return fresh


def _new_slice(service: JsonObject, wanted: JsonObject) -> JsonObject:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{name_of(service)}-",
            "namespace": namespace_of(service),
            "labels": wanted["labels"],
            "ownerReferences": [owner_reference(service)],
        },
        "addressType": "IPv4",
        "endpoints": wanted["endpoints"],
        "ports": wanted["ports"],
    }


def _changed_slice(present: JsonObject, wanted: JsonObject) -> JsonObject:
    metadata = {**present["metadata"], "labels": wanted["labels"]}
    rest = {"endpoints": wanted["endpoints"], "ports": wanted["ports"]}
    return {**present, "metadata": metadata, **rest}


def _differs(present: JsonObject, wanted: JsonObject) -> bool:
    same: bool = (
        labels_of(present) == wanted["labels"]
        and (present.get("endpoints") or []) == wanted["endpoints"]
        and (present.get("ports") or []) == wanted["ports"]
    )
    return not same


def _coded(ports: list[JsonObject]) -> bytes:
    return orjson.dumps(ports, option=orjson.OPT_SORT_KEYS)


def _service_keys(obj: JsonObject) -> tuple[str, ...]:
    if labels_of(obj).get(MANAGED_BY) != MANAGER:
        return ()
    return (f"{namespace_of(obj)}/{labels_of(obj).get(SERVICE_NAME, '')}",)


def _label_keys(service: JsonObject) -> tuple[str, ...]:
    """One of the labels that it selects by, the one that says most: the longest."""
    pairs = [f"{key}={value}" for key, value in selector_of(service).items()]
    if not pairs:
        return ()
    return (f"{namespace_of(service)}/{max(pairs, key=len)}",)
