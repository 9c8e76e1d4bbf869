"""What each endpoint drops from what it is sent, so that nobody comes to own it there."""

from typing import Final

Path = tuple[str, ...]

_SPEC: Final[Path] = ("spec",)
_STATUS: Final[Path] = ("status",)
_METADATA: Final[Path] = ("metadata",)
_OF_STATUS: Final[dict[tuple[str, str], tuple[Path, ...]]] = {
    ("apps/v1", "Deployment"): (_SPEC, ("metadata", "labels")),
    ("v1", "Pod"): (_SPEC, ("metadata", "deletionTimestamp"), ("metadata", "ownerReferences")),
    ("scheduling.k8s.io/v1alpha2", "PodGroup"): (_SPEC, _METADATA),
}


def reset_paths(
    *, api_version: str, kind: str, subresource: str, has_status: bool, is_custom: bool
) -> tuple[Path, ...]:
    """For `reset` of `updated` and `applied`. `has_status`: the kind has the subresource."""
    if not has_status:
        return ()
    if subresource != "status":
        return (_STATUS,)
    if is_custom:
        return (_SPEC, _METADATA)
    return _OF_STATUS.get((api_version, kind), (_SPEC,))
