"""Who is in a group, and which losses are worth remembering: the values of `membership`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lws.api import names
from lws.base.ids import UID, RevisionKey
from lws.planner.pods.evidence import RawLoss, Restarts
from lws.planner.pods.restart_policy import RestartScope

# A group that is left as it is may lose pods for days; any of its losses says the same.
_LOSSES_MAX = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One pod of the group, of whatever life."""

    uid: UID
    owner: UID | None
    key: RevisionKey
    began: float | None = None
    restarts: Restarts = ()
    over: bool = False
    """Lost for good: failed, or being deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """Memory of one group; nothing in it outlives the leader but who is there."""

    name: str
    """Of the group: its leader pod's, and its worker StatefulSet's."""
    scope: RestartScope
    size: int = 1
    """Pods of the group, leader included, by its own revision."""
    leader: UID | None = None
    members: Mapping[str, Member] = field(default_factory=dict)
    """By pod name, the leader too."""
    statefulsets: Mapping[UID, UID] = field(default_factory=dict)
    """Worker StatefulSet to the leader that it belongs, or belonged, to."""
    baseline: Mapping[UID, Restarts] = field(default_factory=dict)
    """Restarts that count no more: from before the policy was in force, or from start-up."""
    forgiven: tuple[UID, ...] = ()
    """Who was lost for good before the policy was in force, or during start-up."""
    losses: tuple[RawLoss, ...] = ()
    """In the order in which they were seen, one a pod."""
    started: float | None = None
    """When the last pod of the group began to run, once they all have (AFTER_START only)."""

    def is_of_this_life(self, *, pod: str, uid: UID, owner: UID | None) -> bool:
        """Whether a pod (or the StatefulSet) belongs to the leader that lives now."""
        if self.leader is None:
            return False
        if pod == self.name and uid == self.leader:
            return True
        return owner is not None and self.leader in (owner, self.statefulsets.get(owner))


def with_start(membership: Membership, *, with_the_lost: bool = False) -> Membership:
    """Latch the moment at which the last pod of the group began to run."""
    if membership.scope is not RestartScope.AFTER_START or membership.started is not None:
        return membership
    started = _start(membership, with_the_lost=with_the_lost)
    if started is None:
        return membership
    losses = tuple(loss for loss in membership.losses if loss.at is None or loss.at >= started)
    return replace(membership, started=started, losses=losses)


def _start(membership: Membership, *, with_the_lost: bool) -> float | None:
    name = membership.name
    started = 0.0
    if len(membership.members) < membership.size:  # which may be any number, of a hand's too
        return None
    for pod in (name, *(f"{name}-{index}" for index in range(1, membership.size))):
        member = membership.members.get(pod)
        if member is None or member.began is None or (member.over and not with_the_lost):
            return None
        if not membership.is_of_this_life(pod=pod, uid=member.uid, owner=member.owner):
            return None
        started = max(started, member.began)
    return started


def with_loss(membership: Membership, loss: RawLoss) -> Membership:
    """Remember a loss, unless it can never count; one a pod is enough."""
    if membership.scope is RestartScope.NOTHING or loss.uid in membership.forgiven:
        return membership
    if not _is_member(membership, loss) or _is_of_another_life(membership, loss):
        return membership
    if _is_of_start_up(membership, loss):
        return _forgive(membership, loss) if loss.kind.is_final else membership
    losses = membership.losses
    for place, known in enumerate(losses):
        if known.uid != loss.uid:
            continue
        if not _is_news(membership, known, loss):
            return membership
        return replace(membership, losses=(*losses[:place], loss, *losses[place + 1 :]))
    return replace(membership, losses=(*losses, loss)[-_LOSSES_MAX:])


def _is_member(membership: Membership, loss: RawLoss) -> bool:
    """Whether it is the group's: a pod beyond its size, which a scale by hand made, is not."""
    if loss.pod == membership.name:
        return True
    ordinal = names.ordinal(loss.pod)
    if ordinal is None or loss.pod != f"{membership.name}-{ordinal}":
        return False
    return 1 <= ordinal < membership.size


def _is_of_another_life(membership: Membership, loss: RawLoss) -> bool:
    """Whether that is known; a StatefulSet that was not seen yet may still turn out to be ours."""
    if membership.leader is None:
        return True
    if membership.is_of_this_life(pod=loss.pod, uid=loss.uid, owner=loss.owner):
        return False
    is_leader = loss.pod == membership.name
    return is_leader or loss.owner is None or loss.owner in membership.statefulsets


def _is_of_start_up(membership: Membership, loss: RawLoss) -> bool:
    """Whether it is known to have happened while the group was starting, and that matters.

    A restart that tells its time may come before the news that the last pod has begun to run.
    """
    if membership.scope is not RestartScope.AFTER_START:
        return False
    if membership.started is None:
        return loss.at is None or loss.kind.is_final
    return loss.at is not None and loss.at < membership.started


def _is_news(membership: Membership, known: RawLoss, loss: RawLoss) -> bool:
    """Whether a later restart may count where the earlier one may not."""
    if membership.scope is not RestartScope.AFTER_START or membership.started is not None:
        return False
    return (loss.at or 0.0) > (known.at or 0.0)


def _forgive(membership: Membership, loss: RawLoss) -> Membership:
    forgiven = (*membership.forgiven, loss.uid)[-max(_LOSSES_MAX, membership.size) :]
    return replace(membership, forgiven=forgiven)
