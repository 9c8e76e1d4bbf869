"""What the numbers of a spec come to, defaults and garbage included (api.md section 2)."""

from dataclasses import dataclass

from lws.api.intorpercent import IntOrPercent, resolve
from lws.api.leaderworkerset import LeaderWorkerSet, RollingUpdateConfiguration


@dataclass(frozen=True, slots=True)
class Budgets:
    """How many groups an update may have in flight, resolved against the replicas."""

    surge: int
    unavailable: int


def replicas_of(lws: LeaderWorkerSet) -> int:
    """Number of groups: spec.replicas, 1 where unset."""
    replicas = lws.spec.replicas
    return 1 if replicas is None else max(0, replicas)


def partition_of(lws: LeaderWorkerSet) -> int:
    """Groups below this index keep the old revision."""
    partition = _rolling(lws).partition
    return 0 if partition is None else max(0, partition)


def budgets_of(lws: LeaderWorkerSet) -> Budgets:
    """maxSurge rounded up and cut to the replicas, maxUnavailable rounded down; 0, 0 are 0, 1."""
    total = replicas_of(lws)
    rolling = _rolling(lws)
    surge = min(total, _resolved(rolling.max_surge, total=total, default=0, round_up=True))
    unavailable = _resolved(rolling.max_unavailable, total=total, default=1, round_up=False)
    if total > 0 and surge == 0 and unavailable == 0:
        unavailable = 1
    return Budgets(surge, unavailable)


def _resolved(value: IntOrPercent | None, *, total: int, default: int, round_up: bool) -> int:
    if value is None:
        return default
    try:
        return max(0, resolve(value, total=total, round_up=round_up))
    except ValueError:
        return default


def _rolling(lws: LeaderWorkerSet) -> RollingUpdateConfiguration:
    strategy = lws.spec.rollout_strategy
    configuration = None if strategy is None else strategy.rolling_update_configuration
    return configuration or RollingUpdateConfiguration()
