"""matchConditions: what a webhook says, in CEL, about the writes that it wants to see."""

from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.admission.matching import Hook
from lws.sandbox.server.operations import Operation

JsonObject = dict[str, Any]


def conditions_hold(
    hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
) -> bool:
    """Do all conditions of the webhook hold?"""
    del operation, obj, old
    if not hook.spec.get("matchConditions"):
        return True
    raise status.not_implemented("matchConditions of webhooks")
