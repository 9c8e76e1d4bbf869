"""Scale, binding, eviction and finalize: paths that are not a view of the whole object."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lws.base.times import format_time
from lws.client.resources import Resource
from lws.sandbox.patch.scaling import scale_applied, scaled
from lws.sandbox.server import status
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.deletion import delete
from lws.sandbox.server.documents import copied, part, with_part
from lws.sandbox.server.intake import with_topology
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.selectors import (
    matches_labels,
    selector_requirements,
    selector_text,
)
from lws.sandbox.server.status import Cause
from lws.sandbox.server.verbs import DeleteOptions
from lws.sandbox.server.writes import found, update

JsonObject = dict[str, Any]

_BUDGETS = "policy/poddisruptionbudgets"
_SCALE = Resource("autoscaling", "v1", "scales", "Scale")


def scale_of(kind: Kind, obj: JsonObject) -> JsonObject:
    """The scale of an object."""
    assert kind.scale is not None, "only kinds that scale have the path"
    metadata = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    spec = {"replicas": part(obj, *kind.scale.replicas)}
    shown = {"replicas": part(obj, *kind.scale.status_replicas) or 0}
    selector = part(obj, *kind.scale.selector) if kind.scale.selector else None
    if isinstance(selector, dict):
        selector = selector_text(selector) if kind.resource.group else _exact(selector)
    if selector:
        shown["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {name: value for name, value in spec.items() if value},
        "status": shown,
    }


def _exact(selector: Mapping[str, str]) -> str:
    return ",".join(f"{key}={selector[key]}" for key in sorted(selector))


async def set_scale(world: World, operation: Operation, scale: JsonObject) -> JsonObject:
    """The scale anew: changes the object's replicas."""
    _require_scale(operation, scale)
    return await _scaled(world, operation, lambda _: scale)


async def apply_scale(
    world: World, operation: Operation, body: JsonObject, *, force: bool
) -> JsonObject:
    """Server-side apply of the scale."""
    kind = operation.kind
    assert kind.scale is not None, "only kinds that scale have the path"
    path = kind.scale.replicas

    def change(old: JsonObject) -> JsonObject:
        made, managed = scale_applied(
            live=old,
            old=_said(scale_of(kind, old)),
            applied=body,
            path=path,
            manager=operation.caller.field_manager,
            api_version=kind.resource.api_version,
            now=world.clock.now(),
            force=force,
            is_custom=kind.is_custom,
        )
        replicas = part(made, "spec", "replicas") or 0
        _require_replicas(operation, replicas)
        return _with_replicas(old, path, replicas, managed)

    changed = await update(world, replace(operation, is_asked=False), change)
    return scale_of(kind, changed)


async def _scaled(
    world: World, operation: Operation, wanted: Callable[[JsonObject], JsonObject]
) -> JsonObject:
    kind = operation.kind
    assert kind.scale is not None, "only kinds that scale have the path"
    path = kind.scale.replicas
    present = scale_of(kind, from_stored(kind, found(world, operation)))
    operation.verb = "UPDATE"
    scale = wanted(present)
    scale = await world.admission.mutate(operation, scale, present) or scale
    await world.admission.validate(operation, scale, present)
    replicas = part(scale, "spec", "replicas") or 0
    _require_replicas(operation, replicas)

    def change(old: JsonObject) -> JsonObject:
        managed = scaled(
            live=old,
            old=scale_of(kind, old),
            new=scale,
            path=path,
            manager=operation.caller.field_manager,
            api_version=kind.resource.api_version,
            now=world.clock.now(),
        )
        return _with_replicas(old, path, replicas, managed)

    expected = part(scale, "metadata", "resourceVersion") or ""
    asked = replace(operation, is_asked=False)
    return scale_of(kind, await update(world, asked, change, expected=expected))


def _said(scale: JsonObject) -> JsonObject:
    """The scale with its replicas, also if they are none; to compare with one that says so."""
    return {**scale, "spec": {"replicas": 0, **scale["spec"]}}


def _with_replicas(
    obj: JsonObject, path: tuple[str, ...], replicas: int, managed: list[JsonObject]
) -> JsonObject:
    new = copied(with_part(obj, path, replicas))
    if managed:
        new["metadata"]["managedFields"] = managed
    else:
        new["metadata"].pop("managedFields", None)
    return new


def _require_scale(operation: Operation, scale: JsonObject) -> None:
    if scale.get("kind") not in (None, "Scale"):
        raise status.bad_request(f"wrong object passed to Scale update: {scale.get('kind')}")
    name = part(scale, "metadata", "name")
    if name != operation.name:
        raise status.bad_request(
            f"the name of the object ({name or ''}) does not match the name on the URL"
            f" ({operation.name})"
        )
    _require_replicas(operation, part(scale, "spec", "replicas") or 0)


def _require_replicas(operation: Operation, replicas: object) -> None:
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise status.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal'
            f" {'string' if isinstance(replicas, str) else 'number'} into Go struct field"
            " ScaleSpec.spec.replicas of type int32"
        )
    if replicas < 0 and not operation.kind.is_custom:
        cause = Cause(
            "FieldValueInvalid",
            f"Invalid value: {replicas}: must be greater than or equal to 0",
            "spec.replicas",
        )
        raise status.invalid(status.Subject("autoscaling", "Scale", operation.name), [cause])


async def bind(world: World, operation: Operation, binding: JsonObject) -> JsonObject:
    """Puts a pod on a node."""
    if part(binding, "metadata", "name") != operation.name:
        raise status.bad_request("name in URL does not match name in Binding object")
    node = part(binding, "target", "name")
    uid = part(binding, "metadata", "uid")
    if not node:
        raise status.ApiStatus("target.name: Required value", code=500)
    found(world, operation)
    operation.verb = "CREATE"
    await world.admission.validate(operation, binding, None)

    def change(old: JsonObject) -> JsonObject:
        _require_bindable(operation, old, uid)
        bound = _bound(old, node, binding, format_time(world.clock.now()))
        return with_topology(world, bound, node)

    await _directly(world, operation, change)
    return _created()


def _require_bindable(operation: Operation, pod: JsonObject, uid: str | None) -> None:
    subject = status.Subject("", "pods/binding", operation.name)
    if uid and uid != pod["metadata"]["uid"]:
        raise status.conflict(
            subject,
            f"Precondition failed: UID in precondition: {uid}, UID in object meta:"
            f" {pod['metadata']['uid']}",
        )
    if pod["metadata"].get("deletionTimestamp"):
        raise status.conflict(
            subject, f"pod {operation.name} is being deleted, cannot be assigned to a host"
        )
    present = part(pod, "spec", "nodeName")
    if present:
        raise status.conflict(
            subject, f'pod {operation.name} is already assigned to node "{present}"'
        )
    if part(pod, "spec", "schedulingGates"):
        raise status.conflict(subject, f"pod {operation.name} has non-empty .spec.schedulingGates")


def _bound(pod: JsonObject, node: str, binding: JsonObject, now: str) -> JsonObject:
    bound = {**pod, "spec": {**pod["spec"], "nodeName": node}}
    for field in ("labels", "annotations"):
        more = part(binding, "metadata", field)
        if more:
            present = pod["metadata"].get(field) or {}
            bound["metadata"] = {**bound["metadata"], field: {**present, **more}}
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    old_status = pod.get("status") or {}
    others = [
        one for one in old_status.get("conditions") or () if one.get("type") != "PodScheduled"
    ]
    bound["status"] = {**old_status, "conditions": [*others, condition]}
    return bound


async def evict(world: World, operation: Operation, eviction: JsonObject) -> JsonObject:
    """Deletes a pod, if its disruption budget allows it."""
    if part(eviction, "metadata", "name") != operation.name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    found(world, operation)
    operation.verb = "CREATE"
    await world.admission.validate(operation, eviction, None)
    pod = found(world, operation)
    options = part(eviction, "deleteOptions") or {}
    preconditions = options.get("preconditions") or {}
    if options.get("dryRun"):
        operation.caller = replace(operation.caller, dry_run=True)
    if not _is_free_to_go(pod):
        _take_from_budget(world, operation, pod)
    chosen = DeleteOptions(
        grace_period_seconds=options.get("gracePeriodSeconds"),
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
    )
    _mark_as_evicted(world, operation, pod)
    await delete(world, replace(operation, subresource=""), chosen)
    return _created()


def _mark_as_evicted(world: World, operation: Operation, pod: JsonObject) -> None:
    """The reason of the end is in the pod's status before the end."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": format_time(world.clock.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    shown = pod.get("status") or {}
    others = [one for one in shown.get("conditions") or () if one.get("type") != "DisruptionTarget"]
    marked = {**pod, "status": {**shown, "conditions": [*others, condition]}}
    if not operation.caller.dry_run:
        stored = world.store.update(operation.key, marked, expected=pod)
        world.after_write(operation.kind, stored, pod)


def _is_free_to_go(pod: JsonObject) -> bool:
    phase = part(pod, "status", "phase")
    is_leaving = bool(pod["metadata"].get("deletionTimestamp"))
    return phase in ("Pending", "Succeeded", "Failed") or is_leaving


def _take_from_budget(world: World, operation: Operation, pod: JsonObject) -> None:
    labels = pod["metadata"].get("labels") or {}
    budgets = []
    for _, budget in world.store.list(_BUDGETS, namespace=operation.namespace).items:
        required = selector_requirements(part(budget, "spec", "selector"))
        if required is not None and matches_labels(required, labels):
            budgets.append(budget)
    if len(budgets) > 1:
        raise status.internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support."
        )
    if budgets:
        _disrupt(world, operation, budgets[0])


def _disrupt(world: World, operation: Operation, budget: JsonObject) -> None:
    shown = budget.get("status") or {}
    name = budget["metadata"]["name"]
    if (shown.get("disruptionsAllowed") or 0) <= 0:
        needed = shown.get("desiredHealthy") or 0
        healthy = shown.get("currentHealthy") or 0
        why = (
            f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        )
        raise status.too_many_requests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            retry_after=0,
            causes=[Cause("DisruptionBudget", why)],
        )
    if operation.caller.dry_run:
        return
    disrupted = {
        **(shown.get("disruptedPods") or {}),
        operation.name: format_time(world.clock.now()),
    }
    counted = {
        **shown,
        "disruptionsAllowed": shown["disruptionsAllowed"] - 1,
        "disruptedPods": disrupted,
    }
    key = replace(operation, name=name).key._replace(resource=_BUDGETS)
    world.store.update(key, {**budget, "status": counted}, expected=budget)


async def finalize_namespace(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    """Changes spec.finalizers, which nothing else may."""
    finalizers = part(body, "spec", "finalizers") or []

    def change(old: JsonObject) -> JsonObject:
        spec = {**(old.get("spec") or {}), "finalizers": finalizers}
        if not finalizers:
            del spec["finalizers"]
        return {**old, "spec": spec}

    operation.verb = "UPDATE"
    old = found(world, operation)
    await world.admission.validate(operation, change(old), old)
    return await _directly(world, operation, change)


async def _directly(
    world: World, operation: Operation, change: Callable[[JsonObject], JsonObject]
) -> JsonObject:
    """A write that does not default; whoever has a say about it was asked before."""
    old = found(world, operation)
    new = change(old)
    if operation.caller.dry_run:
        return new
    metadata = new["metadata"]
    is_over = metadata.get("deletionTimestamp") and not (
        metadata.get("finalizers") or new["spec"].get("finalizers")
    )
    if is_over and new["kind"] == "Namespace":
        world.store.delete(operation.key, expected=old)
        world.after_write(operation.kind, None, old)
    else:
        new = world.store.update(operation.key, new, expected=old)
        world.after_write(operation.kind, new, old)
    await world.store.durable()
    return new


def _created() -> JsonObject:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
