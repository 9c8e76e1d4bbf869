"""Events of one group: they all stand on its LeaderWorkerSet (leaderworkerset.md section 4)."""

from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.planner.actions import Emit, EventType, Reference, Telling

GROUPS_PROGRESSING = "GroupsProgressing"
RECREATE_GROUP = "RecreateGroup"
FAILED_CREATE = "FailedCreate"
FAILED_UPDATE = "FailedUpdate"
FAILED_DELETE = "FailedDelete"
NOT_OURS = "NotOurs"
MISSING_REVISION = "MissingRevision"
MISSING_TOPOLOGY = "MissingTopology"
NO_START_ORDINAL = "StartOrdinalUnsupported"
TEMPLATE_CHANGED = "WorkerTemplateChanged"
REPLICAS_CHANGED = "WorkerReplicasChanged"

# Machine-readable verbs.
CREATE = "Create"
UPDATE = "Update"
DELETE = "Delete"


def normal(
    lws: LeaderWorkerSet,
    *,
    reason: str,
    action: str,
    note: str,
    telling: Telling = Telling.EACH,
) -> Emit:
    """What went as it should."""
    return Emit(_regarding(lws), EventType.NORMAL, reason, action, note, telling)


def warning(lws: LeaderWorkerSet, *, reason: str, action: str, note: str) -> Emit:
    """What a person should look at."""
    return Emit(_regarding(lws), EventType.WARNING, reason, action, note)


def _regarding(lws: LeaderWorkerSet) -> Reference:
    metadata = lws.metadata
    return Reference(
        kind=Kind.LEADER_WORKER_SET,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )
