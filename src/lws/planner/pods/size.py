"""How many pods a group has: by the revision of its own leader, never by the live set."""

from lws.api.core import Pod
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.planner.revision import Revision

# A size is an int32; a longer number is garbage (and int() of a very long one is slow).
_DIGITS_MAX = 10


def annotated_size(leader: Pod) -> int | None:
    """Size that the leader pod carries; None if it carries none, or garbage."""
    text = leader.metadata.annotations.size
    if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS_MAX:
        return None
    return int(text) or None


def revision_size(revision: Revision) -> int:
    """Size that a revision records."""
    return max(1, revision.template.leader_worker_template.size)


def group_size(*, leader: Pod | None, revision: Revision | None, lws: LeaderWorkerSet) -> int:
    """Size of a group: its leader's, else its revision's, else that of the live set."""
    annotated = None if leader is None else annotated_size(leader)
    if annotated is not None:
        return annotated
    if revision is not None:
        return revision_size(revision)
    return max(1, lws.spec.leader_worker_template.size)
