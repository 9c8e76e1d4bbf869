"""The key of a DisaggregatedSet revision: the one that the public controller would compute.

So a set can go from that controller to this one, or back, without one pod restarting. The key is a
hash over the roles as Go writes them (`lws.planner.spelling`). A key is only ever *made* here:
whether two revisions are the same is asked of `lws.planner.meaning`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from lws.planner.spelling import spelled

_TEMPLATE = "lws.LeaderWorkerTemplate"
_KEY_LENGTH = 8


def revision_key(roles: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    """`roles` are (name, leaderWorkerTemplate) in the order of the spec."""
    return hashlib.sha256(go_json(roles).encode()).hexdigest()[:_KEY_LENGTH]


def go_json(roles: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    """What is hashed: compact JSON, every object's fields in the order of its Go type."""
    written = (
        f'{{"name":{spelled(name, "string")},"template":{spelled(body, _TEMPLATE)}}}'
        for name, body in roles
    )
    return f"[{','.join(written)}]"
