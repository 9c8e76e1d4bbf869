"""Admission policies and their bindings."""

from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.tables.layout import Cells, age_of, name_of

JsonObject = dict[str, Any]

_UNSET = "<unset>"


def policy(obj: JsonObject, now: float) -> Cells:
    """How much it asks, and by which parameters."""
    spec = obj["spec"]
    kind = spec.get("paramKind")
    shown = f"{kind['apiVersion']}/{kind['kind']}" if kind else _UNSET
    return [name_of(obj), len(spec.get("validations") or ()), shown, age_of(obj, now)]


def binding(obj: JsonObject, now: float) -> Cells:
    """Which policy, and which parameters."""
    spec = obj["spec"]
    return [name_of(obj), spec.get("policyName") or "", _parameters(obj), age_of(obj, now)]


def _parameters(obj: JsonObject) -> str:
    reference = part(obj, "spec", "paramRef")
    if not reference:
        return _UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return _selector_words(reference.get("selector") or {})


def _selector_words(selector: JsonObject) -> str:
    """As Go prints the structure."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{name}: {labels[name]}," for name in sorted(labels))
    conditions = "".join(
        f"LabelSelectorRequirement{{Key:{one['key']},Operator:{one['operator']},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{conditions}}},}}"
    )
