"""The small kinds."""

from collections.abc import Callable, Mapping

from lws.sandbox.schema.errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lws.sandbox.schema.naming import config_key, label_value, path_segment, qualified_name
from lws.sandbox.schema.rules.words import (
    IMMUTABLE,
    Faults,
    Object,
    named,
    selector,
    unchanged,
)
from lws.sandbox.schema.rules.workloads import int_or_percent

_DATA_BYTES_MAX = 1 << 20
_RBAC = "rbac.authorization.k8s.io"
_IF_IMMUTABLE = "field is immutable when `immutable` is set"


def config_map_rules(obj: Object, old: Object | None) -> Faults:
    """ConfigMap."""
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for field, values in (("data", data), ("binaryData", binary)):
        for key in sorted(values):
            yield from named(config_key, key, f"{field}[{key}]")
    for key in sorted(data.keys() & binary.keys()):
        yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    if _size(data) + _decoded_size(binary) > _DATA_BYTES_MAX:
        yield too_long("[]", _DATA_BYTES_MAX)
    if old is not None:
        yield from _immutable(obj, old, "data", "binaryData")


def _size(values: Mapping[str, str]) -> int:
    return sum(len(value.encode()) for value in values.values())


def _decoded_size(values: Mapping[str, str]) -> int:
    return sum(len(value) * 3 // 4 - value.count("=") for value in values.values())


def _immutable(new: Object, old: Object, *fields: str) -> Faults:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield forbidden("immutable", _IF_IMMUTABLE)
    for field in fields:
        if (new.get(field) or {}) != (old.get(field) or {}):
            yield forbidden(field, _IF_IMMUTABLE)


_SECRET_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def secret_rules(obj: Object, old: Object | None) -> Faults:
    """Secret."""
    data = obj.get("data") or {}
    for key in sorted(data):
        yield from named(config_key, key, f"data[{key}]")
    if _decoded_size(data) > _DATA_BYTES_MAX:
        yield too_long("data", _DATA_BYTES_MAX)
    kind = obj.get("type") or ""
    for key in _SECRET_KEYS.get(kind, ()):
        if key not in data:
            yield required(f"data[{key}]")
    if kind == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield required("data[username]")
        yield required("data[password]")
    if kind == "kubernetes.io/service-account-token":
        name = "kubernetes.io/service-account.name"
        if not (obj["metadata"].get("annotations") or {}).get(name):
            yield required(f"metadata.annotations[{name}]")
    if old is not None:
        yield from unchanged(obj, old, "type")
        yield from _immutable(obj, old, "data")


def node_rules(obj: Object, old: Object | None) -> Faults:
    """Node."""
    seen: set[tuple[str, str]] = set()
    effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
    for index, taint in enumerate(obj["spec"].get("taints") or ()):
        path = f"metadata.taints[{index}]"
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        yield from named(qualified_name, key, f"{path}.key")
        faults = label_value(taint.get("value") or "")
        if faults:
            yield invalid(f"{path}.value", taint["value"], ";".join(faults))
        if not effect:
            yield required(f"{path}.effect")
        elif effect not in effects:
            yield not_supported(f"{path}.effect", effect, effects)
        if (key, effect) in seen:
            shown = {
                "Key": key,
                "Value": taint.get("value") or "",
                "Effect": effect,
                "TimeAdded": taint.get("timeAdded"),
            }
            words = "taints must be unique by key and effect pair"
            yield duplicate(path, shown, words)
        seen.add((key, effect))
    had = old["spec"].get("providerID") if old is not None else None
    if had and obj["spec"].get("providerID") != had:
        words = 'node updates may not change providerID except from "" to valid'
        yield forbidden("spec.providerID", words)


def lease_rules(obj: Object, old: Object | None) -> Faults:
    """Lease."""
    del old
    spec = obj.get("spec") or {}
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        words = "must be greater than or equal to 0"
        yield invalid("spec.leaseTransitions", transitions, words)


def budget_rules(obj: Object, old: Object | None) -> Faults:
    """PodDisruptionBudget."""
    del old
    spec = obj["spec"]
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        shown = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        if spec.get(field) is not None:
            yield from int_or_percent(spec[field], f"spec.{field}")
    yield from selector(spec.get("selector"), "spec.selector")


def role_rules(obj: Object, old: Object | None) -> Faults:
    """Role."""
    del old
    for index, rule in enumerate(obj.get("rules") or ()):
        yield from _policy_rule(rule, f"rules[{index}]", is_namespaced=True)


def cluster_role_rules(obj: Object, old: Object | None) -> Faults:
    """ClusterRole."""
    del old
    for index, rule in enumerate(obj.get("rules") or ()):
        yield from _policy_rule(rule, f"rules[{index}]", is_namespaced=False)


def _policy_rule(rule: Object, path: str, *, is_namespaced: bool) -> Faults:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if is_namespaced:
            words = "namespaced rules cannot apply to non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, words)
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            words = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, words)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def role_binding_rules(obj: Object, old: Object | None) -> Faults:
    """RoleBinding."""
    yield from _binding(obj, old, ("Role", "ClusterRole"), is_namespaced=True)


def cluster_role_binding_rules(obj: Object, old: Object | None) -> Faults:
    """ClusterRoleBinding."""
    yield from _binding(obj, old, ("ClusterRole",), is_namespaced=False)


def _binding(
    obj: Object, old: Object | None, kinds: tuple[str, ...], *, is_namespaced: bool
) -> Faults:
    role = obj["roleRef"]
    if role.get("apiGroup") != _RBAC:
        yield not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (_RBAC,))
    if role.get("kind") not in kinds:
        yield not_supported("roleRef.kind", role.get("kind", ""), kinds)
    if not role.get("name"):
        yield required("roleRef.name")
    else:
        yield from named(path_segment, role["name"], "roleRef.name")
    for index, subject in enumerate(obj.get("subjects") or ()):
        yield from _subject(subject, f"subjects[{index}]", is_namespaced=is_namespaced)
    if old is not None and role != old["roleRef"]:
        shown = {"APIGroup": role.get("apiGroup"), "Kind": role["kind"], "Name": role["name"]}
        yield invalid("roleRef", shown, "cannot change roleRef")


def _subject(subject: Object, path: str, *, is_namespaced: bool) -> Faults:
    group, kind = subject.get("apiGroup") or "", subject.get("kind")
    if not subject.get("name"):
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if not is_namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != _RBAC:
            yield not_supported(f"{path}.apiGroup", group, (_RBAC,))
    else:
        yield not_supported(f"{path}.kind", kind or "", ("ServiceAccount", "User", "Group"))


def fixed(*fields: str) -> Callable[[Object, Object | None], Faults]:
    """A kind some of whose fields an update may not change."""

    def rules(obj: Object, old: Object | None) -> Faults:
        if old is None:
            return
        for field in fields:
            if obj.get(field) != old.get(field):
                yield invalid(field, obj.get(field), IMMUTABLE)

    return rules


def storage_class_rules(obj: Object, old: Object | None) -> Faults:
    """StorageClass."""
    if not obj.get("provisioner"):
        yield required("provisioner")
    policy = obj.get("reclaimPolicy")
    if policy not in ("Delete", "Retain"):
        yield not_supported("reclaimPolicy", policy or "", ("Delete", "Retain"))
    mode = obj.get("volumeBindingMode")
    if mode not in ("Immediate", "WaitForFirstConsumer"):
        known = ("Immediate", "WaitForFirstConsumer")
        yield not_supported("volumeBindingMode", mode or "", known)
    if old is not None:
        yield from _class_update(obj, old)


def _class_update(obj: Object, old: Object) -> Faults:
    for field, words in (
        ("parameters", "updates to parameters are forbidden."),
        ("provisioner", "updates to provisioner are forbidden."),
    ):
        if (obj.get(field) or {}) != (old.get(field) or {}):
            yield forbidden(field, words)
    if obj.get("reclaimPolicy") != old.get("reclaimPolicy"):
        yield forbidden("reclaimPolicy", "updates to reclaimPolicy are forbidden.")
    yield from unchanged(obj, old, "volumeBindingMode")


def priority_class_rules(obj: Object, old: Object | None) -> Faults:
    """PriorityClass."""
    highest = 1_000_000_000
    value, name = obj.get("value", 0), obj["metadata"].get("name") or ""
    if old is None and value > highest and not name.startswith("system-"):
        words = f"maximum allowed value of a user defined priority is {highest}"
        yield forbidden("value", words)
    if old is not None and value != old.get("value", 0):
        yield forbidden("value", "may not be changed in an update.")
