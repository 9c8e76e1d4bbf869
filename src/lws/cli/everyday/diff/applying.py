"""What `kubectl apply` would make of a manifest: asked of the API server, in a dry run.

Whoever applied last decides how: with a last-applied annotation as client-side apply does it, else
as server-side apply does. Defaults, admission and refusals are the server's own.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday.family import Document
from lws.client import errors, resources
from lws.client.requests import PatchType

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

KUBECTL = "kubectl"
RESOURCES = {
    names.KIND: resources.LEADERWORKERSETS,
    names.DS_KIND: resources.DISAGGREGATEDSETS,
}


def place_of(manifest: Document, namespace: str, *, typed: str | None) -> tuple[str, str]:
    """Namespace and name; InvalidInput where they are missing or contradict the command line."""
    metadata = manifest.get("metadata") or {}
    if not metadata.get("name"):
        raise InvalidInput(field="metadata.name", message="must not be empty")
    own = metadata.get("namespace")
    if typed is not None and own is not None and own != typed:
        message = f"is {typed}, and the manifest says {own}; leave out one of them"
        raise InvalidInput(field="--namespace", message=message)
    return own or namespace, metadata["name"]


async def live_of(
    client: "KubernetesClient", manifest: Document, namespace: str, name: str
) -> Document | None:
    """The object as it is, None if there is none."""
    try:
        return await client.get(RESOURCES[manifest["kind"]], namespace=namespace, name=name)
    except errors.NotFound as error:
        if f'"{name}"' in error.message:
            return None
        raise


async def applied(
    client: "KubernetesClient", manifest: Document, live: Document | None, namespace: str
) -> Document:
    """The object as it would be."""
    resource, name = RESOURCES[manifest["kind"]], manifest["metadata"]["name"]
    if live is None:
        return await client.create(
            resource, namespace=namespace, body=manifest, field_manager=KUBECTL, dry_run=True
        )
    last = (live["metadata"].get("annotations") or {}).get(names.LAST_APPLIED)
    if last is None:
        return await client.apply(
            resource,
            namespace=namespace,
            name=name,
            body=manifest,
            field_manager=KUBECTL,
            force=True,
            dry_run=True,
        )
    return await client.patch(
        resource,
        namespace=namespace,
        name=name,
        body=merge_patch(_read(last), manifest),
        patch_type=PatchType.MERGE,
        field_manager=KUBECTL,
        dry_run=True,
    )


def merge_patch(last: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest says, and null for what was applied last and is in it no more. Pure."""
    patch: dict[str, Any] = {key: None for key in last if key not in manifest}
    for key, value in manifest.items():
        before = last.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            patch[key] = merge_patch(before, value)
        else:
            patch[key] = value
    return patch


def _read(last: str) -> Mapping[str, Any]:
    try:
        found = json.loads(last)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
