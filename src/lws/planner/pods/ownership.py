"""Whose an object in a group's place is: of this leader, of an earlier life of it, or foreign."""

from enum import Enum

from lws.api.core import Pod
from lws.api.kinds import Kind
from lws.api.meta import ObjectMeta, controller_uid
from lws.planner.actions import Document


class Owned(Enum):
    """What a leader may do about an object that is named like one of its own."""

    OURS = "ours"
    LEAVING = "leaving"
    """It belongs to a leader of an earlier life, or is being deleted: its end will wake us."""
    FOREIGN = "foreign"
    """Somebody else's, or nobody's: not touched; a person must hear of it."""


def ownership(metadata: ObjectMeta, *, leader: Pod) -> Owned:
    """Told by the UID of the controlling owner; an earlier life has our name and another UID."""
    if controller_uid(metadata.owner_references) == leader.metadata.uid:
        return Owned.OURS if metadata.deletion_timestamp is None else Owned.LEAVING
    if metadata.deletion_timestamp is not None:
        return Owned.LEAVING
    for owner in metadata.owner_references:
        if owner.controller and owner.kind == "Pod" and owner.name == leader.metadata.name:
            return Owned.LEAVING
    return Owned.FOREIGN


def owner_reference(leader: Pod) -> Document:
    """What makes an object a part of the group: it goes when its leader goes."""
    return {
        "apiVersion": Kind.POD.api_version,
        "kind": Kind.POD.kind,
        "name": leader.metadata.name,
        "uid": leader.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
