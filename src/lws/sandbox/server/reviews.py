"""Questions that are asked by creating an object: who am I, may I."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation
from lws.sandbox.server.status import Cause

JsonObject = dict[str, Any]

_REVIEW_GROUPS = ("authentication.k8s.io", "authorization.k8s.io")
_MASTERS = "system:masters"


def is_review(kind: Kind) -> bool:
    """Is it a question, which is answered and not stored?"""
    return kind.resource.group in _REVIEW_GROUPS


def answer(
    operation: Operation, body: JsonObject, now: str, users: Mapping[str, Any]
) -> JsonObject:
    """The body with its status.

    Roles are stored, not enforced: masters may do all, others nothing.
    """
    spec = body.setdefault("spec", {})
    match operation.kind.resource.kind:
        case "SelfSubjectReview":
            del body["spec"]
            body["metadata"] = {"creationTimestamp": now}
            body["status"] = {"userInfo": _user_info(operation)}
        case "TokenReview":
            body["status"] = _token_status(operation, spec, users)
        case "SelfSubjectRulesReview":
            body["metadata"] = {}
            body["status"] = _rules(operation)
        case "SelfSubjectAccessReview":
            _require_question(spec)
            body["status"] = _access(operation.caller.groups)
        case "SubjectAccessReview" | "LocalSubjectAccessReview":
            _require_question(spec)
            body["status"] = _access(spec.get("groups") or ())
    return body


def _user_info(operation: Operation) -> JsonObject:
    caller = operation.caller
    return {"username": caller.user, "groups": list(caller.groups)}


def _token_status(operation: Operation, spec: JsonObject, users: Mapping[str, Any]) -> JsonObject:
    token = spec.get("token")
    del operation
    if not token:
        cause = Cause("FieldValueRequired", "Required value: token is required", "spec.token")
        raise status.invalid(status.Subject("authentication.k8s.io", "TokenReview"), [cause])
    user = users.get(str(token))
    if user is None:
        return {"user": {}, "error": "invalid bearer token"}
    return {
        "authenticated": True,
        "user": {"username": user.name, "groups": list(user.groups)},
        "audiences": spec.get("audiences") or ["https://kubernetes.default.svc"],
    }


def _require_question(spec: JsonObject) -> None:
    asked = [bool(part(spec, name)) for name in ("resourceAttributes", "nonResourceAttributes")]
    if sum(asked) != 1:
        cause = Cause(
            "FieldValueInvalid",
            "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must"
            " be specified",
            "spec.resourceAttributes",
        )
        raise status.invalid(status.Subject("authorization.k8s.io", ""), [cause])


def _access(groups: Any) -> JsonObject:
    return {"allowed": _MASTERS in groups}


_EVERYBODY_MAY_ASK = (
    ("authorization.k8s.io", ("selfsubjectaccessreviews", "selfsubjectrulesreviews")),
    ("authentication.k8s.io", ("selfsubjectreviews",)),
)
_HEALTH = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*")


def _rules(operation: Operation) -> JsonObject:
    """What anybody may do, and what masters may."""
    resources: list[JsonObject] = [
        {"verbs": ["create"], "apiGroups": [group], "resources": list(names)}
        for group, names in _EVERYBODY_MAY_ASK
    ]
    paths: list[JsonObject] = [
        {"verbs": ["get"], "nonResourceURLs": list(names)}
        for names in (_HEALTH, (*_DISCOVERY, "/readyz", "/version", "/version/"))
    ]
    if _MASTERS in operation.caller.groups:
        resources.insert(0, {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})
        paths.insert(0, {"verbs": ["*"], "nonResourceURLs": ["*"]})
    return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
