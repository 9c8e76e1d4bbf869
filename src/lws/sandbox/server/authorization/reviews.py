"""May I, may he: the questions that are asked by creating an object."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.authorization.attributes import Attributes
from lws.sandbox.server.authorization.authorizer import Authorizer, gathered
from lws.sandbox.server.operations import Operation
from lws.sandbox.server.status import ApiStatus, Cause

JsonObject = dict[str, Any]


def access(authorizer: Authorizer, operation: Operation, body: JsonObject) -> JsonObject:
    """The status of a question about one thing."""
    spec = body.get("spec") or {}
    kind = operation.kind.resource.kind
    _require_place(kind, body.get("metadata") or {})
    _require_question(kind, spec)
    _require_selectors(spec.get("resourceAttributes") or {})
    is_self = kind == "SelfSubjectAccessReview"
    caller = operation.caller
    if kind == "LocalSubjectAccessReview":
        _require_local(operation.namespace, spec)
    user = caller.user if is_self else spec.get("user") or ""
    groups = caller.groups if is_self else spec.get("groups") or ()
    if not is_self and not user and not groups:
        raise _invalid("spec.user", '"": at least one of user or group must be specified')
    decision = authorizer.decide(_asked(user, groups, spec))
    answer: JsonObject = {"allowed": decision.is_allowed}
    return {**answer, "reason": decision.reason} if decision.reason else answer


def _asked(user: str, groups: Iterable[str], spec: Mapping[str, Any]) -> Attributes:
    who: dict[str, Any] = {"user": user, "groups": tuple(groups)}
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(**who, verb=path.get("verb", ""), path=path.get("path", "") or "/")
    names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    wanted = spec["resourceAttributes"]
    return Attributes(**who, **{name: wanted.get(name) or "" for name in names})


def rules(authorizer: Authorizer, operation: Operation, body: JsonObject) -> JsonObject:
    """The status of the question what somebody may do in a namespace."""
    namespace = (body.get("spec") or {}).get("namespace")
    if not namespace:
        raise status.bad_request("no namespace on request")
    caller = operation.caller
    owned, faults = authorizer.rules_of(caller.user, caller.groups, namespace)
    answer: JsonObject = {
        "resourceRules": [_shown(rule) for rule in owned if not rule.get("nonResourceURLs")],
        "nonResourceRules": [_shown(rule) for rule in owned if rule.get("nonResourceURLs")],
        "incomplete": False,
    }
    return {**answer, "evaluationError": gathered(faults)} if faults else answer


_RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


def _shown(rule: Mapping[str, Any]) -> JsonObject:
    return {name: rule[name] for name in _RULE_FIELDS if rule.get(name)}


# What is no question


def _require_place(kind: str, metadata: Mapping[str, Any]) -> None:
    is_local = kind == "LocalSubjectAccessReview"
    allowed = ("managedFields", *(("namespace",) if is_local else ()))
    if any(value for name, value in metadata.items() if name not in allowed):
        raise _invalid("metadata", f"{json.dumps(metadata, separators=(',', ':'))}: must be empty")


def _require_question(kind: str, spec: Mapping[str, Any]) -> None:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        words = "cannot be specified in combination with resourceAttributes"
        raise _invalid("spec.nonResourceAttributes", f"{_path_words(path)}: {words}")
    if path is not None and kind == "LocalSubjectAccessReview":
        words = "disallowed on this kind of request"
        raise _invalid("spec.nonResourceAttributes", f"{_path_words(path)}: {words}")
    if resource is None and path is None:
        words = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise _invalid("spec.resourceAttributes", f"null: {words}")


def _path_words(path: Mapping[str, str]) -> str:
    shown = {"Path": path.get("path", ""), "Verb": path.get("verb", "")}
    return json.dumps(shown, separators=(",", ":"), ensure_ascii=False)


def _require_local(namespace: str, spec: Mapping[str, Any]) -> None:
    said = spec["resourceAttributes"].get("namespace", "")
    if said != namespace:
        words = f'"{said}": must match metadata.namespace'
        raise _invalid("spec.resourceAttributes.namespace", words)


def _require_selectors(resource: Mapping[str, Any]) -> None:
    for name in ("fieldSelector", "labelSelector"):
        selector = resource.get(name) or {}
        raw = selector.get("rawSelector")
        if raw and selector.get("requirements"):
            words = f'"{raw}": may not specified at the same time as requirements'
            raise _invalid(f"spec.resourceAttributes.{name}.rawSelector", words)


def _invalid(field: str, why: str) -> ApiStatus:
    cause = Cause("FieldValueInvalid", f"Invalid value: {why}", field)
    return status.invalid(status.Subject("authorization.k8s.io", ""), [cause])
