"""Gang scheduling: the PodGroup of one group (pods.md section 3)."""

from typing import Any, Protocol

from lws.api import names
from lws.api.core import Pod
from lws.api.kinds import Kind
from lws.api.leaderworkerset import StartupPolicy
from lws.base.ids import RevisionKey
from lws.planner.actions import Action, Create, Document
from lws.planner.pods import events
from lws.planner.pods.ownership import Owned, owner_reference, ownership
from lws.planner.pods.requests import group_requests
from lws.planner.pods.size import revision_size
from lws.planner.pods.snapshot import GroupSnapshot
from lws.planner.revision import Revision


class Gang(Protocol):
    """The part of a scheduling provider that makes PodGroups."""

    @property
    def api_version(self) -> str:
        """Of its PodGroups."""
        ...

    def body(
        self,
        *,
        name: str,
        min_member: int,
        min_resources: dict[str, str],
        annotations: dict[str, str],
    ) -> Document:
        """`spec` and `metadata.annotations` of a PodGroup."""
        ...


def pod_group_name(*, lws: str, group: int, key: RevisionKey) -> str:
    """Name of a group's PodGroup (api.md section 5)."""
    return f"{lws}-{group}-{key}"


def plan_pod_group(snapshot: GroupSnapshot, leader: Pod, gang: Gang | None) -> tuple[Action, ...]:
    """Make the group's PodGroup, if there is a provider and it is not there."""
    if gang is None:
        return ()
    if snapshot.pod_group is not None:
        return _told(snapshot, leader)
    if snapshot.revision is None:  # told with all that waits for it
        return ()
    key = leader.metadata.labels.revision_key
    name = pod_group_name(lws=snapshot.lws.metadata.name, group=snapshot.index, key=key)
    failure = events.warning(
        snapshot.lws,
        reason=events.FAILED_CREATE,
        action=events.CREATE,
        note=f"Failed to create PodGroup {name}",
    )
    return (
        Create(
            kind=Kind.POD_GROUP,
            namespace=leader.metadata.namespace,
            name=name,
            body=_body(snapshot, leader, snapshot.revision, name=name, gang=gang),
            failure=failure,
        ),
    )


def _told(snapshot: GroupSnapshot, leader: Pod) -> tuple[Action, ...]:
    """It is there: of an earlier life it is waited out, and a foreign one a person must hear of."""
    assert snapshot.pod_group is not None, "asked only where it stands"
    if ownership(snapshot.pod_group.metadata, leader=leader) is not Owned.FOREIGN:
        return ()
    return (
        events.warning(
            snapshot.lws,
            reason=events.NOT_OURS,
            action=events.CREATE,
            note=f"PodGroup {snapshot.pod_group.metadata.name} exists and does not belong to "
            f"leader pod {leader.metadata.name}; it is left as it is",
        ),
    )


def _body(
    snapshot: GroupSnapshot, leader: Pod, revision: Revision, *, name: str, gang: Gang
) -> Document:
    lws = snapshot.lws
    size = revision_size(revision)
    parts = revision.document["leaderWorkerTemplate"]
    worker = (parts.get("workerTemplate") or {}).get("spec") or {}
    own = (parts.get("leaderTemplate") or {}).get("spec") or worker
    is_late = lws.spec.startup_policy == StartupPolicy.LEADER_READY
    made = gang.body(
        name=name,
        min_member=1 if is_late else size,
        min_resources=group_requests(own, worker, size=size),
        annotations=dict(lws.metadata.annotations),
    )
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": leader.metadata.namespace,
        "labels": {
            names.NAME: lws.metadata.name,
            names.GROUP_INDEX: str(snapshot.index),
            names.REVISION_KEY: leader.metadata.labels.revision_key,
        },
        "ownerReferences": [owner_reference(leader)],
    }
    if made["metadata"]["annotations"]:
        metadata["annotations"] = dict(made["metadata"]["annotations"])
    return {
        "apiVersion": gang.api_version,
        "kind": Kind.POD_GROUP.kind,
        "metadata": metadata,
        "spec": dict(made["spec"]),
    }
