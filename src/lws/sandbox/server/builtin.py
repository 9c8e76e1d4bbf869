"""The kinds that are served without a definition."""

from collections.abc import Iterator
from functools import partial

from lws.client.resources import Resource
from lws.sandbox.schema import Schema
from lws.sandbox.schema.builtin import schema_of
from lws.sandbox.server.kinds import ALL_VERBS, Kind, ScalePaths, Subresource

_STATUS = (Subresource("status"),)
_SCALE = Subresource("scale", kind="Scale", group="autoscaling", version="v1")
_CREATE = ("create",)
_CONNECT = ("create", "get")
_PROXY = ("create", "delete", "get", "patch", "update")
_UNDELETED_TOGETHER = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")

_POD_PARTS = (
    Subresource("attach", _CONNECT, "PodAttachOptions"),
    Subresource("binding", _CREATE, "Binding"),
    Subresource("ephemeralcontainers"),
    Subresource("eviction", _CREATE, "Eviction", "policy", "v1"),
    Subresource("exec", _CONNECT, "PodExecOptions"),
    Subresource("log", ("get",)),
    Subresource("portforward", _CONNECT, "PodPortForwardOptions"),
    Subresource("proxy", _PROXY, "PodProxyOptions"),
    Subresource("resize"),
    Subresource("status"),
)

# kind, plural, short names, categories, subresources
_NAMESPACED = {
    "v1": (
        ("ConfigMap", "configmaps", "cm", "", ()),
        ("Endpoints", "endpoints", "ep", "", ()),
        ("Event", "events", "ev", "", ()),
        ("LimitRange", "limitranges", "limits", "", ()),
        ("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", "", _STATUS),
        ("Pod", "pods", "po", "all", _POD_PARTS),
        ("PodTemplate", "podtemplates", "", "", ()),
        ("ReplicationController", "replicationcontrollers", "rc", "all", (_SCALE, *_STATUS)),
        ("ResourceQuota", "resourcequotas", "quota", "", _STATUS),
        ("Secret", "secrets", "", "", ()),
        (
            "ServiceAccount",
            "serviceaccounts",
            "sa",
            "",
            (Subresource("token", _CREATE, "TokenRequest", "authentication.k8s.io", "v1"),),
        ),
        (
            "Service",
            "services",
            "svc",
            "all",
            (Subresource("proxy", _PROXY, "ServiceProxyOptions"), *_STATUS),
        ),
    ),
    "apps/v1": (
        ("ControllerRevision", "controllerrevisions", "", "", ()),
        ("DaemonSet", "daemonsets", "ds", "all", _STATUS),
        ("Deployment", "deployments", "deploy", "all", (_SCALE, *_STATUS)),
        ("ReplicaSet", "replicasets", "rs", "all", (_SCALE, *_STATUS)),
        ("StatefulSet", "statefulsets", "sts", "all", (_SCALE, *_STATUS)),
    ),
    "autoscaling/v2": (
        ("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", "all", _STATUS),
    ),
    "autoscaling/v1": (
        ("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", "all", _STATUS),
    ),
    "batch/v1": (("Job", "jobs", "", "all", _STATUS),),
    "coordination.k8s.io/v1": (("Lease", "leases", "", "", ()),),
    "discovery.k8s.io/v1": (("EndpointSlice", "endpointslices", "", "", ()),),
    "events.k8s.io/v1": (("Event", "events", "ev", "", ()),),
    "networking.k8s.io/v1": (
        ("Ingress", "ingresses", "ing", "", _STATUS),
        ("NetworkPolicy", "networkpolicies", "netpol", "", ()),
    ),
    "policy/v1": (("PodDisruptionBudget", "poddisruptionbudgets", "pdb", "", _STATUS),),
    "rbac.authorization.k8s.io/v1": (
        ("RoleBinding", "rolebindings", "", "", ()),
        ("Role", "roles", "", "", ()),
    ),
}
_CLUSTER_WIDE = {
    "v1": (
        ("Namespace", "namespaces", "ns", "", (Subresource("finalize", ("update",)), *_STATUS)),
        ("Node", "nodes", "no", "", (Subresource("proxy", _PROXY, "NodeProxyOptions"), *_STATUS)),
        ("PersistentVolume", "persistentvolumes", "pv", "", _STATUS),
    ),
    "admissionregistration.k8s.io/v1": (
        (
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            "",
            "api-extensions",
            (),
        ),
        (
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
            "",
            "api-extensions",
            _STATUS,
        ),
        (
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            "",
            "api-extensions",
            (),
        ),
        (
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            "",
            "api-extensions",
            (),
        ),
    ),
    "apiextensions.k8s.io/v1": (
        (
            "CustomResourceDefinition",
            "customresourcedefinitions",
            "crd crds",
            "api-extensions",
            _STATUS,
        ),
    ),
    "networking.k8s.io/v1": (("IngressClass", "ingressclasses", "", "", ()),),
    "rbac.authorization.k8s.io/v1": (
        ("ClusterRoleBinding", "clusterrolebindings", "", "", ()),
        ("ClusterRole", "clusterroles", "", "", ()),
    ),
    "scheduling.k8s.io/v1": (("PriorityClass", "priorityclasses", "pc", "", ()),),
    "storage.k8s.io/v1": (("StorageClass", "storageclasses", "sc", "", ()),),
}
_REVIEWS = {
    "authentication.k8s.io/v1": (
        ("SelfSubjectReview", "selfsubjectreviews", False),
        ("TokenReview", "tokenreviews", False),
    ),
    "authorization.k8s.io/v1": (
        ("LocalSubjectAccessReview", "localsubjectaccessreviews", True),
        ("SelfSubjectAccessReview", "selfsubjectaccessreviews", False),
        ("SelfSubjectRulesReview", "selfsubjectrulesreviews", False),
        ("SubjectAccessReview", "subjectaccessreviews", False),
    ),
    "v1": (("Binding", "bindings", True),),
}

_GENERATION = frozenset(
    [
        "CustomResourceDefinition",
        "DaemonSet",
        "Deployment",
        "EndpointSlice",
        "Ingress",
        "IngressClass",
        "Job",
        "MutatingWebhookConfiguration",
        "NetworkPolicy",
        "Pod",
        "PodDisruptionBudget",
        "PodTemplate",
        "PriorityClass",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ]
)
_MADE_BY_UPDATE = frozenset(
    [
        "Endpoints",
        "Event",
        "Lease",
        "LimitRange",
        "ResourceQuota",
        "Role",
        "RoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
        "Service",
    ]
)
_NEEDS_VERSION = frozenset(
    [
        "CustomResourceDefinition",
        "Lease",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ]
)
_DEPRECATED = {
    "Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}
_FIELDS = {
    "CustomResourceDefinition": (),
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Job": ("status.successful",),
    "Namespace": ("status.phase",),
    "Node": ("spec.unschedulable",),
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "ReplicaSet": ("status.replicas",),
    "ReplicationController": ("status.replicas",),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
}
_EVENT_FIELDS = {  # as the newer group calls them
    field.replace("involvedObject", "regarding"): field for field in _FIELDS["Event"]
}
_SELECTORS = {
    "Deployment": ("spec", "selector"),
    "ReplicaSet": ("spec", "selector"),
    "ReplicationController": ("spec", "selector"),
    "StatefulSet": ("spec", "selector"),
}


def builtin_kinds() -> Iterator[Kind]:
    """All of them."""
    for api_version, rows in _NAMESPACED.items():
        for row in rows:
            yield _kind(api_version, *row, namespaced=True)
    for api_version, rows in _CLUSTER_WIDE.items():
        for row in rows:
            yield _kind(api_version, *row, namespaced=False)
    for api_version, reviews in _REVIEWS.items():
        for name, plural, namespaced in reviews:
            yield _review(api_version, name, plural, namespaced=namespaced)


def _kind(
    api_version: str,
    name: str,
    plural: str,
    short_names: str,
    categories: str,
    subresources: tuple[Subresource, ...],
    *,
    namespaced: bool,
) -> Kind:
    group, _, version = api_version.rpartition("/")
    selector = _SELECTORS.get(name)
    fields = _FIELDS.get(name, ())
    return Kind(
        resource=Resource(group, version, plural, name, namespaced=namespaced),
        singular=name.lower(),
        short_names=tuple(short_names.split()),
        categories=tuple(categories.split()),
        verbs=_UNDELETED_TOGETHER if name == "Namespace" else ALL_VERBS,
        subresources={one.name: one for one in subresources},
        list_kind=f"{name}List",
        read_schema=partial(_schema, group, version, name),
        deprecation=_DEPRECATED.get(name, ""),
        stored_as="/events" if name == "Event" else "",
        has_generation=name in _GENERATION,
        needs_version=name in _NEEDS_VERSION,
        is_made_by_update=name in _MADE_BY_UPDATE,
        scale=ScalePaths(selector=selector) if selector else None,
        storage_version="v2" if group == "autoscaling" else "",
        selectable=tuple(_EVENT_FIELDS) if group == "events.k8s.io" else fields,
    )


def _schema(group: str, version: str, name: str) -> Schema:
    schema = schema_of(group, version, name)
    assert schema is not None, f"no schema of {name}"
    return schema


def _review(api_version: str, name: str, plural: str, *, namespaced: bool) -> Kind:
    group, _, version = api_version.rpartition("/")
    return Kind(
        resource=Resource(group, version, plural, name, namespaced=namespaced),
        singular=name.lower(),
        verbs=_CREATE,
        list_kind=f"{name}List",
        read_schema=partial(_schema, group, version, name),
    )
