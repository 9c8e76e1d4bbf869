"""The Deployment that is there, where ours is to be. Pure."""

from collections.abc import Mapping
from typing import Any

from lws.cli.check.findings import Finding, Severity, Subject, Topic

Document = Mapping[str, Any]
NAME = "lws-controller-manager"
SELECTOR = {"control-plane": "controller-manager", "app.kubernetes.io/name": "lws"}
"""Of ours, as `deploy` has it; a selector cannot be changed."""


def judge_deployment(live: Document) -> list[Finding]:
    """Whether ours can be applied over it."""
    spec, metadata = live["spec"], live["metadata"]
    if (spec.get("selector") or {}).get("matchLabels") == SELECTOR:
        return []
    containers = spec["template"]["spec"].get("containers") or ()
    images = ", ".join(one["image"] for one in containers)
    return [
        Finding(
            severity=Severity.INFO,
            topic=Topic.INSTALLATION,
            about=Subject("Deployment", metadata["namespace"], metadata["name"]),
            message=f"is another's ({images}), and ours cannot be applied over it: its selector "
            "is another, and cannot be changed",
            hint="delete it before ours is applied: "
            f"kubectl -n {metadata['namespace']} delete deployment {metadata['name']}",
        )
    ]
