"""Placement: which slices may share a domain of the topology (spec section 2).

The terms are added to whatever affinity a role's pod template has; `without_placement` takes them
away again, so that a template can be told from another by what the user wrote.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lws.api import names
from lws.api.disaggregatedset import PlacementPolicy, PlacementType

Term = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_ATTRACTS, _REPELS = "podAffinity", "podAntiAffinity"


def placement_terms(
    policy: PlacementPolicy | None, *, ds: str, slice_index: int
) -> dict[str, list[Term]]:
    """Required terms by `podAffinity` and `podAntiAffinity`; empty without a policy."""
    if policy is None or policy.type == PlacementType.NONE or not policy.topology:
        return {}
    own = _expression(names.DS_NAME, "In", ds)
    sliced = {"key": names.DS_SLICE, "operator": "Exists"}
    index = str(slice_index)
    same = [own, _expression(names.DS_SLICE, "In", index)]
    # Pods from before slices have no slice label and count as slice 0: only slice 0 spares them.
    spared = [sliced] if slice_index == 0 else []
    others = [own, *spared, _expression(names.DS_SLICE, "NotIn", index)]
    repelled = [others]
    if policy.type == PlacementType.EXCLUSIVE_TOPOLOGY:
        named = {"key": names.DS_NAME, "operator": "Exists"}
        repelled.append([named, _expression(names.DS_NAME, "NotIn", ds), sliced])
    return {
        _ATTRACTS: [_term(same, policy.topology)],
        _REPELS: [_term(expressions, policy.topology) for expressions in repelled],
    }


def with_placement(spec: dict[str, Any], terms: Mapping[str, Sequence[Term]]) -> dict[str, Any]:
    """A pod's spec with the terms after those of its own."""
    if not terms:
        return spec
    affinity = dict(spec.get("affinity") or {})
    for side, added in terms.items():
        present = dict(affinity.get(side) or {})
        present[_REQUIRED] = [*(present.get(_REQUIRED) or ()), *added]
        affinity[side] = present
    return {**spec, "affinity": affinity}


def without_placement(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A pod's spec less every term that a placement policy adds, of any set and slice."""
    affinity = spec.get("affinity")
    if not isinstance(affinity, Mapping):
        return dict(spec)
    kept = dict(affinity)
    for side in (_ATTRACTS, _REPELS):
        present = kept.get(side)
        if isinstance(present, Mapping) and isinstance(present.get(_REQUIRED), list):
            own = [term for term in present[_REQUIRED] if not _is_placement(term)]
            kept[side] = {**present, _REQUIRED: own}
    return {**spec, "affinity": kept}


def _is_placement(term: Any) -> bool:
    """Whether some policy, set and slice make this very term."""
    try:
        expressions = term["labelSelector"]["matchExpressions"]
        values = {each["key"]: each["values"][0] for each in expressions if each.get("values")}
        ds, slice_index = values[names.DS_NAME], int(values.get(names.DS_SLICE, "0"))
        policy = PlacementPolicy(
            type=PlacementType.EXCLUSIVE_TOPOLOGY, topology=term["topologyKey"]
        )
    except (TypeError, KeyError, ValueError, IndexError, AttributeError):
        return False
    made = placement_terms(policy, ds=ds, slice_index=slice_index)
    return any(term == one for terms in made.values() for one in terms)


def _expression(key: str, operator: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [value]}


def _term(expressions: Sequence[Mapping[str, Any]], topology: str) -> Term:
    selector = {"matchExpressions": [dict(each) for each in expressions]}
    return {"labelSelector": selector, "topologyKey": topology}
