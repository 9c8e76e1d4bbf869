"""The columns of built-in kinds."""

from collections.abc import Callable, Mapping
from typing import Any

from lws.sandbox.server.autoscalers import as_stored
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Column, Kind
from lws.sandbox.server.tables import admission, jobs, networking
from lws.sandbox.server.tables.layout import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    Cells,
    Layout,
    age_of,
    name_of,
    since,
)
from lws.sandbox.server.tables.pods import pod_cells
from lws.sandbox.server.tables.words import (
    access_modes,
    containers_cells,
    event_source,
    few,
    label_words,
    selector_words,
    subjects,
)

JsonObject = dict[str, Any]
CellsOf = Callable[[JsonObject, float], Cells]


def builtin_layout(kind: Kind) -> Layout | None:
    """The columns of a built-in kind; None if it has nothing but name and age."""
    return _LAYOUTS.get(kind.resource.kind)


def _columns(text: str) -> tuple[Column, ...]:
    """`Ready, Desired:integer, Containers+`: names, types, and + for what only -o wide shows."""
    columns = []
    for word in text.split(", "):
        name, _, kind = word.rstrip("+").partition(":")
        if name == "Age":
            columns.append(AGE)
        elif name == "Name" and not word.endswith("+"):
            columns.append(NAME)
        else:
            form = "name" if name == "Name" else ""
            columns.append(Column(name, kind or "string", form, int(word.endswith("+"))))
    return tuple(columns)


def _number(obj: JsonObject, *path: str) -> int:
    return part(obj, *path) or 0


def _workload(obj: JsonObject) -> Cells:
    return [*containers_cells(obj), selector_words(part(obj, "spec", "selector"))]


def _stateful_set(obj: JsonObject, now: float) -> Cells:
    ready, desired = _number(obj, "status", "readyReplicas"), _number(obj, "spec", "replicas")
    return [name_of(obj), f"{ready}/{desired}", age_of(obj, now), *containers_cells(obj)]


def _deployment(obj: JsonObject, now: float) -> Cells:
    ready, desired = _number(obj, "status", "readyReplicas"), _number(obj, "spec", "replicas")
    updated = _number(obj, "status", "updatedReplicas")
    available = _number(obj, "status", "availableReplicas")
    counts = [f"{ready}/{desired}", updated, available]
    return [name_of(obj), *counts, age_of(obj, now), *_workload(obj)]


def _replica_set(obj: JsonObject, now: float) -> Cells:
    counts = [
        _number(obj, "spec", "replicas"),
        _number(obj, "status", "replicas"),
        _number(obj, "status", "readyReplicas"),
    ]
    return [name_of(obj), *counts, age_of(obj, now), *_workload(obj)]


def _replication_controller(obj: JsonObject, now: float) -> Cells:
    cells = _replica_set({**obj, "spec": {**obj["spec"], "selector": None}}, now)
    return [*cells[:-1], label_words(part(obj, "spec", "selector"))]


def _daemon_set(obj: JsonObject, now: float) -> Cells:
    names = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    counts = [_number(obj, "status", one) for one in names]
    nodes = label_words(part(obj, "spec", "template", "spec", "nodeSelector"))
    return [name_of(obj), *counts, nodes, age_of(obj, now), *_workload(obj)]


def _service(obj: JsonObject, now: float) -> Cells:
    spec = obj.get("spec") or {}
    ports = ",".join(
        f"{port['port']}{':' + str(port['nodePort']) if port.get('nodePort') else ''}"
        f"/{port.get('protocol', 'TCP')}"
        for port in spec.get("ports") or ()
    )
    addresses = spec.get("clusterIPs") or [NONE]
    return [
        name_of(obj),
        spec.get("type", ""),
        addresses[0],
        _external_address(obj, spec),
        ports or NONE,
        age_of(obj, now),
        label_words(spec.get("selector")),
    ]


def _external_address(obj: JsonObject, spec: JsonObject) -> str:
    given = list(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case "LoadBalancer":
            ingress = part(obj, "status", "loadBalancer", "ingress") or ()
            found = [one.get("ip") or one.get("hostname") or "" for one in ingress]
            return ",".join([*found, *given]) or "<pending>"
        case "ClusterIP" | "NodePort":
            return ",".join(given) or NONE
    return UNKNOWN


def _endpoints(obj: JsonObject, now: float) -> Cells:
    found = [
        f"{address['ip']}:{port['port']}" if port else address["ip"]
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or [None]
        for address in subset.get("addresses") or ()
    ]
    return [name_of(obj), few(found, 3) or NONE, age_of(obj, now)]


def _endpoint_slice(obj: JsonObject, now: float) -> Cells:
    ports = [str(one.get("port") or one.get("name") or "*") for one in obj.get("ports") or ()]
    addresses = [
        address for one in obj.get("endpoints") or () for address in one.get("addresses") or ()
    ]
    return [
        name_of(obj),
        obj.get("addressType", ""),
        few(ports, 3) or UNSET,
        few(addresses, 3) or UNSET,
        age_of(obj, now),
    ]


def _node(obj: JsonObject, now: float) -> Cells:
    status = obj.get("status") or {}
    words = [
        "Ready" if one.get("status") == "True" else "NotReady"
        for one in status.get("conditions") or ()
        if one.get("type") == "Ready"
    ] or ["Unknown"]
    if part(obj, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    info = status.get("nodeInfo") or {}
    kernel = info.get("kernelVersion") or UNKNOWN
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name_of(obj),
        ",".join(words),
        ",".join(_roles(obj)) or NONE,
        age_of(obj, now),
        info.get("kubeletVersion", ""),
        _node_address(status, "InternalIP"),
        _node_address(status, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _roles(node: JsonObject) -> list[str]:
    prefix, roles = "node-role.kubernetes.io/", set()
    for key, value in (node["metadata"].get("labels") or {}).items():
        if key.startswith(prefix):
            roles.add(key.removeprefix(prefix))
        elif key == "kubernetes.io/role":
            roles.add(value)
    return sorted(roles - {""})


def _node_address(status: JsonObject, kind: str) -> str:
    found = (one for one in status.get("addresses") or () if one.get("type") == kind)
    return next((str(one["address"]) for one in found), NONE)


def _event(obj: JsonObject, now: float) -> Cells:
    new_names = obj["apiVersion"] != "v1"
    about = obj.get("regarding" if new_names else "involvedObject") or {}
    prefix = "deprecated" if new_names else ""

    def old(name: str) -> Any:
        return obj.get(f"deprecated{name[0].upper()}{name[1:]}" if prefix else name)

    first = since(old("firstTimestamp") or obj.get("eventTime"), now)
    last = since(old("lastTimestamp"), now) if old("lastTimestamp") else first
    count = old("count") or 1
    series = obj.get("series")
    if series:
        last, count = since(series.get("lastObservedTime"), now), series.get("count", 1)
    kind, name = str(about.get("kind", "")).lower(), about.get("name")
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{name}" if name else kind,
        about.get("fieldPath", ""),
        event_source(old("source") or {}, obj),
        str(obj.get("note" if new_names else "message") or "").strip(),
        first,
        count,
        name_of(obj),
    ]


def _claim(obj: JsonObject, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    is_leaving = obj["metadata"].get("deletionTimestamp")
    volume = spec.get("volumeName", "")
    return [
        name_of(obj),
        "Terminating" if is_leaving else status.get("phase", ""),
        volume,
        part(status, "capacity", "storage") or "" if volume else "",
        access_modes(status.get("accessModes")) if volume else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        age_of(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _volume(obj: JsonObject, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    is_leaving = obj["metadata"].get("deletionTimestamp")
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        part(spec, "capacity", "storage") or "0",
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if is_leaving else status.get("phase", ""),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        status.get("reason", ""),
        age_of(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _autoscaler(obj: JsonObject, now: float) -> Cells:
    obj = as_stored(obj) if obj["apiVersion"] == "autoscaling/v1" else obj
    spec = obj.get("spec") or {}
    target = spec.get("scaleTargetRef") or {}
    metrics = [_metric(one) for one in spec.get("metrics") or ()]
    return [
        name_of(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        few(metrics, 2, separator=", ") or NONE,
        str(spec["minReplicas"]) if spec.get("minReplicas") is not None else UNSET,
        spec.get("maxReplicas", 0),
        _number(obj, "status", "currentReplicas"),
        age_of(obj, now),
    ]


def _metric(metric: JsonObject) -> str:
    """The target; nothing measures here, so what is measured is unknown."""
    kind = metric.get("type", "")
    source = metric.get(kind[:1].lower() + kind[1:]) or {}
    target = source.get("target") or {}
    named = f"{source['name']}: " if kind in ("Resource", "ContainerResource") else ""
    if target.get("averageUtilization") is not None:
        return f"{named}{UNKNOWN}/{target['averageUtilization']}%"
    if target.get("averageValue") is not None:
        suffix = " (avg)" if kind in ("External", "Object") else ""
        return f"{named}{UNKNOWN}/{target['averageValue']}{suffix}"
    return f"{named}{UNKNOWN}/{target.get('value', '<auto>')}"


def _budget(obj: JsonObject, now: float) -> Cells:
    bounds = [part(obj, "spec", name) for name in ("minAvailable", "maxUnavailable")]
    shown = ["N/A" if bound is None else str(bound) for bound in bounds]
    allowed = _number(obj, "status", "disruptionsAllowed")
    return [name_of(obj), *shown, allowed, age_of(obj, now)]


def _binding(obj: JsonObject, now: float) -> Cells:
    role = obj.get("roleRef") or {}
    return [
        name_of(obj),
        f"{role.get('kind', '')}/{role.get('name', '')}",
        age_of(obj, now),
        subjects(obj, "User"),
        subjects(obj, "Group"),
        subjects(obj, "ServiceAccount"),
    ]


def _controller_revision(obj: JsonObject, now: float) -> Cells:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = owner["kind"].lower() + (f".{group}" if group else "")
        shown = f"{kind}/{owner['name']}"
    return [name_of(obj), shown, obj.get("revision", 0), age_of(obj, now)]


def _quota(obj: JsonObject, now: float) -> Cells:
    hard, used = (part(obj, "status", name) or {} for name in ("hard", "used"))
    words = {name: f"{name}: {used.get(name, 0)}/{hard[name]}" for name in sorted(hard)}
    limits = [word for name, word in words.items() if name.startswith("limits.")]
    requests = [word for name, word in words.items() if not name.startswith("limits.")]
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, now)]


def _storage_class(obj: JsonObject, now: float) -> Cells:
    annotations = obj["metadata"].get("annotations") or {}
    is_default = annotations.get("storageclass.kubernetes.io/is-default-class") == "true"
    return [
        name_of(obj) + (" (default)" if is_default else ""),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age_of(obj, now),
    ]


def _priority_class(obj: JsonObject, now: float) -> Cells:
    return [
        name_of(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age_of(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def _pod_template(obj: JsonObject, now: float) -> Cells:
    del now
    labels = part(obj, "template", "metadata", "labels")
    return [name_of(obj), *containers_cells({"spec": obj}), label_words(labels)]


def _created_at(obj: JsonObject, now: float) -> Cells:
    del now
    return [name_of(obj), obj["metadata"].get("creationTimestamp")]


def _aged(*middle: Callable[[JsonObject], Any]) -> CellsOf:
    """Name, some cells, age."""
    return lambda obj, now: [name_of(obj), *(one(obj) for one in middle), age_of(obj, now)]


_WEBHOOKS = (
    "Name, Webhooks:integer, Age",
    _aged(lambda obj: len(obj.get("webhooks") or ())),
)
_BINDINGS = ("Name, Role, Age, Users+, Groups+, ServiceAccounts+", _binding)
_CREATED = ("Name, Created At:date", _created_at)
_REPLICAS = (
    "Name, Desired:integer, Current:integer, Ready:integer, Age, Containers+, Images+, Selector+"
)
_ROWS: Mapping[str, tuple[str, CellsOf]] = {
    "ClusterRole": _CREATED,
    "ClusterRoleBinding": _BINDINGS,
    "ConfigMap": (
        "Name, Data, Age",
        _aged(lambda obj: len(obj.get("data") or ()) + len(obj.get("binaryData") or ())),
    ),
    "ControllerRevision": ("Name, Controller, Revision, Age", _controller_revision),
    "CustomResourceDefinition": _CREATED,
    "DaemonSet": (
        (
            "Name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer,"
            " Available:integer, Node Selector, Age, Containers+, Images+, Selector+"
        ),
        _daemon_set,
    ),
    "Deployment": (
        "Name, Ready, Up-to-date, Available, Age, Containers+, Images+, Selector+",
        _deployment,
    ),
    "EndpointSlice": ("Name, AddressType, Ports, Endpoints, Age", _endpoint_slice),
    "Endpoints": ("Name, Endpoints, Age", _endpoints),
    "Event": (
        "Last Seen, Type, Reason, Object, Subobject+, Source+, Message, First Seen+, Count+, Name+",
        _event,
    ),
    "HorizontalPodAutoscaler": (
        "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age",
        _autoscaler,
    ),
    "Ingress": ("Name, Class, Hosts, Address, Ports, Age", networking.ingress),
    "IngressClass": ("Name, Controller, Parameters, Age", networking.ingress_class),
    "Job": (
        "Name, Status, Completions, Duration, Age, Containers+, Images+, Selector+",
        jobs.job,
    ),
    "Lease": ("Name, Holder, Age", _aged(lambda o: part(o, "spec", "holderIdentity") or "")),
    "LimitRange": _CREATED,
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "Namespace": ("Name, Status, Age", _aged(lambda o: part(o, "status", "phase") or "")),
    "NetworkPolicy": ("Name, Pod-Selector, Age", networking.network_policy),
    "Node": (
        (
            "Name, Status, Roles, Age, Version, Internal-IP+, External-IP+, OS-Image+,"
            " Kernel-Version+, Container-Runtime+"
        ),
        _node,
    ),
    "PersistentVolume": (
        (
            "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass,"
            " VolumeAttributesClass, Reason, Age, VolumeMode+"
        ),
        _volume,
    ),
    "PersistentVolumeClaim": (
        (
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass,"
            " Age, VolumeMode+"
        ),
        _claim,
    ),
    "Pod": (
        "Name, Ready, Status, Restarts, Age, IP+, Node+, Nominated Node+, Readiness Gates+",
        pod_cells,
    ),
    "PodDisruptionBudget": (
        "Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
        _budget,
    ),
    "PodTemplate": ("Name, Containers, Images, Pod Labels", _pod_template),
    "PriorityClass": (
        "Name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy",
        _priority_class,
    ),
    "ReplicaSet": (_REPLICAS, _replica_set),
    "ReplicationController": (_REPLICAS, _replication_controller),
    "ResourceQuota": ("Name, Request, Limit, Age", _quota),
    "Role": _CREATED,
    "RoleBinding": _BINDINGS,
    "Secret": (
        "Name, Type, Data, Age",
        _aged(lambda obj: obj.get("type", ""), lambda obj: len(obj.get("data") or ())),
    ),
    "Service": (
        "Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector+",
        _service,
    ),
    "StatefulSet": ("Name, Ready, Age, Containers+, Images+", _stateful_set),
    "StorageClass": (
        "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
        _storage_class,
    ),
    "ValidatingAdmissionPolicy": ("Name, Validations:integer, ParamKind, Age", admission.policy),
    "ValidatingAdmissionPolicyBinding": ("Name, PolicyName, ParamRef, Age", admission.binding),
    "ValidatingWebhookConfiguration": _WEBHOOKS,
}
_LAYOUTS = {kind: Layout(_columns(text), cells) for kind, (text, cells) in _ROWS.items()}
