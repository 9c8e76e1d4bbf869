"""Pods and their templates."""

from collections.abc import Collection
from typing import Any

from lws.sandbox.schema.errors import forbidden, invalid, not_supported
from lws.sandbox.schema.naming import dns_label, dns_subdomain, outside, qualified_name
from lws.sandbox.schema.rules.containers import container_errors
from lws.sandbox.schema.rules.metadata import annotation_errors, label_errors
from lws.sandbox.schema.rules.resources import pod_resource_errors
from lws.sandbox.schema.rules.scheduling import (
    affinity_errors,
    gate_errors,
    spreading_errors,
    toleration_errors,
)
from lws.sandbox.schema.rules.volumes import volume_errors
from lws.sandbox.schema.rules.words import Faults, Object, named, one_of

_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_INT32_MAX = 2**31 - 1
_CHANGEABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_spec_errors(spec: Object, path: str, extra_volumes: Collection[str] = ()) -> Faults:
    """A pod's or a template's spec; `extra_volumes` come from claim templates."""
    own = [one for one in spec.get("volumes") or () if one.get("name") not in extra_volumes]
    faults, volumes = volume_errors(own, f"{path}.volumes")
    yield from faults
    yield from container_errors(spec, {*volumes, *extra_volumes}, path)
    yield from pod_resource_errors(spec.get("resources"), f"{path}.resources")
    yield from one_of(spec.get("restartPolicy"), _RESTARTS, f"{path}.restartPolicy")
    yield from one_of(spec.get("dnsPolicy"), _DNS, f"{path}.dnsPolicy")
    yield from label_errors(spec.get("nodeSelector"), f"{path}.nodeSelector")
    yield from affinity_errors(spec.get("affinity"), f"{path}.affinity")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        here = f"{path}.readinessGates[{index}].conditionType"
        yield from named(qualified_name, gate.get("conditionType") or "", here)
    yield from gate_errors(spec.get("schedulingGates") or (), f"{path}.schedulingGates")
    yield from spreading_errors(
        spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints"
    )
    yield from _names(spec, path)
    yield from toleration_errors(spec.get("tolerations") or (), f"{path}.tolerations")
    yield from _numbers(spec, path)


def _names(spec: Object, path: str) -> Faults:
    for field in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        if spec.get(field):
            yield from named(dns_subdomain, spec[field], f"{path}.{field}")
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            yield from named(dns_label, spec[field], f"{path}.{field}")
    policy = spec.get("preemptionPolicy")
    known = ("PreemptLowerPriority", "Never")
    if policy is not None and policy not in known:
        yield not_supported(f"{path}.preemptionPolicy", policy, known)


def _numbers(spec: Object, path: str) -> Faults:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _INT32_MAX:
        yield invalid(f"{path}.activeDeadlineSeconds", deadline, outside(1, _INT32_MAX))


def template_errors(template: Object, path: str, extra_volumes: Collection[str] = ()) -> Faults:
    """A pod template."""
    meta = template.get("metadata") or {}
    yield from label_errors(meta.get("labels"), f"{path}.labels")
    yield from annotation_errors(meta.get("annotations"), f"{path}.annotations")
    yield from pod_spec_errors(template["spec"], f"{path}.spec", extra_volumes)
    if template["spec"].get("ephemeralContainers"):
        words = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", words)


def pod_rules(obj: Object, old: Object | None) -> Faults:
    """Pod."""
    spec = obj["spec"]
    yield from pod_spec_errors(spec, "spec")
    yield from _only_for_pods(spec)
    if old is not None:
        yield from _update(spec, old["spec"])
        return
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        words = "cannot be set until all schedulingGates have been cleared"
        yield forbidden("spec.nodeName", words)


def _only_for_pods(spec: Object) -> Faults:
    for field in ("containers", "initContainers"):
        for index, one in enumerate(spec.get(field) or ()):
            image = one.get("image") or ""
            if image and image != image.strip():
                words = "must not have leading or trailing whitespace"
                yield invalid(f"spec.{field}[{index}].image", image, words)


def _update(new: Object, old: Object) -> Faults:
    for field in ("containers", "initContainers"):
        if len(new.get(field) or ()) != len(old.get(field) or ()):
            yield forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
    yield from _deadline(new, old)
    yield from _tolerations(new, old)
    gates = {one["name"] for one in old.get("schedulingGates") or ()}
    for index, one in enumerate(new.get("schedulingGates") or ()):
        if one["name"] not in gates:
            words = "only deletion is allowed, but found new scheduling gate"
            yield forbidden(f"spec.schedulingGates[{index}].name", f"{words} '{one['name']}'")
    if _comparable(new, old) != _comparable(old, old):
        words = f"pod updates may not change fields other than {_CHANGEABLE}"
        yield forbidden("spec", f"{words}\n{_difference(new, old)}")


def _deadline(new: Object, old: Object) -> Faults:
    path = "spec.activeDeadlineSeconds"
    had, wanted = old.get("activeDeadlineSeconds"), new.get("activeDeadlineSeconds")
    if wanted is None and had is not None:
        words = "must not update from a positive integer to nil value"
        yield invalid(path, None, words)
    elif wanted is not None and had is not None and had < wanted:
        yield invalid(path, wanted, "must be less than or equal to previous value")


def _tolerations(new: Object, old: Object) -> Faults:
    kept = [_bare(one) for one in new.get("tolerations") or ()]
    if any(_bare(one) not in kept for one in old.get("tolerations") or ()):
        yield forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )


def _bare(toleration: Object) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _comparable(spec: Object, old: Object) -> dict[str, Any]:
    """The spec as if all that may change had not."""
    made = dict(spec)
    for field in ("containers", "initContainers"):
        pairs = zip(spec.get(field) or (), old.get(field) or (), strict=True)
        made[field] = [{**one, "image": other.get("image")} for one, other in pairs]
    loose = ["activeDeadlineSeconds", "tolerations", "schedulingGates"]
    if old.get("schedulingGates"):
        loose.append("nodeSelector")
    had = old.get("terminationGracePeriodSeconds")
    if had is not None and had < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        loose.append("terminationGracePeriodSeconds")
    for field in loose:
        made.pop(field, None)
    return {field: value for field, value in made.items() if value or value == 0}


def _difference(new: Object, old: Object) -> str:
    """The fields that differ; the real server prints the whole of both."""
    changed = sorted(one for one in new.keys() | old.keys() if new.get(one) != old.get(one))
    return "".join(f"@@ {name} @@\n" for name in changed)


def pod_template_rules(obj: Object, old: Object | None) -> Faults:
    """PodTemplate."""
    del old
    yield from template_errors(obj["template"], "template")
