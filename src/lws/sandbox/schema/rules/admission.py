"""Validating admission policies and their bindings."""

import re
from collections.abc import Collection, Mapping, Sequence

from lws.sandbox.schema.custom.expressions import compile_fault
from lws.sandbox.schema.errors import duplicate, forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import dns_subdomain, qualified_name
from lws.sandbox.schema.rules.words import Faults, Object, named, selector

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_SCOPES = ("*", "Cluster", "Namespaced")
_NOTHING = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def policy_rules(obj: Object, old: Object | None) -> Faults:
    """ValidatingAdmissionPolicy."""
    del old
    spec = obj["spec"]
    if spec.get("failurePolicy") not in ("Fail", "Ignore"):
        yield not_supported("spec.failurePolicy", spec.get("failurePolicy"), ("Fail", "Ignore"))
    kind = spec.get("paramKind")
    if kind is not None:
        for field in ("apiVersion", "kind"):
            if not kind.get(field):
                yield required(f"spec.paramKind.{field}")
    if spec.get("matchConstraints") is None:
        yield required("spec.matchConstraints")
    else:
        yield from _match(spec["matchConstraints"], "spec.matchConstraints", is_whole=True)
    yield from _expressions(obj["metadata"].get("name") or "", spec)


def _expressions(name: str, spec: Object) -> Faults:
    names = {"object", "oldObject", "request", "namespaceObject", "authorizer"}
    if spec.get("paramKind") is not None:
        names.add("params")
    for index, one in enumerate(spec.get("matchConditions") or ()):
        yield from _condition(one, f"spec.matchConditions[{index}]", names)
    variables: list[str] = []
    for index, one in enumerate(spec.get("variables") or ()):
        yield from _variable(one, f"spec.variables[{index}]", names, variables)
        variables.append(one.get("name") or "")
    for index, one in enumerate(spec.get("validations") or ()):
        yield from _validation(one, f"spec.validations[{index}]", names, variables)
    notes = spec.get("auditAnnotations") or ()
    if not spec.get("validations") and not notes:
        yield required("spec.validations", _NOTHING)
        yield required("spec.auditAnnotations", _NOTHING)
    for index, one in enumerate(notes):
        path = f"spec.auditAnnotations[{index}]"
        key = f"{name}/{one.get('key') or ''}"
        yield from named(qualified_name, key, f"{path}.key")
        if not (one.get("valueExpression") or "").strip():
            yield required(f"{path}.valueExpression", "valueExpression is not specified")


def _condition(one: Object, path: str, names: Collection[str]) -> Faults:
    if not (one.get("expression") or "").strip():
        yield required(f"{path}.expression")
    else:
        yield from _expression(one["expression"], f"{path}.expression", "bool", names)
    if not one.get("name"):
        yield required(f"{path}.name")
    else:
        yield from named(qualified_name, one["name"], f"{path}.name")


def _variable(one: Object, path: str, names: set[str], before: Sequence[str]) -> Faults:
    if not one.get("name"):
        yield required(f"{path}.name", "name is not specified")
    elif not _IDENTIFIER.fullmatch(one["name"]):
        yield invalid(f"{path}.name", one["name"], "must be a valid CEL identifier")
    if not (one.get("expression") or "").strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from _expression(one["expression"], f"{path}.expression", "", names, before)


def _validation(one: Object, path: str, names: set[str], variables: Sequence[str]) -> Faults:
    expression, message = one.get("expression") or "", one.get("message") or ""
    if not expression.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from _expression(expression, f"{path}.expression", "bool", names, variables)
    if message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message:
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    words = one.get("messageExpression") or ""
    if words and not words.strip():
        yield invalid(f"{path}.messageExpression", words, "must be non-empty if specified")
    elif words:
        yield from _expression(words, f"{path}.messageExpression", "string", names, variables)
    if one.get("reason") is not None and one["reason"] not in _REASONS:
        yield not_supported(f"{path}.reason", one["reason"], _REASONS)


# Expressions


def _expression(
    text: str, path: str, wanted: str, names: Collection[str], variables: Sequence[str] = ()
) -> Faults:
    """What can be said without types: syntax, names that nobody knows, a lone literal or field."""
    fault = compile_fault(text)
    if fault:
        shown = fault[fault.index("ERROR: ") :].replace("\n| ", "\n | ")
        yield invalid(path, text, f"compilation failed: {shown}")
        return
    known = {*names, "variables"} if variables else names
    problems = [*_unknown_names(text, known), *_unknown_fields(text, variables)]
    if problems:
        yield invalid(path, text, "compilation failed: " + "\n".join(problems))
        return
    kind = _obvious_kind(text.strip())
    if wanted and kind not in ("", wanted):
        yield invalid(path, text, f"must evaluate to {wanted} but got {kind}")


_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_OWN_NAMES = re.compile(r"\.(?:all|exists|exists_one|existsOne|map|filter)\(\s*(\w+)\s*,")
_NAME = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?!\w|\s*[(:])")
_WORDS = frozenset(
    (
        *("true", "false", "null", "in", "int", "uint", "double", "bool", "string", "bytes"),
        *("list", "map", "null_type", "type"),
    )
)
_FIELDS: Mapping[str, frozenset[str]] = {
    "request": frozenset(
        (
            *("kind", "resource", "subResource", "requestKind", "requestResource"),
            *("requestSubResource", "name", "namespace", "operation", "userInfo", "dryRun"),
            "options",
        )
    ),
    "namespaceObject": frozenset(("metadata", "spec", "status")),
}


def _blanked(text: str) -> str:
    return _TEXT.sub(lambda found: " " * len(found[0]), text)


def _unknown_names(text: str, known: Collection[str]) -> list[str]:
    plain = _blanked(text)
    own = set(_OWN_NAMES.findall(plain))
    return [
        _error(text, found.start(), f"undeclared reference to '{found[1]}' (in container '')")
        for found in _NAME.finditer(plain)
        if found[1] not in known and found[1] not in own and found[1] not in _WORDS
    ]


def _unknown_fields(text: str, variables: Sequence[str]) -> list[str]:
    fields = {**_FIELDS, "variables": frozenset(variables)} if variables else _FIELDS
    return [
        _error(text, found.end(1), f"undefined field '{found[2]}'")
        for found in re.finditer(r"(?<![\w.])(\w+)\.(\w+)", _blanked(text))
        if found[1] in fields and found[2] not in fields[found[1]]
    ]


def _error(text: str, place: int, what: str) -> str:
    line = text.count("\n", 0, place)
    start = text.rfind("\n", 0, place) + 1
    shown = text.splitlines()[line]
    column = place - start
    return f"ERROR: <input>:{line + 1}:{column + 1}: {what}\n | {shown}\n | {'.' * column}^"


_PATH = re.compile(r"(?:object|oldObject|params)(?:\.\w+|\[(?:\d+|'[^']*'|\"[^\"]*\")\])+")


def _obvious_kind(text: str) -> str:
    if _PATH.fullmatch(text):
        return "dyn"
    if re.fullmatch(r"-?\d+", text):
        return "int"
    return "string" if _TEXT.fullmatch(text) else ""


# Which writes


def _match(match: Object, path: str, *, is_whole: bool) -> Faults:
    if match.get("matchPolicy") not in ("Equivalent", "Exact"):
        supported = ("Equivalent", "Exact")
        yield not_supported(f"{path}.matchPolicy", match.get("matchPolicy"), supported)
    yield from selector(match.get("namespaceSelector"), f"{path}.namespaceSelector")
    yield from selector(match.get("objectSelector"), f"{path}.objectSelector")
    if is_whole and not match.get("resourceRules"):
        yield required(f"{path}.resourceRules")
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            yield from _rule(rule, f"{path}.{field}[{index}]")


def _rule(rule: Object, path: str) -> Faults:
    operations = rule.get("operations") or []
    yield from _some(operations, f"{path}.operations", "operations")
    for index, one in enumerate(operations):
        if one not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", one, _OPERATIONS)
    for field, what in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        yield from _some(rule.get(field) or [], f"{path}.{field}", what)
    if "" in (rule.get("apiVersions") or ()):
        yield required(f"{path}.apiVersions[{rule['apiVersions'].index('')}]")
    yield from _some(
        rule.get("resources") or [], f"{path}.resources", "resources without subresources"
    )
    if rule.get("scope") not in _SCOPES:
        yield not_supported(f"{path}.scope", rule.get("scope"), _SCOPES)


def _some(values: Sequence[str], path: str, what: str) -> Faults:
    if not values:
        yield required(path)
        return
    others = [one for one in values if one != "*" and "/" not in one]
    if "*" in values and others:
        yield invalid(path, values, f"if '*' is present, must not specify other {what}")


# Bindings


def policy_binding_rules(obj: Object, old: Object | None) -> Faults:
    """ValidatingAdmissionPolicyBinding."""
    del old
    spec = obj["spec"]
    if not spec.get("policyName"):
        yield required("spec.policyName")
    else:
        yield from named(dns_subdomain, spec["policyName"], "spec.policyName")
    if spec.get("paramRef") is not None:
        yield from _reference(spec["paramRef"])
    if spec.get("matchResources") is not None:
        yield from _match(spec["matchResources"], "spec.matchResources", is_whole=False)
    yield from _validation_actions(spec.get("validationActions") or [])


def _reference(reference: Object) -> Faults:
    path = "spec.paramRef"
    has_name, has_selector = bool(reference.get("name")), reference.get("selector") is not None
    if has_name and has_selector:
        for field in ("name", "selector"):
            yield forbidden(f"{path}.{field}", "name and selector are mutually exclusive")
    elif not has_name and not has_selector:
        yield required(path, "one of name or selector must be specified")
    yield from selector(reference.get("selector"), f"{path}.selector")
    action = reference.get("parameterNotFoundAction")
    if action is None:
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in ("Deny", "Allow"):
        yield not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))


def _validation_actions(actions: Sequence[str]) -> Faults:
    path = "spec.validationActions"
    if not actions:
        yield required(path, "at least one validation action is required")
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(f"{path}[{index}]", action, _ACTIONS)
        elif action in actions[:index]:
            yield duplicate(f"{path}[{index}]", action)
    if {"Deny", "Warn"} <= set(actions):
        words = (
            "must not contain both Deny and Warn (repeating the same validation failure"
            " information in the API response and headers serves no purpose)"
        )
        yield invalid(path, actions, words)
