"""`volumeClaimTemplates`, which a StatefulSet cannot change (api.md section 2)."""

from lws.admission.validation.places import Place
from lws.admission.validation.verdict import Cause
from lws.api.quantities import canonical_quantity

_AMOUNTS = frozenset({"requests", "limits", "capacity"})


def check_claims(template: Place) -> None:
    """Their shape; what is in them is the API server's to judge."""
    for claim in template["volumeClaimTemplates"]:
        claim.fields()
    template["persistentVolumeClaimRetentionPolicy"].fields()


def check_claims_kept(template: Place, *, old: Place) -> None:
    """On update: the same claims, by meaning."""
    claims, old_claims = template["volumeClaimTemplates"], old["volumeClaimTemplates"]
    if meaning_of(claims.value) != meaning_of(old_claims.value):
        claims.error(
            Cause.FORBIDDEN,
            "is immutable, as a StatefulSet's are: put it back, or create a new set",
        )


def meaning_of(value: object) -> object:
    """The value less nulls and empty maps and lists (None: nothing left); quantities canonical."""
    if isinstance(value, dict):
        return _meaning_of_map(value) or None
    if isinstance(value, list):
        return [meaning_of(item) for item in value] or None
    return value


def _meaning_of_map(fields: dict[str, object]) -> dict[str, object]:
    kept = {}
    for key, value in fields.items():
        is_amounts = key in _AMOUNTS and isinstance(value, dict)
        meaning = _amounts(value) if is_amounts else meaning_of(value)
        if meaning is not None:
            kept[key] = meaning
    return kept


def _amounts(amounts: object) -> object:
    assert isinstance(amounts, dict)
    return {name: _canonical(amount) for name, amount in amounts.items()} or None


def _canonical(amount: object) -> object:
    if isinstance(amount, bool) or not isinstance(amount, str | int | float):
        return meaning_of(amount)
    try:
        return canonical_quantity(amount)
    except ValueError:
        return amount
