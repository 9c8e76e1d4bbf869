"""Who may read the metrics: asked of the API server (manager.md, Running)."""

from lws.client import resources
from lws.client.kubernetes import KubernetesClient


class MetricsAuthorizer:
    """TokenReview, then SubjectAccessReview for the path."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    async def __call__(self, token: str, verb: str, path: str) -> bool:
        """Whether the bearer of `token` may `verb` this non-resource path."""
        review = await self._client.create(
            resources.TOKENREVIEWS,
            body={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": token},
            },
        )
        status = review.get("status") or {}
        if not status.get("authenticated"):
            return False
        user = status.get("user") or {}
        access = await self._client.create(
            resources.SUBJECTACCESSREVIEWS,
            body={
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {
                    "user": user.get("username", ""),
                    "uid": user.get("uid", ""),
                    "groups": user.get("groups") or [],
                    "extra": user.get("extra") or {},
                    "nonResourceAttributes": {"path": path, "verb": verb},
                },
            },
        )
        return bool((access.get("status") or {}).get("allowed"))
