"""Exclusive placement: a group (or subgroup) alone in its topology domain."""

from lws.admission.documents import JsonObject, child, items

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def place_exclusively(spec: JsonObject, *, topology: str, label: str, value: str) -> None:
    """Add to the pod's `spec` what draws it to the pods whose `label` is `value`, and keeps it
    from those where it is another. What the user wrote stays; our own terms are added once."""
    together = [_requirement(label, "In", [value])]
    apart = [_requirement(label, "Exists"), _requirement(label, "NotIn", [value])]
    affinity = child(spec, "affinity")
    affinity = _with_term(affinity, "podAffinity", _term(together, topology))
    affinity = _with_term(affinity, "podAntiAffinity", _term(apart, topology))
    spec["affinity"] = affinity


def _with_term(affinity: JsonObject, kind: str, term: JsonObject) -> JsonObject:
    terms = items(child(affinity, kind), _REQUIRED)
    if term in terms:
        return affinity
    return {**affinity, kind: {**child(affinity, kind), _REQUIRED: [*terms, term]}}


def _term(requirements: list[JsonObject], topology: str) -> JsonObject:
    return {"labelSelector": {"matchExpressions": requirements}, "topologyKey": topology}


def _requirement(key: str, operator: str, values: list[str] | None = None) -> JsonObject:
    requirement: JsonObject = {"key": key, "operator": operator}
    if values is not None:
        requirement["values"] = values
    return requirement
