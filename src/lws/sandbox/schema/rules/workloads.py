"""StatefulSets, ControllerRevisions, and the sets that are only stored."""

from typing import Any

from lws.sandbox.schema.errors import forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import dns_label
from lws.sandbox.schema.rules.metadata import annotation_errors, label_errors
from lws.sandbox.schema.rules.pods import template_errors
from lws.sandbox.schema.rules.volumes import claim_spec_errors
from lws.sandbox.schema.rules.words import (
    IMMUTABLE,
    NEGATIVE,
    Faults,
    Object,
    named,
    not_negative,
    selector,
    selects,
)

_FREE = (
    *("replicas", "template", "updateStrategy", "minReadySeconds", "ordinals"),
    *("revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy"),
)
_FIXED_WORDS = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
    " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and"
    " 'minReadySeconds' are forbidden"
)
_COUNTS = ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")


def stateful_set_rules(obj: Object, old: Object | None) -> Faults:
    """StatefulSet."""
    spec = obj["spec"]
    yield from _policies(spec)
    if old is None:
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = f"spec.volumeClaimTemplates[{index}].spec"
            yield from claim_spec_errors(claim["spec"], path)
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    if (spec.get("ordinals") or {}).get("start", 0) < 0:
        yield invalid("spec.ordinals.start", spec["ordinals"]["start"], NEGATIVE)
    if old is None and spec.get("serviceName"):
        yield from named(dns_label, spec["serviceName"], "spec.serviceName")
    yield from _selector_and_template(spec)
    if old is not None:
        yield from _fixed(spec, old["spec"])
        yield from _status(obj.get("status") or {})


def _policies(spec: Object) -> Faults:
    management = spec.get("podManagementPolicy")
    if management not in ("OrderedReady", "Parallel"):
        words = "must be 'OrderedReady' or 'Parallel'"
        yield invalid("spec.podManagementPolicy", management, words)
    strategy = spec["updateStrategy"]
    rolling = strategy.get("rollingUpdate")
    kind = strategy.get("type")
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = {"Type": kind, "RollingUpdate": rolling}
        yield invalid("spec.updateStrategy", shown, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None and kind == "OnDelete":
        shown = {
            "Partition": rolling.get("partition", 0),
            "MaxUnavailable": rolling.get("maxUnavailable"),
        }
        words = "only allowed for updateStrategy 'RollingUpdate'"
        yield invalid("spec.updateStrategy.rollingUpdate", shown, words)
    elif rolling is not None:
        yield from _rolling(rolling)
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field) not in ("Retain", "Delete"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            yield not_supported(path, retention.get(field), ("Retain", "Delete"))


def _rolling(rolling: Object) -> Faults:
    path = "spec.updateStrategy.rollingUpdate"
    yield from not_negative(rolling, path, "partition")
    amount = rolling.get("maxUnavailable")
    if amount is None:
        return
    yield from int_or_percent(amount, f"{path}.maxUnavailable")
    if amount in (0, "0%"):
        yield invalid(f"{path}.maxUnavailable", amount, "cannot be 0")


def int_or_percent(amount: int | str, path: str) -> Faults:
    """A number that is not negative, or a percentage up to 100."""
    yield from not_negative_amount(amount, path)
    yield from at_most_all(amount, path)


def not_negative_amount(amount: int | str, path: str) -> Faults:
    """A number that is not negative, or a percentage."""
    if isinstance(amount, int):
        if amount < 0:
            yield invalid(path, amount, NEGATIVE)
    elif _percent(amount) is None:
        yield invalid(
            path,
            amount,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',"
            "  or '93%', regex used for validation is '[0-9]+%')",
        )


def at_most_all(amount: int | str, path: str) -> Faults:
    """No percentage above 100."""
    if isinstance(amount, str) and (_percent(amount) or 0) > 100:
        yield invalid(path, amount, "must not be greater than 100%")


def _percent(text: str) -> int | None:
    digits = text.removesuffix("%")
    is_percent = text.endswith("%") and digits.isascii() and digits.isdecimal()
    return int(digits) if is_percent else None


def _selector_and_template(spec: Object) -> Faults:
    wanted = spec.get("selector")
    if wanted is None:
        yield required("spec.selector")
    else:
        yield from selector(wanted, "spec.selector")
        if not wanted.get("matchLabels") and not wanted.get("matchExpressions"):
            words = "empty selector is invalid for statefulset"
            yield invalid("spec.selector", wanted, words)
    template = spec["template"]
    pod = {k: v for k, v in template["spec"].items() if k not in ("hostname", "subdomain")}
    claims = [one["metadata"].get("name") for one in spec.get("volumeClaimTemplates") or ()]
    yield from _template({**template, "spec": pod}, wanted, claims)
    if pod.get("restartPolicy") != "Always":
        path = "spec.template.spec.restartPolicy"
        yield not_supported(path, pod.get("restartPolicy"), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        yield forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in StatefulSet is not Supported",
        )


def _template(template: Object, wanted: Object | None, claims: list[str]) -> Faults:
    meta = template.get("metadata") or {}
    labels = meta.get("labels") or {}
    if wanted is None or not selects(wanted, labels):  # none selects nothing, an empty one all
        yield invalid(
            "spec.template.metadata.labels",
            labels or None,
            "`selector` does not match template `labels`",
        )
    yield from template_errors(template, "spec.template", claims)
    yield from label_errors(labels, "spec.template.labels")
    yield from annotation_errors(meta.get("annotations"), "spec.template.annotations")


def _fixed(new: Object, old: Object) -> Faults:
    if _without(new) != _without(old):
        yield forbidden("spec", _FIXED_WORDS)


def _without(spec: Object) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in _FREE}


def _status(status: Object) -> Faults:
    yield from not_negative(status, "status", *_COUNTS)
    total = status.get("replicas") or 0
    for field in _COUNTS[1:]:
        if (status.get(field) or 0) > total:
            words = "cannot be greater than status.replicas"
            yield invalid(f"status.{field}", status[field], words)
    ready = status.get("readyReplicas") or 0
    if (status.get("availableReplicas") or 0) > ready:
        words = "cannot be greater than status.readyReplicas"
        yield invalid("status.availableReplicas", status["availableReplicas"], words)


def revision_rules(obj: Object, old: Object | None) -> Faults:
    """ControllerRevision."""
    if obj.get("revision", 0) < 0:
        yield invalid("revision", obj["revision"], NEGATIVE)
    data = obj.get("data")
    if old is None and data is None:
        yield required("data", "data is mandatory")
    if old is not None and data != old.get("data"):
        yield invalid("data", data, IMMUTABLE)


def stored_set_rules(obj: Object, old: Object | None) -> Faults:
    """DaemonSet: selector, template, numbers."""
    spec = obj["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds", "revisionHistoryLimit")
    wanted = spec.get("selector")
    if wanted is None:
        yield required("spec.selector")
    else:
        yield from selector(wanted, "spec.selector")
        if not wanted.get("matchLabels") and not wanted.get("matchExpressions"):
            word = (obj.get("kind") or "").lower()
            words = f"empty selector is invalid for {word}"
            yield invalid("spec.selector", wanted, words)
        labels = (spec["template"].get("metadata") or {}).get("labels") or {}
        if not selects(wanted, labels):
            yield invalid(
                "spec.template.metadata.labels",
                labels or None,
                "`selector` does not match template `labels`",
            )
    yield from template_errors(spec["template"], "spec.template")
    if spec["template"]["spec"].get("restartPolicy") != "Always":
        path = "spec.template.spec.restartPolicy"
        yield not_supported(path, spec["template"]["spec"].get("restartPolicy"), ("Always",))
    if old is not None and wanted != old["spec"].get("selector"):
        yield invalid("spec.selector", wanted, IMMUTABLE)
