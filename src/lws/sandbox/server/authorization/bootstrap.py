"""The roles and bindings that every cluster has; those of its own parts are left out.

A rule is a line: verbs, groups and resources, each parted by spaces, `core` for the core group;
or verbs and paths. `tests/conformance` holds them against the real server's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lws.sandbox.server.authentication.users import (
    ACCOUNTS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
)
from lws.sandbox.server.authorization.authorizer import (
    BINDINGS,
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    RBAC,
    ROLES,
)
from lws.sandbox.server.authorization.rules import uncovered
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

_READ = "get list watch"
_WRITE = "create delete deletecollection patch update"
_BOTH = "create delete deletecollection get list patch update watch"
_HEALTH = "/healthz /livez /readyz /version /version/"
_SYSTEM = "kube-system"
_AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_READER = "extension-apiserver-authentication-reader"

_RULES: Mapping[str, str] = {
    "cluster-admin": """
        * | * | *
        * | *
    """,
    "system:aggregate-to-admin": f"""
        create | authorization.k8s.io | localsubjectaccessreviews
        {_BOTH} | rbac.authorization.k8s.io | rolebindings roles
    """,
    "system:aggregate-to-edit": f"""
        {_READ} | core | pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy
        impersonate | core | serviceaccounts
        {_WRITE} | core | pods pods/attach pods/exec pods/portforward pods/proxy
        create | core | pods/eviction
        {_WRITE} | core | configmaps persistentvolumeclaims replicationcontrollers \
            replicationcontrollers/scale secrets serviceaccounts services services/proxy
        create | core | serviceaccounts/token
        {_WRITE} | core events.k8s.io | events
        {_WRITE} | apps | daemonsets deployments deployments/rollback deployments/scale \
            replicasets replicasets/scale statefulsets statefulsets/scale
        {_WRITE} | autoscaling | horizontalpodautoscalers
        {_WRITE} | batch | cronjobs jobs
        {_WRITE} | extensions | daemonsets deployments deployments/rollback deployments/scale \
            ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale
        {_WRITE} | policy | poddisruptionbudgets
        {_WRITE} | networking.k8s.io | ingresses networkpolicies
        {_BOTH} | coordination.k8s.io | leases
        {_WRITE} | resource.k8s.io | resourceclaims resourceclaimtemplates
    """,
    "system:aggregate-to-view": f"""
        {_READ} | core | configmaps endpoints persistentvolumeclaims \
            persistentvolumeclaims/status pods replicationcontrollers \
            replicationcontrollers/scale serviceaccounts services services/status
        {_READ} | core | bindings limitranges namespaces/status pods/log pods/status \
            replicationcontrollers/status resourcequotas resourcequotas/status
        {_READ} | core | namespaces
        {_READ} | core events.k8s.io | events
        {_READ} | discovery.k8s.io | endpointslices
        {_READ} | apps | controllerrevisions daemonsets daemonsets/status deployments \
            deployments/scale deployments/status replicasets replicasets/scale \
            replicasets/status statefulsets statefulsets/scale statefulsets/status
        {_READ} | autoscaling | horizontalpodautoscalers horizontalpodautoscalers/status
        {_READ} | batch | cronjobs cronjobs/status jobs jobs/status
        {_READ} | extensions | daemonsets daemonsets/status deployments deployments/scale \
            deployments/status ingresses ingresses/status networkpolicies replicasets \
            replicasets/scale replicasets/status replicationcontrollers/scale
        {_READ} | policy | poddisruptionbudgets poddisruptionbudgets/status
        {_READ} | networking.k8s.io | ingresses ingresses/status networkpolicies
        {_READ} | resource.k8s.io | resourceclaims resourceclaims/status resourceclaimtemplates
    """,
    "system:auth-delegator": """
        create | authentication.k8s.io | tokenreviews
        create | authorization.k8s.io | subjectaccessreviews
    """,
    "system:basic-user": """
        create | authorization.k8s.io | selfsubjectaccessreviews selfsubjectrulesreviews
        create | authentication.k8s.io | selfsubjectreviews
    """,
    "system:discovery": """
        get | /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version \
            /version/
    """,
    "system:monitoring": """
        get | /flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz \
            /readyz/* /statusz
        get | core | nodes/metrics
    """,
    "system:public-info-viewer": f"""
        get | {_HEALTH}
    """,
    "system:service-account-issuer-discovery": """
        get | /.well-known/openid-configuration /.well-known/openid-configuration/ \
            /openid/v1/jwks /openid/v1/jwks/
    """,
}
_AGGREGATED = {"admin": "", "edit": "admin", "view": "edit"}
"""Made of others, and into which of them they go themselves."""
_BOUND: Mapping[str, tuple[str, ...]] = {
    "cluster-admin": (MASTERS,),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:monitoring": ("system:monitoring",),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:service-account-issuer-discovery": (ACCOUNTS,),
}
_READERS = ("system:kube-controller-manager", "system:kube-scheduler")


def restored(present: JsonObject, wanted: JsonObject) -> JsonObject | None:
    """One that is there from a former life, with what it lacks; None if it lacks nothing, or is
    to be left alone."""
    annotations = present["metadata"].get("annotations") or {}
    if annotations.get(_AUTOUPDATE) != "true":
        return None
    changed: JsonObject = {}
    rules, subjects = present.get("rules") or [], present.get("subjects") or []
    lacking = uncovered(rules, wanted.get("rules") or ())
    if lacking:
        changed["rules"] = [*rules, *lacking]
    absent = [one for one in wanted.get("subjects", ()) if one not in subjects]
    if absent:
        changed["subjects"] = [*subjects, *absent]
    return {**present, **changed} if changed else None


def bootstrap_objects() -> Iterator[tuple[Key, JsonObject]]:
    """All of them, as they are sent."""
    for name, lines in _RULES.items():
        role = name.removeprefix("system:aggregate-to-")
        obj = _object("ClusterRole", name, into=role if role != name else "")
        yield Key(CLUSTER_ROLES, "", name), {**obj, "rules": list(_rules(lines))}
    for name, into in _AGGREGATED.items():
        selector = {"matchLabels": {_label(name): "true"}}
        obj = _object("ClusterRole", name, into=into)
        aggregation = {"clusterRoleSelectors": [selector]}
        yield Key(CLUSTER_ROLES, "", name), {**obj, "rules": None, "aggregationRule": aggregation}
    for name, groups in _BOUND.items():
        binding = _binding("ClusterRole", name, "Group", groups)
        obj = _object("ClusterRoleBinding", name)
        yield Key(CLUSTER_BINDINGS, "", name), {**obj, **binding}
    yield from _readers()


def _readers() -> Iterator[tuple[Key, JsonObject]]:
    """Who may read how the server's own users prove who they are."""
    (rule,) = _rules(f"{_READ} | core | configmaps")
    role = _object("Role", _READER, namespace=_SYSTEM)
    yield (
        Key(ROLES, _SYSTEM, _READER),
        {**role, "rules": [{**rule, "resourceNames": ["extension-apiserver-authentication"]}]},
    )
    name = f"system::{_READER}"
    obj = _object("RoleBinding", name, namespace=_SYSTEM)
    yield Key(BINDINGS, _SYSTEM, name), {**obj, **_binding("Role", _READER, "User", _READERS)}


def _label(role: str) -> str:
    return f"{RBAC}/aggregate-to-{role}"


def _object(kind: str, name: str, *, namespace: str = "", into: str = "") -> JsonObject:
    metadata: JsonObject = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    if into:
        metadata["labels"][_label(into)] = "true"
    metadata["annotations"] = {_AUTOUPDATE: "true"}
    return {"kind": kind, "apiVersion": f"{RBAC}/v1", "metadata": metadata}


def _binding(kind: str, role: str, who: str, names: tuple[str, ...]) -> JsonObject:
    return {
        "subjects": [{"kind": who, "apiGroup": RBAC, "name": name} for name in names],
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
    }


def _rules(lines: str) -> Iterator[JsonObject]:
    for line in lines.strip().splitlines():
        verbs, *rest = (part.split() for part in line.split("|"))
        if len(rest) == 1:
            yield {"verbs": verbs, "nonResourceURLs": rest[0]}
        else:
            groups = ["" if one == "core" else one for one in rest[0]]
            yield {"verbs": verbs, "apiGroups": groups, "resources": rest[1]}
