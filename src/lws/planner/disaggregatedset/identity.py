"""Which revision is wanted: told by meaning, named by key (spec section 1).

A revision that exists and whose roles and templates all mean what the spec means keeps its key,
whoever made it and however it was written. Only where there is none is a new key computed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api import names
from lws.api.disaggregatedset import DisaggregatedSet
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.ids import RevisionKey
from lws.planner.actions import Document
from lws.planner.disaggregatedset.placement import without_placement
from lws.planner.disaggregatedset.revision_key import revision_key
from lws.planner.meaning import template_digest

_POD_TEMPLATES = ("leaderTemplate", "workerTemplate")
_OURS = (names.APP, names.DS_NAME, names.DS_ROLE, names.DS_SLICE, names.DS_REVISION)

Templates = Mapping[RevisionKey, Mapping[str, Collection[str]]]
"""By revision key and role: the digests of the templates that its LeaderWorkerSets have."""


@dataclass(frozen=True, slots=True)
class WantedRoles:
    """What the spec of a set asks for, read once a generation."""

    documents: Mapping[str, Document]
    """By role, in the order of the spec: the role as JSON."""
    digests: Mapping[str, str]
    """By role: equal for two templates that mean the same."""
    computed_key: RevisionKey
    """The key that these roles get if no revision that exists means the same."""


def read_wanted(ds: DisaggregatedSet) -> WantedRoles:
    """What the spec of `ds` asks for."""
    spec = msgspec.json.decode(ds.document).get("spec") or {}
    documents = {role["name"]: role for role in spec.get("roles") or ()}
    templates = [(name, _template(role.get("spec") or {})) for name, role in documents.items()]
    return WantedRoles(
        documents=documents,
        digests={name: _digest(template) for name, template in templates},
        computed_key=RevisionKey(revision_key(templates)),
    )


def lws_digest(lws: LeaderWorkerSet) -> str:
    """Of the template of a role's LeaderWorkerSet, less what we have added to it."""
    return _digest(_template(msgspec.json.decode(lws.document).get("spec") or {}))


def wanted_key(wanted: WantedRoles, templates: Templates) -> RevisionKey:
    """The key of the revision that means what is wanted, else the computed one."""
    same = [key for key, roles in templates.items() if _means(roles, wanted)]
    if not same or wanted.computed_key in same:
        return wanted.computed_key
    return min(same)


def _means(roles: Mapping[str, Collection[str]], wanted: WantedRoles) -> bool:
    return roles.keys() == wanted.digests.keys() and all(
        set(digests) == {wanted.digests[role]} for role, digests in roles.items()
    )


def _template(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return spec.get("leaderWorkerTemplate") or {}


def _digest(template: Mapping[str, Any]) -> str:
    return template_digest({"leaderWorkerTemplate": bare_template(template)})


def bare_template(template: Mapping[str, Any]) -> dict[str, Any]:
    """A role's template less what we have added to it."""
    bare = dict(template)
    for name in _POD_TEMPLATES:
        if isinstance(bare.get(name), Mapping):
            bare[name] = _without_ours(bare[name])
    return bare


def _without_ours(pod: Mapping[str, Any]) -> dict[str, Any]:
    """A pod template less labels and placement that are ours on the wire."""
    metadata = dict(pod.get("metadata") or {})
    labels = metadata.get("labels") or {}
    metadata["labels"] = {key: value for key, value in labels.items() if key not in _OURS}
    return {**pod, "metadata": metadata, "spec": without_placement(pod.get("spec") or {})}
