"""DisaggregatedSet and its role scalers, as our controllers read them (spec: api.md section 3).

Every default of the schema stands here too, so that an object that reached the store under an
older CRD reads the same. Templates of the roles stay JSON (`document`) until one is built.
"""

from enum import StrEnum

import msgspec

from lws.api.leaderworkerset import LeaderWorkerSetSpec
from lws.api.meta import Condition, ObjectMeta, Struct


class ScalingMode(StrEnum):
    """`roles[].scaling.mode`."""

    STATIC = "Static"
    EXTERNAL = "External"


class PlacementType(StrEnum):
    """`placementPolicy.type`."""

    NONE = "None"
    EXCLUSIVE_SLICE = "ExclusiveSlice"
    EXCLUSIVE_TOPOLOGY = "ExclusiveTopology"


class Scaling(Struct, frozen=True, kw_only=True):
    """`roles[].scaling`."""

    mode: str = ScalingMode.STATIC


class RoleMetadata(Struct, frozen=True, kw_only=True):
    """`roles[].metadata`: of the role's LeaderWorkerSet."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Role(Struct, frozen=True, kw_only=True):
    """`roles[]`."""

    name: str
    scaling: Scaling | None = None
    metadata: RoleMetadata | None = None
    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()

    @property
    def is_external(self) -> bool:
        """Whether a scaler says how many replicas it has."""
        return self.scaling is not None and self.scaling.mode == ScalingMode.EXTERNAL

    @property
    def labels(self) -> dict[str, str]:
        """The user's own labels of the role's LeaderWorkerSet."""
        return (self.metadata and self.metadata.labels) or {}

    @property
    def annotations(self) -> dict[str, str]:
        """The user's own annotations of the role's LeaderWorkerSet."""
        return (self.metadata and self.metadata.annotations) or {}


class PlacementPolicy(Struct, frozen=True, kw_only=True):
    """`placementPolicy`."""

    type: str = PlacementType.NONE
    topology: str = ""


class DisaggregatedSetSpec(Struct, frozen=True, kw_only=True):
    """`spec`."""

    roles: tuple[Role, ...] = ()
    slices: int = 1
    placement_policy: PlacementPolicy | None = None


class RoleStatus(Struct, frozen=True, kw_only=True):
    """`status.roleStatuses[]`."""

    name: str
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0


class DisaggregatedSetStatus(Struct, frozen=True, kw_only=True):
    """`status`."""

    observed_generation: int = 0
    role_statuses: tuple[RoleStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


class DisaggregatedSet(Struct, frozen=True, kw_only=True):
    """One DisaggregatedSet; `document` is the whole of it as JSON (set by `decode`)."""

    metadata: ObjectMeta
    spec: DisaggregatedSetSpec = DisaggregatedSetSpec()
    status: DisaggregatedSetStatus = DisaggregatedSetStatus()
    document: bytes = b""


class RoleScalerSpec(Struct, frozen=True, kw_only=True):
    """`spec` of a scaler."""

    replicas: int = 0


class RoleScalerStatus(Struct, frozen=True, kw_only=True):
    """`status` of a scaler."""

    replicas: int = 0
    selector: str = ""
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class RoleScaler(Struct, frozen=True, kw_only=True):
    """A DisaggregatedSetRoleScaler."""

    metadata: ObjectMeta
    spec: RoleScalerSpec = RoleScalerSpec()
    status: RoleScalerStatus = RoleScalerStatus()


_decoder = msgspec.json.Decoder(DisaggregatedSet)

decode_role_scaler = msgspec.json.Decoder(RoleScaler).decode


def decode(data: bytes | msgspec.Raw) -> DisaggregatedSet:
    """Read one; msgspec.ValidationError (with the field's path) if a type is wrong."""
    document = bytes(data)
    return msgspec.structs.replace(_decoder.decode(document), document=document)
