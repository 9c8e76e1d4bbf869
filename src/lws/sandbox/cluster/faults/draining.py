"""The pods of a node that is emptied, as `kubectl drain` does it."""

from collections.abc import Sequence

from lws.client.resources import PODS
from lws.sandbox.cluster.objects import (
    TERMINAL,
    controller_of,
    is_terminating,
    name_of,
    namespace_of,
    phase_of,
)
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, JsonObject, Verbs

Refused = tuple[str, str]
"""A pod, and the server's words."""


async def evicted_from(
    api: Verbs, node: str, caller: Caller
) -> tuple[Sequence[str], Sequence[Refused]]:
    """Asks for the eviction of each pod there: those that go, and those that a budget keeps."""
    evicted: list[str] = []
    refused: list[Refused] = []
    for pod in api.list(PODS).items:
        if pod["spec"].get("nodeName") != node or not _is_to_go(pod):
            continue
        place = f"{namespace_of(pod)}/{name_of(pod)}"
        try:
            await _evict(api, pod, caller)
        except ApiStatus as refusal:
            if refusal.code == 404:
                continue
            if refusal.code != 429:
                raise
            refused.append((place, refusal.message))
        else:
            evicted.append(place)
    return evicted, refused


def _is_to_go(pod: JsonObject) -> bool:
    owner = controller_of(pod)
    is_daemon = owner is not None and owner["kind"] == "DaemonSet"
    return not is_daemon and not is_terminating(pod) and phase_of(pod) not in TERMINAL


async def _evict(api: Verbs, pod: JsonObject, caller: Caller) -> None:
    name, space = name_of(pod), namespace_of(pod)
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": space},
    }
    await api.create(PODS, body, name=name, namespace=space, subresource="eviction", caller=caller)
