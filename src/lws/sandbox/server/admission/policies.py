"""ValidatingAdmissionPolicies: expressions that a write must fulfil, wherever one is bound."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.admission.expressions import ExpressionError, Names, are_met, evaluated
from lws.sandbox.server.admission.matching import is_selected, rule_matches
from lws.sandbox.server.admission.parameters import (
    ConfigurationError,
    parameter_kind,
    parameters_of,
)
from lws.sandbox.server.admission.questions import request_of
from lws.sandbox.server.conversions import from_stored, to_stored
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.lifecycle import NAMESPACES
from lws.sandbox.server.operations import NoAdmission, Operation, World
from lws.sandbox.server.status import Cause
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

_GROUP = "admissionregistration.k8s.io"
POLICIES = f"{_GROUP}/validatingadmissionpolicies"
BINDINGS = f"{_GROUP}/validatingadmissionpolicybindings"
_CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
_MESSAGE_MAX = 5 * 1024


@dataclass(frozen=True, slots=True)
class _Write:
    """What is judged."""

    operation: Operation
    obj: JsonObject | None
    old: JsonObject | None

    def seen_as(self, kind: Kind) -> "_Write":
        """The same in another version."""
        if kind is self.operation.kind:
            return self
        own = self.operation.kind
        obj, old = (one and from_stored(kind, to_stored(own, one)) for one in (self.obj, self.old))
        return _Write(self.operation, obj, old)


@dataclass(frozen=True, slots=True)
class _Failure:
    """One validation that does not hold."""

    message: str
    reason: str = "Invalid"


class AdmissionPolicies(NoAdmission):
    """Judges by the policies in the store; nobody judges policies."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Warns of what bindings only warn of, and raises the first refusal."""
        store = self._world.store
        if not store.count(BINDINGS, "") or operation.kind.storage in (POLICIES, BINDINGS):
            return
        bindings = [one for _, one in store.list(BINDINGS).items]
        write, refusals = _Write(operation, obj, old), list[_Refusal]()
        for (_, name), policy in store.list(POLICIES).items:
            bound = [one for one in bindings if one["spec"].get("policyName") == name]
            if bound:
                refusals += self._refusals(policy, bound, write)
        if refusals:
            raise refusals[0].to_status(operation)

    def _refusals(
        self, policy: JsonObject, bindings: Sequence[JsonObject], write: _Write
    ) -> Iterator["_Refusal"]:
        name = f"ValidatingAdmissionPolicy '{policy['metadata']['name']}'"
        kind = self._kind_of(policy["spec"]["matchConstraints"], write)
        if kind is None:
            return
        seen = write.seen_as(kind)
        try:
            parameters = parameter_kind(self._world, policy)
        except ConfigurationError as error:
            if not _ignores_failures(policy):
                yield _Refusal(name, _Failure(str(error)))
            return
        for binding in bindings:
            said = f"{name} with binding '{binding['metadata']['name']}'"
            try:
                failures = list(self._failures(policy, binding, parameters, seen, kind))
            except ConfigurationError as error:
                if not _ignores_failures(policy):
                    yield _Refusal(said, _Failure(str(error)))
                continue
            actions = binding["spec"].get("validationActions") or ()
            for failure in failures:
                if "Warn" in actions:
                    write.operation.warn(f"Validation failed for {said}: {failure.message}")
                if "Deny" in actions:
                    yield _Refusal(said, failure)

    def _kind_of(self, match: Mapping[str, Any], write: _Write) -> Kind | None:
        """As which kind the write is what the policy is about; None if it is not."""
        operation = write.operation
        excluded = match.get("excludeResourceRules") or ()
        kinds = [operation.kind]
        if match.get("matchPolicy", "Equivalent") == "Equivalent":
            kinds += self._other_versions(operation.kind)
        if any(_names(rule, operation, kind) for rule in excluded for kind in kinds):
            return None
        rules = match.get("resourceRules")
        found = next(
            (kind for kind in kinds for rule in rules or () if _names(rule, operation, kind)), None
        )
        if found is None and rules:
            return None
        is_chosen = is_selected(self._world, match, operation, write.obj, write.old)
        return (found or operation.kind) if is_chosen else None

    def _other_versions(self, kind: Kind) -> Iterator[Kind]:
        if kind.is_custom or kind.stored_as:
            for other in self._world.registry.kinds():
                if other.storage == kind.storage and other is not kind:
                    yield other

    def _failures(
        self,
        policy: JsonObject,
        binding: JsonObject,
        parameters: Kind | None,
        write: _Write,
        kind: Kind,
    ) -> Iterator[_Failure]:
        match, operation = binding["spec"].get("matchResources"), write.operation
        if match is not None and self._kind_of(match, write) is None:
            return
        names = {
            "object": write.obj,
            "oldObject": write.old,
            "request": request_of(operation, kind),
            "namespaceObject": self._namespace(operation),
        }
        for found in parameters_of(self._world, parameters, binding, operation.namespace):
            yield from _judged(policy, {**names, "params": found})

    def _namespace(self, operation: Operation) -> JsonObject | None:
        if not operation.kind.resource.namespaced:
            return None
        return self._world.store.get(Key(NAMESPACES, "", operation.namespace))


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A failure that a binding denies for."""

    by: str
    failure: _Failure

    def to_status(self, operation: Operation) -> status.ApiStatus:
        """As the client is told."""
        said = f"{self.by} denied request: {self.failure.message}"
        subject = operation.kind.subject(operation.name)
        name = f'{subject.qualified} "{operation.name}"'
        return status.ApiStatus(
            f"{name} is forbidden: {said}",
            code=_CODES[self.failure.reason],
            reason=self.failure.reason,
            subject=subject,
            causes=[Cause("", said)],
        )


def _ignores_failures(policy: JsonObject) -> bool:
    return bool(policy["spec"].get("failurePolicy") == "Ignore")


def _names(rule: Mapping[str, Any], operation: Operation, kind: Kind) -> bool:
    names = rule.get("resourceNames")
    return (not names or operation.name in names) and rule_matches(rule, operation, kind)


def _judged(policy: JsonObject, names: Mapping[str, Any]) -> Iterator[_Failure]:
    """The validations that do not hold; what cannot be evaluated counts by the failurePolicy."""
    spec = policy["spec"]
    known = Names(names, spec.get("variables") or ())
    is_lenient = _ignores_failures(policy)
    try:
        if not are_met(spec.get("matchConditions") or (), known):
            return
    except ExpressionError as error:
        if not is_lenient:
            yield _Failure(str(error))
        return
    for validation in spec.get("validations") or ():
        try:
            holds = evaluated(validation["expression"], known)
        except ExpressionError as error:
            if not is_lenient:
                yield _Failure(str(error))
            continue
        if holds is not True:
            yield _Failure(_message(validation, known), validation.get("reason") or "Invalid")


def _message(validation: Mapping[str, str], known: Names) -> str:
    if validation.get("messageExpression"):
        try:
            said = known.value(validation["messageExpression"])
        except ExpressionError:
            said = None
        if isinstance(said, str) and _is_message(said.strip()):
            return said.strip()
    static = (validation.get("message") or "").strip()
    return static or f"failed expression: {validation['expression'].strip()}"


def _is_message(text: str) -> bool:
    return bool(text) and "\n" not in text and len(text) <= _MESSAGE_MAX
