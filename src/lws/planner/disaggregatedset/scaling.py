"""How many replicas each role of a slice is to have, from spec and scalers (spec section 2)."""

from lws.api.disaggregatedset import Role
from lws.planner.disaggregatedset.budgets import DEFAULT_BUDGETS, Budgets, resolve_budgets
from lws.planner.disaggregatedset.snapshot import ScalerViews
from lws.planner.disaggregatedset.targets import external_target, static_target


def is_settled(role: Role, *, scalers: ScalerViews) -> bool:
    """Whether it is known what the role is to have; not while its scaler is yet to be made."""
    return not role.is_external or role.name in scalers.replicas or role.name in scalers.conflicts


def target(role: Role, *, scalers: ScalerViews, present: int) -> int:
    """Replicas wanted of a role; `present` is what it holds where nobody else says."""
    if not role.is_external:
        return max(0, static_target(role.spec.replicas))
    scaled = scalers.replicas.get(role.name)
    return max(0, external_target(scaler_replicas=scaled, present=present))


def budgets(role: Role, *, target: int) -> Budgets:
    """Surge and unavailability of a role's update; the default for what is no budget."""
    strategy = role.spec.rollout_strategy
    rolling = None if strategy is None else strategy.rolling_update_configuration
    if rolling is None:
        return DEFAULT_BUDGETS
    try:
        return resolve_budgets(
            target=target, max_surge=rolling.max_surge, max_unavailable=rolling.max_unavailable
        )
    except ValueError:  # no webhook saw it
        return DEFAULT_BUDGETS
