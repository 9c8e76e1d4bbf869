"""`subdomainPolicy: UniquePerReplica`: the headless Service of one group."""

from lws.api import names
from lws.api.core import Pod
from lws.api.kinds import Kind
from lws.api.leaderworkerset import SubdomainPolicy
from lws.planner.actions import Action, Create, Document
from lws.planner.pods import events
from lws.planner.pods.ownership import Owned, owner_reference, ownership
from lws.planner.pods.snapshot import GroupSnapshot


def has_own_service(leader: Pod) -> bool:
    """Whether the group has its own subdomain; the pod says so, whose subdomain it is."""
    return leader.metadata.annotations.subdomain_policy == SubdomainPolicy.UNIQUE_PER_REPLICA


def plan_service(snapshot: GroupSnapshot, leader: Pod) -> tuple[Action, ...]:
    """Make the group's Service, if it has one and it is not there."""
    if not has_own_service(leader):
        return ()
    name = leader.metadata.name
    if snapshot.service is None:
        failure = events.warning(
            snapshot.lws,
            reason=events.FAILED_CREATE,
            action=events.CREATE,
            note=f"Failed to create headless service {name}",
        )
        return (
            Create(
                kind=Kind.SERVICE,
                namespace=leader.metadata.namespace,
                name=name,
                body=service_body(snapshot, leader),
                failure=failure,
            ),
        )
    if ownership(snapshot.service.metadata, leader=leader) is not Owned.FOREIGN:
        return ()
    return (
        events.warning(
            snapshot.lws,
            reason=events.NOT_OURS,
            action=events.CREATE,
            note=f"Service {name} exists and does not belong to leader pod {name}, "
            "so the pods of that group have no DNS names; it is left as it is",
        ),
    )


def service_body(snapshot: GroupSnapshot, leader: Pod) -> Document:
    """A headless Service over the pods of one group, ready or not."""
    lws = snapshot.lws.metadata.name
    return {
        "apiVersion": Kind.SERVICE.api_version,
        "kind": Kind.SERVICE.kind,
        "metadata": {
            "name": leader.metadata.name,
            "namespace": leader.metadata.namespace,
            "labels": {names.NAME: lws},
            "ownerReferences": [owner_reference(leader)],
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {names.NAME: lws, names.GROUP_INDEX: str(snapshot.index)},
        },
    }
