"""Questions that are asked by creating an object: who am I, may I."""

from typing import Any

from lws.base.times import format_time
from lws.sandbox.server import status
from lws.sandbox.server.authentication.accounts import ISSUER, TokenRefused
from lws.sandbox.server.authentication.users import User, user_info
from lws.sandbox.server.authorization import reviews
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World

JsonObject = dict[str, Any]

_REVIEW_GROUPS = ("authentication.k8s.io", "authorization.k8s.io")
_UNKNOWN = "invalid bearer token"


def is_review(kind: Kind) -> bool:
    """Is it a question, which is answered and not stored?"""
    return kind.resource.group in _REVIEW_GROUPS


def answer(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    """The body with its status."""
    body.setdefault("spec", {})
    match operation.kind.resource.kind:
        case "SelfSubjectReview":
            del body["spec"]
            body["metadata"] = {"creationTimestamp": format_time(world.clock.now())}
            body["status"] = {"userInfo": _caller_info(operation)}
        case "TokenReview":
            body["metadata"].pop("namespace", None)
            body["status"] = _token_status(world, body["spec"])
        case "SelfSubjectRulesReview":
            body["status"] = reviews.rules(world.authorizer, operation, body)
            body |= {"metadata": {}, "spec": {}}
        case "LocalSubjectAccessReview":
            body["metadata"]["namespace"] = operation.namespace
            body["status"] = reviews.access(world.authorizer, operation, body)
        case _:
            body["metadata"].pop("namespace", None)
            body["status"] = reviews.access(world.authorizer, operation, body)
    return body


def _caller_info(operation: Operation) -> JsonObject:
    caller = operation.caller
    return user_info(caller.user, caller.groups, caller.uid, caller.extra)


def _token_status(world: World, spec: JsonObject) -> JsonObject:
    token, audiences = str(spec.get("token") or ""), spec.get("audiences") or [ISSUER]
    if not token:
        raise status.bad_request("token is required for TokenReview in authentication")
    known: User | None = world.users.get(token)
    if known is not None and ISSUER in audiences:
        return _authenticated(known, [ISSUER])
    try:
        user = world.accounts.user_of(token, audiences)
    except TokenRefused as problem:
        return {"user": {}, "error": f"[{_UNKNOWN}, {problem}]"}
    if user is None:
        return {"user": {}, "error": _UNKNOWN}
    meant = (world.accounts.claims(token) or {})["aud"]
    return _authenticated(user, [one for one in audiences if one in meant])


def _authenticated(user: User, audiences: list[str]) -> JsonObject:
    shown = user_info(user.name, user.groups, user.uid, user.extra)
    return {"authenticated": True, "user": shown, "audiences": audiences}
