"""The coscheduling plugin of scheduler-plugins (scheduling.x-k8s.io)."""

from typing import Any

from lws.providers.interface import Document, PodGroupKind, PodGroupRequest
from lws.providers.marking import with_metadata

POD_GROUP = "scheduling.x-k8s.io/pod-group"
TIMEOUT = "scheduling.x-k8s.io/schedule-timeout-seconds"
TIMEOUT_SECONDS = 60
"""How long pods wait for the last of the gang before they give their places back."""


class Coscheduling:
    """PodGroups of the coscheduling plugin; its timeout can be an annotation of the set."""

    kind = PodGroupKind("scheduling.x-k8s.io", "v1alpha1")

    def pod_group(self, request: PodGroupRequest) -> Document:
        """A timeout that is no number is the default."""
        text = request.annotations.get(TIMEOUT, "")
        is_number = text.isascii() and text.isdigit() and 0 < len(text) < 7
        return {
            "metadata": {"annotations": {}},
            "spec": {
                "minMember": request.min_member,
                "minResources": dict(request.min_resources),
                "scheduleTimeoutSeconds": int(text) if is_number else TIMEOUT_SECONDS,
            },
        }

    def mark(self, pod: dict[str, Any], *, pod_group_name: str) -> dict[str, Any]:
        """By label."""
        return with_metadata(pod, "labels", POD_GROUP, pod_group_name)
