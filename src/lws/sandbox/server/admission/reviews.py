"""AdmissionReview: the question to a webhook, and its answer."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lws.sandbox.patch import PatchError, json_patch
from lws.sandbox.server import status
from lws.sandbox.server.admission.calling import WebhookCallError
from lws.sandbox.server.authentication.users import user_info
from lws.sandbox.server.operations import Operation
from lws.sandbox.server.status import ApiStatus, Cause, Subject

JsonObject = dict[str, Any]

_KIND, _VERSION = "AdmissionReview", "admission.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook says."""

    is_allowed: bool
    patch: Any
    warnings: tuple[str, ...]
    result: Mapping[str, Any]


def question(
    operation: Operation, obj: JsonObject | None, old: JsonObject | None, *, uid: str
) -> bytes:
    """The body that a webhook is sent."""
    resource = operation.kind.resource
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    where = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    caller = operation.caller
    request: JsonObject = {
        "uid": uid,
        "kind": kind,
        "resource": where,
        "requestKind": kind,
        "requestResource": where,
    }
    if operation.subresource:
        request["subResource"] = request["requestSubResource"] = operation.subresource
    if operation.name:
        request["name"] = operation.name
    if operation.namespace:
        request["namespace"] = operation.namespace
    request |= {
        "operation": operation.verb,
        "userInfo": user_info(caller.user, caller.groups, caller.uid, caller.extra),
        "object": obj,
        "oldObject": old,
        "dryRun": caller.dry_run,
        "options": operation.options or None,
    }
    return orjson.dumps({"kind": _KIND, "apiVersion": _VERSION, "request": request})


def verdict_of(body: bytes, *, uid: str, is_mutating: bool) -> Verdict:
    """The answer; WebhookCallError if it is none."""
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise WebhookCallError(f"failed to call webhook: {error}") from None
    response = review.get("response") if isinstance(review, dict) else None
    if not isinstance(response, dict):
        raise _unusable("webhook response was absent")
    if response.get("uid") != uid:
        raise _unusable(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    if (review.get("apiVersion"), review.get("kind")) != (_VERSION, _KIND):
        group, _, version = str(review.get("apiVersion", "")).rpartition("/")
        raise _unusable(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got"
            f" {group}/{version}, Kind={review.get('kind', '')}"
        )
    patch = _patch(response, is_mutating=is_mutating)
    warnings = tuple(str(one) for one in response.get("warnings") or ())
    result = response.get("status")
    return Verdict(
        response.get("allowed") is True, patch, warnings, result if isinstance(result, dict) else {}
    )


def _patch(response: JsonObject, *, is_mutating: bool) -> Any:
    patch, kind = response.get("patch"), response.get("patchType")
    if not is_mutating:
        if patch:
            raise _unusable("validating webhook may not return response.patch")
        if kind:
            raise _unusable("validating webhook may not return response.patchType")
        return None
    if patch and not kind:
        raise _unusable("webhook returned response.patch but not response.patchType")
    if kind and not patch:
        raise _unusable("webhook returned response.patchType but not response.patch")
    if not patch:
        return None
    if kind != "JSONPatch":
        raise _unusable(f'webhook returned invalid response.patchType of "{kind}"')
    try:
        return orjson.loads(b64decode(patch, validate=True))
    except ValueError as error:
        raise WebhookCallError(f"received undecodable patch in webhook response: {error}") from None


def _unusable(why: str) -> WebhookCallError:
    return WebhookCallError(f"received invalid webhook response: {why}")


def patched(obj: JsonObject | None, verdict: Verdict, name: str) -> JsonObject | None:
    """The object as the webhook wants it; the same object if it wants nothing."""
    if not verdict.patch:
        return obj
    if obj is None:
        raise status.internal(
            f'admission webhook "{name}" attempted to modify the object, which is not supported'
            " for this operation"
        )
    try:
        new = json_patch(obj, verdict.patch)
    except PatchError as error:
        raise status.internal(error.detail) from error
    if not isinstance(new, dict):
        raise status.internal(f'admission webhook "{name}" left no object')
    return obj if new == obj else new


def denial(name: str, result: Mapping[str, Any]) -> ApiStatus:
    """The refusal that a webhook's no becomes."""
    denied = f'admission webhook "{name}" denied the request'
    code = result.get("code")
    code = code if isinstance(code, int) and code >= 400 else 400
    message, reason = str(result.get("message") or ""), str(result.get("reason") or "")
    said = (
        f"{denied}: {message or reason}" if message or reason else f"{denied} without explanation"
    )
    details = result.get("details")
    details = details if isinstance(details, dict) else {}
    causes = [
        Cause(str(one.get("reason", "")), str(one.get("message", "")), str(one.get("field", "")))
        for one in details.get("causes") or ()
        if isinstance(one, dict)
    ]
    subject = None
    if details:
        fields = (str(details.get(name) or "") for name in ("group", "kind", "name", "uid"))
        subject = Subject(*fields)
    return ApiStatus(said, code=code, reason=reason, subject=subject, causes=causes)
