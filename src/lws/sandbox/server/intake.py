"""What admission plugins that every cluster has do to new objects."""

from collections.abc import Callable, Mapping
from typing import Any

from lws.sandbox.patch.resets import reset_paths
from lws.sandbox.server import status
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import Subject
from lws.sandbox.store import Key

JsonObject = dict[str, Any]
Path = tuple[str, ...]

_PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses"
_STORAGE_CLASSES = "storage.k8s.io/storageclasses"
_UNDONE_OF_JOBS = (
    *("backoffLimitPerIndex", "maxFailedIndexes", "managedBy", "podFailurePolicy"),
    "successPolicy",
)
_INGRESS_CLASSES = "networking.k8s.io/ingressclasses"
_DEFAULT_INGRESS_CLASS = "ingressclass.kubernetes.io/is-default-class"
_INGRESS_CLASS = "kubernetes.io/ingress.class"
_OLD_INGRESS_CLASS = (
    f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
)
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_GONE_NODE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATED_SECONDS = 300
_TOPOLOGY_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def resets_of(kind: Kind, subresource: str) -> tuple[Path, ...]:
    """Fields that a path does not write, so that nobody comes to own them by it."""
    return reset_paths(
        api_version=kind.resource.api_version,
        kind=kind.resource.kind,
        subresource=subresource,
        has_status=kind.has_status,
        is_custom=kind.is_custom,
    )


def admit_builtin(world: World, operation: Operation, obj: JsonObject) -> None:
    """Changes a new object of a built-in kind as the cluster's own plugins do."""
    plugin = _PLUGINS.get(operation.kind.resource.kind)
    if plugin is not None and not operation.kind.is_custom:
        plugin(world, operation, obj)


def _admit_pod(world: World, operation: Operation, pod: JsonObject) -> None:
    spec = pod.setdefault("spec", {})
    _set_priority(world, operation, pod)
    tolerations = list(spec.get("tolerations") or ())
    for taint in _GONE_NODE_TAINTS:
        if not any(_tolerates(one, taint) for one in tolerations):
            tolerations.append(
                {
                    "key": taint,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _TOLERATED_SECONDS,
                }
            )
    spec["tolerations"] = tolerations
    if spec.get("nodeName"):
        pod["metadata"] = with_topology(world, pod, spec["nodeName"])["metadata"]


def with_topology(world: World, pod: JsonObject, node: str) -> JsonObject:
    """A pod on a node is labelled with where the node is."""
    found = world.store.get(Key("/nodes", "", node))
    labels = (part(found, "metadata", "labels") or {}) if found else {}
    shown = {name: labels[name] for name in _TOPOLOGY_LABELS if name in labels}
    if not shown:
        return pod
    present = pod["metadata"].get("labels") or {}
    return {**pod, "metadata": {**pod["metadata"], "labels": {**present, **shown}}}


def _tolerates(toleration: Mapping[str, Any], taint: str) -> bool:
    is_key = toleration.get("key") in (taint, None, "")
    return is_key and toleration.get("effect") in ("NoExecute", None, "")


def _set_priority(world: World, operation: Operation, pod: JsonObject) -> None:
    spec, subject = pod["spec"], operation.kind.subject(operation.asked_name(pod))
    name = spec.get("priorityClassName")
    chosen = _priority_class(world, subject, name) if name else _default_priority(world)
    if chosen is not None and not name:
        spec["priorityClassName"] = chosen["metadata"]["name"]
    value = chosen.get("value", 0) if chosen else 0
    if spec.get("priority") not in (None, value):
        raise status.forbidden(
            subject,
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec;"
            f" priority admission controller computed {value} from the given PriorityClass name",
        )
    spec["priority"] = value
    policy = (chosen or {}).get("preemptionPolicy") or "PreemptLowerPriority"
    spec["preemptionPolicy"] = policy


def _priority_class(world: World, subject: Subject, name: str) -> JsonObject:
    found = world.store.get(Key(_PRIORITY_CLASSES, "", name))
    if found is None:
        raise status.forbidden(subject, f"no PriorityClass with name {name} was found")
    return found


def _default_priority(world: World) -> JsonObject | None:
    items = world.store.list(_PRIORITY_CLASSES).items
    defaults = [obj for _, obj in items if obj.get("globalDefault")]
    return min(defaults, key=lambda one: one.get("value", 0), default=None)


def _admit_claim(world: World, operation: Operation, claim: JsonObject) -> None:
    del operation
    _add_finalizer(claim, "kubernetes.io/pvc-protection")
    spec = claim.setdefault("spec", {})
    annotations = claim["metadata"].get("annotations") or {}
    is_chosen = "storageClassName" in spec or (
        "volume.beta.kubernetes.io/storage-class" in annotations
    )
    if is_chosen:
        return
    name = _default_class(world, _STORAGE_CLASSES, _DEFAULT_CLASS)
    if name:
        spec["storageClassName"] = name


def _admit_ingress(world: World, operation: Operation, ingress: JsonObject) -> None:
    spec = ingress.setdefault("spec", {})
    annotations = ingress["metadata"].get("annotations") or {}
    if _INGRESS_CLASS in annotations:
        operation.warn(_OLD_INGRESS_CLASS)
    if spec.get("ingressClassName") is not None or _INGRESS_CLASS in annotations:
        return
    name = _default_class(world, _INGRESS_CLASSES, _DEFAULT_INGRESS_CLASS)
    if name:
        spec["ingressClassName"] = name


def _admit_job(world: World, operation: Operation, job: JsonObject) -> None:
    """Jobs of the simple form."""
    del world, operation
    spec = job.get("spec") or {}
    for field in _UNDONE_OF_JOBS:
        if spec.get(field) is not None:
            raise status.not_implemented(f"{field} of Jobs")
    if spec.get("completionMode") == "Indexed":
        raise status.not_implemented("Jobs whose pods have an index")


def _default_class(world: World, storage: str, annotation: str) -> str:
    """The newest that calls itself the default; of those of one second the first by name."""
    defaults = [
        obj["metadata"]
        for _, obj in world.store.list(storage).items
        if (obj["metadata"].get("annotations") or {}).get(annotation) == "true"
    ]
    newest = max(defaults, key=lambda one: one["creationTimestamp"], default=None)
    return newest["name"] if newest is not None else ""


def _admit_volume(world: World, operation: Operation, volume: JsonObject) -> None:
    del world, operation
    _add_finalizer(volume, "kubernetes.io/pv-protection")


def _add_finalizer(obj: JsonObject, finalizer: str) -> None:
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer not in finalizers:
        obj["metadata"]["finalizers"] = [*finalizers, finalizer]


_PLUGINS: Mapping[str, Callable[[World, Operation, JsonObject], None]] = {
    "Ingress": _admit_ingress,
    "Job": _admit_job,
    "PersistentVolume": _admit_volume,
    "PersistentVolumeClaim": _admit_claim,
    "Pod": _admit_pod,
}
