"""A recorded template: what a ControllerRevision of ours says (leaderworkerset.md section 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api import names
from lws.api.apps import ControllerRevision
from lws.api.leaderworkerset import Template
from lws.base.ids import UID, ResourceVersion, RevisionKey
from lws.planner.meaning import template_digest


@dataclass(frozen=True, slots=True)
class Revision:
    """One recorded template, active (label `name`) or retired (label `history-of`)."""

    name: str
    uid: UID
    resource_version: ResourceVersion
    key: RevisionKey
    number: int
    retired: bool
    created: str
    template: Template
    """Typed: size, policies, subgroups; pod templates are JSON."""
    document: Mapping[str, Any]
    """`{"leaderWorkerTemplate": …, "networkConfig": …}` as plain objects, `$patch` taken out."""
    digest: str
    """Equal for two templates that mean the same."""
    topologies: Mapping[str, str]
    """The two topology annotations, as recorded."""
    tells_topologies: bool
    """Whether it says which there are, none perhaps; another controller records nothing of them."""


TOPOLOGY_ANNOTATIONS = (names.EXCLUSIVE_TOPOLOGY, names.SUBGROUP_EXCLUSIVE_TOPOLOGY)


class UnreadableRevision(ValueError):
    """The data of a ControllerRevision is not what a LeaderWorkerSet controller records."""


def read_revision(recorded: ControllerRevision) -> Revision:
    """Read one; UnreadableRevision if its data has not the form of the wire."""
    try:
        spec = msgspec.json.decode(recorded.data)["spec"]
        document = {part: _without_patch(spec.get(part) or {}) for part in _PARTS}
        typed = msgspec.json.decode(msgspec.json.encode(document), type=Template)
    except (msgspec.MsgspecError, TypeError, KeyError, AttributeError) as error:
        raise UnreadableRevision(f"{recorded.metadata.name}: {error}") from error
    labels, annotations = recorded.metadata.labels, recorded.metadata.annotations
    return Revision(
        name=recorded.metadata.name,
        uid=recorded.metadata.uid,
        resource_version=recorded.metadata.resource_version,
        key=RevisionKey(labels.get(names.REVISION_KEY, "")),
        number=recorded.revision,
        retired=names.HISTORY_OF in labels,
        created=recorded.metadata.creation_timestamp,
        template=typed,
        document=document,
        digest=template_digest(document),
        topologies=topologies_of(annotations),
        tells_topologies=any(key in annotations for key in TOPOLOGY_ANNOTATIONS),
    )


def topologies_of(annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotations that belong to the template though they stand in the metadata."""
    return {key: annotations[key] for key in TOPOLOGY_ANNOTATIONS if annotations.get(key)}


_PARTS = ("leaderWorkerTemplate", "networkConfig")


def _without_patch(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "$patch"}
