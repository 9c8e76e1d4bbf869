"""matchConditions: what a webhook says, in CEL, about the writes that it wants to see."""

from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.admission.expressions import ExpressionError, Names, are_met
from lws.sandbox.server.admission.matching import Hook
from lws.sandbox.server.admission.questions import request_of
from lws.sandbox.server.operations import Operation

JsonObject = dict[str, Any]


def conditions_hold(
    hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
) -> bool:
    """Do all conditions of the webhook hold?

    A failure is a refusal, or a no if the webhook's failurePolicy is Ignore.
    """
    conditions = hook.spec.get("matchConditions") or ()
    if not conditions:
        return True
    names = {"object": obj, "oldObject": old, "request": request_of(operation)}
    try:
        return are_met(conditions, Names(names, ()))
    except ExpressionError as error:
        if hook.ignores_failures:
            return False
        raise status.forbidden(operation.kind.subject(operation.name), str(error)) from error
