"""Whether the owner of what is to be made is still there, asked where there is reason to doubt it.

What is made for an owner that is gone is collected at once, and its end wakes whoever made it: with
a cache that does not show the owner's end yet (a watch that brings nothing is found out after
minutes), that would go round as fast as both sides can. So who soon makes the same thing again for
the same owner asks the server first. This memory changes no decision, only how often one is
carried out.
"""

from collections.abc import Mapping
from typing import Any

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.client.errors import NotFound, TellUser
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.planner.actions import Apply, Create

SOON_SECONDS = 60.0

_KINDS = {kind.kind: kind for kind in Kind}
_Target = tuple[Kind, str, str, str]
"""What is made, and the UID of its owner: another life of the owner is a reason to make it anew."""


class Owners:
    """Remembers what was made within the last minute."""

    def __init__(
        self, client: KubernetesClient, clock: Clock, *, resources: Mapping[Kind, Resource]
    ) -> None:
        self._client = client
        self._clock = clock
        self._resources = resources
        self._made: dict[_Target, float] = {}

    def made(self, action: Create | Apply) -> None:
        """It was."""
        target, now = _target(action), self._clock.monotonic()
        self._made.pop(target, None)
        self._made[target] = now  # at the end: the first is the oldest
        while now - self._made[next(iter(self._made))] >= SOON_SECONDS:
            del self._made[next(iter(self._made))]

    async def is_gone(self, action: Create | Apply) -> bool:
        """Whether this was made a moment ago for an owner that ends, has ended or lives anew."""
        since = self._made.get(_target(action))
        owner = controller_of(action.body)
        kind = _KINDS.get(owner.get("kind", ""))
        resource = None if kind is None else self._resources.get(kind)
        if since is None or resource is None or self._clock.monotonic() - since >= SOON_SECONDS:
            return False
        try:
            found = await self._client.get(resource, namespace=action.namespace, name=owner["name"])
        except NotFound:
            return True
        except TellUser:  # an older role may lack the right to look
            return False
        metadata = found["metadata"]
        return metadata["uid"] != owner["uid"] or bool(metadata.get("deletionTimestamp"))


def controller_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The owner reference that a body names as its controller; empty if there is none."""
    for owner in body["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return dict(owner)
    return {}


def _target(action: Create | Apply) -> _Target:
    return action.kind, action.namespace, action.name, controller_of(action.body).get("uid", "")
