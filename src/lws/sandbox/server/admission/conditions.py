"""matchConditions: what a webhook says, in CEL, about the writes that it wants to see."""

from typing import Any

from lws.sandbox.schema.custom.expressions import evaluated, reason
from lws.sandbox.schema.errors import UnsupportedError
from lws.sandbox.server import status
from lws.sandbox.server.admission.matching import Hook
from lws.sandbox.server.admission.questions import request_of
from lws.sandbox.server.operations import Operation

JsonObject = dict[str, Any]


def conditions_hold(
    hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
) -> bool:
    """Do all conditions of the webhook hold? One that is false outweighs one that fails.

    A failure is a refusal, or a no if the webhook's failurePolicy is Ignore.
    """
    conditions = hook.spec.get("matchConditions") or ()
    if not conditions:
        return True
    names = _names(operation, obj, old)
    failures: list[str] = []
    for condition in conditions:
        try:
            if evaluated(condition["expression"], names) is not True:
                return False
        except UnsupportedError as error:
            raise status.not_implemented(error.what) from error
        except Exception as error:  # noqa: BLE001 - whatever the evaluation of a user's text raises
            failures.append(
                f"expression '{condition['expression']}' resulted in error: {reason(error)}"
            )
    if failures and not hook.ignores_failures:
        raise _failed(hook, operation, failures)
    return not failures


def _failed(hook: Hook, operation: Operation, failures: list[str]) -> status.ApiStatus:
    subject = operation.kind.subject(operation.name)
    return status.forbidden(
        subject, f"failed to evaluate matchConditions of webhook {hook.name}: {'; '.join(failures)}"
    )


def _names(operation: Operation, obj: JsonObject | None, old: JsonObject | None) -> dict[str, Any]:
    return {"object": obj, "oldObject": old, "request": request_of(operation)}
