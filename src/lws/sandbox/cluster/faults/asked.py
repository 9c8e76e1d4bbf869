"""What may be asked for, read strictly."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from lws.sandbox.server import status

PodTrouble = Literal["evict", "fail", "delete", "unready", "ready"]
NodeTrouble = Literal["down", "up", "drain", "cordon", "uncordon", "taint", "untaint", "remove"]
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Name = Annotated[str, Meta(min_length=1)]
Seconds = Annotated[float, Meta(ge=0, le=86_400)]


class ContainerFault(
    Struct, frozen=True, rename="camel", tag_field="fault", tag="container",
    forbid_unknown_fields=True,
):  # fmt: skip
    """A container ends; the first one, if none is named."""

    pod: Name
    namespace: Name = "default"
    container: str = ""
    exit_code: Annotated[int, Meta(ge=0, le=255)] = 137


class PodFault(
    Struct, frozen=True, rename="camel", tag_field="fault", tag="pod", forbid_unknown_fields=True
):
    """Something befalls a pod as a whole."""

    pod: Name
    how: PodTrouble
    namespace: Name = "default"


class Taint(Struct, frozen=True, forbid_unknown_fields=True):
    """As a node has it; to take one away, the key is enough."""

    key: Name
    value: str = ""
    effect: Effect | Literal[""] = ""


class NodeFault(
    Struct, frozen=True, rename="camel", tag_field="fault", tag="node", forbid_unknown_fields=True
):
    """Something befalls a machine."""

    node: Name
    how: NodeTrouble
    taint: Taint | None = None


class SlowStart(
    Struct, frozen=True, rename="camel", tag_field="fault", tag="slow-start",
    forbid_unknown_fields=True,
):  # fmt: skip
    """Pods that start from now on take so long to be ready."""

    seconds: Seconds


Fault = ContainerFault | PodFault | NodeFault | SlowStart
KINDS = {
    "container": ["pod", "namespace", "container", "exitCode"],
    "pod": list(get_args(PodTrouble)),
    "node": list(get_args(NodeTrouble)),
    "slow-start": ["seconds"],
}
"""What `GET /sandbox` says that there is."""


def fault_of(body: bytes) -> Fault:
    """The fault that a body asks for; ApiStatus 400 names what is wrong with it."""
    try:
        fault = msgspec.json.decode(body, type=Fault)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise status.bad_request(f"the fault cannot be read: {error}") from error
    if isinstance(fault, NodeFault) and fault.how in ("taint", "untaint"):
        if fault.taint is None:
            raise status.bad_request(f"taint: must be given to {fault.how} a node")
        if fault.how == "taint" and not fault.taint.effect:
            words = ", ".join(get_args(Effect))
            raise status.bad_request(f"taint.effect: must be one of {words}")
    return fault
