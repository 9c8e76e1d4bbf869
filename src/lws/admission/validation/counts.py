"""How many groups, and of how many pods (api.md section 2)."""

from lws.admission import defaulting
from lws.admission.validation.places import INT32_MAX, Place
from lws.admission.validation.verdict import Cause

REPLICAS_MAX = 1_000_000


def replicas_of(spec: Place) -> int | None:
    """Groups wanted; None if the field is invalid."""
    return spec["replicas"].bounded(0, REPLICAS_MAX, default=defaulting.REPLICAS)


def size_of(template: Place) -> int | None:
    """Pods in a group; None if the field is invalid."""
    return template["size"].bounded(1, default=defaulting.SIZE)


def check_counts(spec: Place) -> None:
    """Each in its range, and not too many pods in all."""
    replicas = replicas_of(spec)
    size = size_of(spec["leaderWorkerTemplate"])
    if replicas is not None and size is not None and replicas * size > INT32_MAX:
        spec["replicas"].error(
            Cause.INVALID,
            f"times size ({size}) is more than {INT32_MAX} pods: make one of them smaller",
        )
