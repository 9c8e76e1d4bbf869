"""Volcano (scheduling.volcano.sh)."""

from typing import Any

from lws.providers.interface import Document, PodGroupKind, PodGroupRequest
from lws.providers.marking import with_metadata

GROUP_NAME = "scheduling.k8s.io/group-name"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
ANNOTATION_PREFIX = "volcano.sh/"


class Volcano:
    """PodGroups of Volcano; the queue is an annotation of the LeaderWorkerSet."""

    kind = PodGroupKind("scheduling.volcano.sh", "v1beta1")

    def pod_group(self, request: PodGroupRequest) -> Document:
        """The set's own `volcano.sh/` annotations go with it."""
        spec: dict[str, Any] = {
            "minMember": request.min_member,
            "minResources": dict(request.min_resources),
        }
        queue = request.annotations.get(QUEUE_NAME)
        if queue:
            spec["queue"] = queue
        annotations = {
            key: value
            for key, value in request.annotations.items()
            if key.startswith(ANNOTATION_PREFIX)
        }
        return {"metadata": {"annotations": annotations}, "spec": spec}

    def mark(self, pod: dict[str, Any], *, pod_group_name: str) -> dict[str, Any]:
        """By annotation."""
        return with_metadata(pod, "annotations", GROUP_NAME, pod_group_name)
