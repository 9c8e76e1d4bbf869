"""What all objects share."""

import msgspec

from lws.base.ids import UID, ResourceVersion


class Struct(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A view of a part of the wire: fields that a decision reads, nothing else."""


class OwnerReference(Struct, frozen=True, kw_only=True):
    """`metadata.ownerReferences[]`."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: UID = UID("")
    controller: bool = False


class ObjectMeta(Struct, frozen=True, kw_only=True):
    """`metadata`, whole maps of labels and annotations (for the few objects that need them)."""

    name: str = ""
    namespace: str = ""
    uid: UID = UID("")
    resource_version: ResourceVersion = ResourceVersion("")
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Condition(Struct, frozen=True, kw_only=True):
    """`metav1.Condition`."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int = 0


def controller_uid(owners: tuple[OwnerReference, ...]) -> UID | None:
    """UID of the controlling owner, None if there is none."""
    for owner in owners:
        if owner.controller:
            return owner.uid
    return None
