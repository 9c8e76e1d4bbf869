"""How many replicas a role is to have, and what a new scaler starts with (spec sections 2, 4)."""

from collections.abc import Sequence

REPLICAS_DEFAULT = 1
"""Of a role that gives none, and of the scaler of a role that has no LeaderWorkerSet yet."""


def static_target(replicas: int | None) -> int:
    """Target of a role that is not External."""
    return REPLICAS_DEFAULT if replicas is None else replicas


def external_target(*, scaler_replicas: int | None, present: int) -> int:
    """Target of an External role: its scaler's; with no scaler of ours (conflict), what it has."""
    return present if scaler_replicas is None else scaler_replicas


def target_while_draining(*, target: int, new: int) -> int:
    """Target of an External role while old replicas drain: not below its present new ones.

    An autoscaler that lowers its wish in mid-update would otherwise pull down what has just come
    up while old replicas, which count too, still run. The wish takes effect when they are gone.
    """
    return max(target, new)


def scaler_seed(replicas: Sequence[int]) -> int:
    """What a role's new scaler starts with; `replicas` of the role's LeaderWorkerSets, if any.

    The sum of them: a role that turns External in mid-life keeps what runs.
    """
    return sum(replicas) if replicas else REPLICAS_DEFAULT
