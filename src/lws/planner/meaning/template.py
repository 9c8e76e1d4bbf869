"""The template of a LeaderWorkerSet by its meaning (spec: leaderworkerset.md section 1, step 4).

A template is a mapping with `leaderWorkerTemplate` and `networkConfig`, as the spec of a set and
the data of a ControllerRevision have them; what else they hold is not looked at. A bare
`leaderWorkerTemplate`, as a role of a DisaggregatedSet has it, stands for one with the default
network.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from lws.planner.meaning.normal import Normal, normal_struct

_PARTS = ("leaderWorkerTemplate", "networkConfig")


def normalise_template(template: Mapping[str, object]) -> dict[str, Normal]:
    """Equal (==) for two templates that mean the same, and for no others."""
    if "leaderWorkerTemplate" in template:
        template = {name: template.get(name) for name in _PARTS}
    elif "workerTemplate" in template:
        template = {"leaderWorkerTemplate": template}
    return normal_struct(template, "lws.Template")


def same_template(a: Mapping[str, object], b: Mapping[str, object]) -> bool:
    return normalise_template(a) == normalise_template(b)


def template_digest(template: Mapping[str, object]) -> str:
    """64 hex digits, the same for templates that mean the same, on every Python."""
    written = json.dumps(normalise_template(template), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()
