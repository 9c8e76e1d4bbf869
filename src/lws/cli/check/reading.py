"""Pages of a cluster: the only way in which the check asks, and every question is a GET."""

from collections.abc import AsyncIterator

from lws.client.errors import Expired, NotFound
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.client.responses import JsonObject


async def find(
    client: KubernetesClient, resource: Resource, name: str, namespace: str | None = None
) -> JsonObject | None:
    """One object, None if there is none (or no such kind)."""
    try:
        return await client.get(resource, namespace=namespace, name=name)
    except NotFound:
        return None


async def pages(
    client: KubernetesClient,
    resource: Resource,
    *,
    namespace: str | None = None,
    selector: str | None = None,
    field_selector: str | None = None,
    size: int = 500,
) -> AsyncIterator[list[JsonObject]]:
    """A collection, page by page, each object once; empty if the kind is not served.

    A reader who is slow finds that the server has forgotten its place: it then begins again, and
    leaves out what it has had.
    """
    seen: set[tuple[str, str]] = set()
    token: str | None = None
    while True:
        try:
            page = await client.list_page(
                resource,
                namespace=namespace,
                label_selector=selector,
                field_selector=field_selector,
                limit=size,
                continue_token=token,
            )
        except Expired:
            if token is None:
                raise
            token = None
            continue
        except NotFound:
            return
        fresh = [item for item in page.items if _key(item) not in seen]
        seen |= {_key(item) for item in fresh}
        if fresh:
            yield fresh
        token = page.continue_token
        if not token:
            return


def _key(item: JsonObject) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
