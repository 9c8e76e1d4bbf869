"""What a kind does to its own objects before they are stored."""

from collections.abc import Callable, Mapping
from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.qos import qos_class

JsonObject = dict[str, Any]

_KEPT_STATUS = frozenset(("Node", "PersistentVolume"))
_CREATED_STATUS: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "CustomResourceDefinition": lambda definition: {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [
            one["name"] for one in part(definition, "spec", "versions") or () if one.get("storage")
        ],
    },
    "Ingress": lambda _: {"loadBalancer": {}},
    "Job": lambda _: {},
    "Namespace": lambda _: {"phase": "Active"},
    "PersistentVolumeClaim": lambda _: {"phase": "Pending"},
    "Pod": lambda pod: {"phase": "Pending", **_gated(pod), "qosClass": qos_class(pod)},
    "Service": lambda _: {"loadBalancer": {}},
    "StatefulSet": lambda _: {"replicas": 0, "availableReplicas": 0},
    "ReplicaSet": lambda _: {"replicas": 0},
    "ReplicationController": lambda _: {"replicas": 0},
    "PodDisruptionBudget": lambda _: {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
    "DaemonSet": lambda _: {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    "HorizontalPodAutoscaler": lambda _: {"currentMetrics": None, "desiredReplicas": 0},
    "Deployment": lambda _: {},
    "ResourceQuota": lambda _: {},
    "ValidatingAdmissionPolicy": lambda _: {},
}


def prepare_creation(kind: Kind, obj: JsonObject, now: str) -> None:
    """Status is the server's to begin with; a new object is of generation 1."""
    metadata = obj["metadata"]
    name = kind.resource.kind
    if kind.is_custom:
        if kind.has_status:
            obj.pop("status", None)
    elif name in _CREATED_STATUS:
        obj["status"] = _CREATED_STATUS[name](obj)
    elif name == "PersistentVolume":
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}
    elif kind.has_status and name not in _KEPT_STATUS:
        obj.pop("status", None)
    if kind.is_custom or kind.has_generation:
        metadata["generation"] = 1
    if not kind.is_custom and name in _PREPARED:
        _PREPARED[name](obj)


def prepare_update(kind: Kind, new: JsonObject, old: JsonObject) -> None:
    """The main path: the status stays as it is, a change of the rest is a new generation."""
    if kind.has_status:
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
    if kind.resource.kind == "Namespace":
        _keep(new, old, "spec")
    if kind.resource.kind == "Job" and not kind.is_custom:
        _label_job(new)
    if (kind.is_custom or kind.has_generation) and is_other_generation(kind, new, old):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def prepare_status_update(kind: Kind, new: JsonObject, old: JsonObject) -> None:
    """The path of the status: all else stays as it is."""
    if kind.is_custom:
        _keep_all_but_status(new, old)
        return
    for field in old.keys() | new.keys():
        if field not in ("status", "metadata", "apiVersion", "kind"):
            _keep(new, old, field)
    if kind.resource.kind == "Pod":
        _keep_pod_parts(new, old)
    if kind.resource.kind == "Job":
        _label_job(new)
    if kind.resource.kind == "Namespace" and not old["metadata"].get("deletionTimestamp"):
        new.setdefault("status", {})["phase"] = "Active"


def is_other_generation(kind: Kind, new: JsonObject, old: JsonObject) -> bool:
    """Does anything differ that the kind counts?"""
    uncounted = {"metadata", "apiVersion", "kind"} | ({"status"} if kind.has_status else set())
    fields = (new.keys() | old.keys()) - uncounted
    if any(new.get(field) != old.get(field) for field in fields):
        return True
    return kind.resource.kind == "EndpointSlice" and _is_labelled_otherwise(new, old)


def _is_labelled_otherwise(new: JsonObject, old: JsonObject) -> bool:
    """Endpoint slices count their metadata, too."""
    names = ("labels", "annotations", "ownerReferences", "finalizers")
    return any(new["metadata"].get(name) != old["metadata"].get(name) for name in names)


def _keep_all_but_status(new: JsonObject, old: JsonObject) -> None:
    managed = new["metadata"].get("managedFields")
    status = new.get("status")
    new.clear()
    new.update(old)
    new["metadata"] = dict(old["metadata"])
    if managed is not None:
        new["metadata"]["managedFields"] = managed
    if status is None:
        new.pop("status", None)
    else:
        new["status"] = status


def _keep_pod_parts(new: JsonObject, old: JsonObject) -> None:
    owners = old["metadata"].get("ownerReferences")
    new["metadata"].pop("ownerReferences", None)
    if owners:
        new["metadata"]["ownerReferences"] = owners
    quality = part(old, "status", "qosClass")
    status = new.setdefault("status", {})
    if quality and not status.get("qosClass"):
        status["qosClass"] = quality


def _keep(new: JsonObject, old: JsonObject, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _prepare_namespace(obj: JsonObject) -> None:
    spec = obj.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        finalizers = [*finalizers, "kubernetes"]
    obj["spec"] = {**spec, "finalizers": finalizers}
    labels = obj["metadata"].get("labels") or {}
    name = obj["metadata"].get("name", "")
    obj["metadata"]["labels"] = {**labels, "kubernetes.io/metadata.name": name}


def _label_job(job: JsonObject) -> None:
    """A Job without labels has those of its pods."""
    labels = part(job, "spec", "template", "metadata", "labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)


def _select_own_pods(job: JsonObject) -> None:
    """A Job's pods are told from others by its UID, unless it says how."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    uid, name = metadata["uid"], metadata["name"]
    template = spec.setdefault("template", {}).setdefault("metadata", {})
    labels = dict(template.get("labels") or {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels |= {f"{prefix}controller-uid": uid, f"{prefix}job-name": name}
    template["labels"] = labels
    selector = spec.setdefault("selector", {})
    own = {"batch.kubernetes.io/controller-uid": uid}
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), **own}
    _label_job(job)


_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"


def _name_app_armor(pod: JsonObject) -> None:
    """Profiles that old annotations name stand in the field, too."""
    annotations = pod["metadata"].get("annotations") or {}
    if not any(key.startswith(_APP_ARMOR) for key in annotations):
        return
    of_pod = part(pod, "spec", "securityContext", "appArmorProfile")
    for field in ("initContainers", "containers"):
        for container in part(pod, "spec", field) or ():
            profile = _app_armor(annotations.get(f"{_APP_ARMOR}{container.get('name')}", ""))
            context = container.get("securityContext") or {}
            if profile and profile != of_pod and "appArmorProfile" not in context:
                container["securityContext"] = {**context, "appArmorProfile": profile}


def _app_armor(value: str) -> JsonObject:
    kinds = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
    if value in kinds:
        return {"type": kinds[value]}
    prefix = "localhost/"
    if value.startswith(prefix):
        return {"type": "Localhost", "localhostProfile": value.removeprefix(prefix)}
    return {}


def _gated(pod: JsonObject) -> JsonObject:
    """A pod that is held back says so from the start."""
    if not part(pod, "spec", "schedulingGates"):
        return {}
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": None,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    return {"conditions": [condition]}


_PREPARED: Mapping[str, Callable[[JsonObject], None]] = {
    "Job": _select_own_pods,
    "Namespace": _prepare_namespace,
    "Pod": _name_app_armor,
}
