"""Deployments and ReplicaSets."""

from lws.sandbox.schema.errors import forbidden, invalid, not_supported, required
from lws.sandbox.schema.rules.pods import template_errors
from lws.sandbox.schema.rules.words import (
    IMMUTABLE,
    Faults,
    Object,
    not_negative,
    selector,
    selects,
)
from lws.sandbox.schema.rules.workloads import at_most_all, not_negative_amount

_TYPES = ("Recreate", "RollingUpdate")


def replica_set_rules(obj: Object, old: Object | None) -> Faults:
    """ReplicaSet."""
    spec = obj["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from _selector_and_template(spec)
    yield from _fixed_selector(obj, old)


def deployment_rules(obj: Object, old: Object | None) -> Faults:
    """Deployment."""
    spec = obj["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds", "revisionHistoryLimit")
    yield from _selector_and_template(spec)
    yield from _strategy(spec["strategy"], "spec.strategy")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from not_negative(spec, "spec", "progressDeadlineSeconds")
        if deadline <= (spec.get("minReadySeconds") or 0):
            words = "must be greater than minReadySeconds"
            yield invalid("spec.progressDeadlineSeconds", deadline, words)
    yield from _fixed_selector(obj, old)


def _selector_and_template(spec: Object) -> Faults:
    wanted = spec.get("selector")
    if wanted is None:
        yield required("spec.selector")
    else:
        faults = list(selector(wanted, "spec.selector"))
        yield from faults
        if faults:
            yield invalid("spec.selector", wanted, "invalid label selector")
            return
        if not wanted.get("matchLabels") and not wanted.get("matchExpressions"):
            words = "empty selector is invalid for deployment"  # so of ReplicaSets, too
            yield invalid("spec.selector", wanted, words)
    yield from _template(spec["template"], wanted)


def _template(template: Object, wanted: Object | None) -> Faults:
    path = "spec.template"
    labels = (template.get("metadata") or {}).get("labels") or {}
    if wanted is None or not selects(wanted, labels):  # none selects nothing, an empty one all
        words = "`selector` does not match template `labels`"
        yield invalid(f"{path}.metadata.labels", labels or None, words)
    yield from template_errors(template, path)
    pod = template["spec"]
    if pod.get("restartPolicy") != "Always":
        yield not_supported(f"{path}.spec.restartPolicy", pod.get("restartPolicy"), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        words = "activeDeadlineSeconds in ReplicaSet is not Supported"
        yield forbidden(f"{path}.spec.activeDeadlineSeconds", words)


def _strategy(strategy: Object, path: str) -> Faults:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind not in _TYPES:
        yield not_supported(path, {"Type": kind, "RollingUpdate": _as_go(rolling)}, _TYPES)
    elif kind == "RollingUpdate" and rolling is not None:
        yield from _bounds(rolling, f"{path}.rollingUpdate")
    elif rolling is not None:
        words = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden(f"{path}.rollingUpdate", words)


def _as_go(rolling: Object | None) -> Object | None:
    if rolling is None:
        return None
    names = ("MaxUnavailable", "MaxSurge")
    return {name: rolling.get(name[0].lower() + name[1:], 0) for name in names}


def _bounds(rolling: Object, path: str) -> Faults:
    surge, unavailable = rolling.get("maxSurge", 0), rolling.get("maxUnavailable", 0)
    yield from not_negative_amount(unavailable, f"{path}.maxUnavailable")
    yield from not_negative_amount(surge, f"{path}.maxSurge")
    if _is_nothing(surge) and _is_nothing(unavailable):
        words = "may not be 0 when `maxSurge` is 0"
        yield invalid(f"{path}.maxUnavailable", unavailable, words)
    yield from at_most_all(unavailable, f"{path}.maxUnavailable")


def _is_nothing(amount: int | str) -> bool:
    """Zero; what is no percentage counts as such."""
    if isinstance(amount, int):
        return amount == 0
    digits = amount.removesuffix("%")
    return not digits.isdecimal() or int(digits) == 0


def _fixed_selector(obj: Object, old: Object | None) -> Faults:
    wanted = obj["spec"].get("selector")
    if old is not None and wanted != old["spec"].get("selector"):
        yield invalid("spec.selector", wanted, IMMUTABLE)
