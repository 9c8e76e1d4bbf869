"""Which webhooks a write concerns."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lws.sandbox.server.admission.calling import WebhookTarget
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.lifecycle import NAMESPACES
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations"
_UNASKED_GROUPS = frozenset(("authentication.k8s.io", "authorization.k8s.io"))
_DEFAULT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of one configuration."""

    configuration: str
    spec: Mapping[str, Any]
    index: int

    @property
    def name(self) -> str:
        """Its full name."""
        return str(self.spec["name"])

    @property
    def ignores_failures(self) -> bool:
        """Does the write go on if it cannot be asked?"""
        return self.spec.get("failurePolicy") == "Ignore"

    @property
    def is_reinvocable(self) -> bool:
        """Is it asked again when another changed the object after it?"""
        return self.spec.get("reinvocationPolicy") == "IfNeeded"

    @property
    def timeout_seconds(self) -> float:
        """How long it is waited for."""
        return float(self.spec.get("timeoutSeconds") or _DEFAULT_SECONDS)

    @property
    def has_side_effects(self) -> bool:
        """Would a dry run do something?"""
        return self.spec.get("sideEffects") not in ("None", "NoneOnDryRun")

    def target(self) -> WebhookTarget:
        """Where to call it."""
        config = self.spec["clientConfig"]
        bundle = b64decode(config.get("caBundle") or "")
        service = config.get("service")
        if service is None:
            return WebhookTarget(config["url"], bundle)
        path = service.get("path") or "/"
        host = f"{service['name']}.{service['namespace']}.svc:{service.get('port') or 443}"
        url = f"https://{host}{path if path.startswith('/') else '/' + path}"
        return WebhookTarget(url, bundle, (service["namespace"], service["name"]))


def target_of(world: World, hook: Hook) -> WebhookTarget:
    """Where to call it; a service of type ExternalName leads out of the cluster."""
    target = hook.target()
    if target.service is None:
        return target
    spec = (world.store.get(Key("/services", *target.service)) or {}).get("spec", {})
    is_outside = spec.get("type") == "ExternalName"
    return replace(target, outside=spec["externalName"]) if is_outside else target


def hooks_of(world: World, configurations: str) -> Iterator[Hook]:
    """All webhooks, in the order in which they are asked."""
    for (_, name), configuration in world.store.list(configurations).items:
        for index, spec in enumerate(configuration.get("webhooks") or ()):
            yield Hook(name, spec, index)


def is_asked_about(operation: Operation) -> bool:
    """Webhooks have no say about themselves, nor about questions."""
    kind = operation.kind
    return kind.storage not in (MUTATING, VALIDATING) and kind.resource.group not in _UNASKED_GROUPS


def concerns(
    world: World,
    hook: Hook,
    operation: Operation,
    obj: JsonObject | None,
    old: JsonObject | None,
) -> bool:
    """Is the write one that the webhook wants to see? Its matchConditions are another question."""
    rules = hook.spec.get("rules") or ()
    if not any(rule_matches(rule, operation, operation.kind) for rule in rules):
        return False
    return is_selected(world, hook.spec, operation, obj, old)


def is_selected(
    world: World,
    spec: Mapping[str, Any],
    operation: Operation,
    obj: JsonObject | None,
    old: JsonObject | None,
) -> bool:
    """Do the namespaceSelector and the objectSelector of a webhook or policy choose it?"""
    if not _namespace_matches(world, spec, operation, obj or old):
        return False
    return _object_matches(spec, obj, old)


def rule_matches(rule: Mapping[str, Any], operation: Operation, kind: Kind) -> bool:
    """Is the write, seen as one of this kind, what the rule names?"""
    resource = kind.resource
    scope = "Namespaced" if resource.namespaced else "Cluster"
    return (
        _has(rule.get("operations"), operation.verb)
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and rule.get("scope", "*") in ("*", scope)
        and any(
            _is_resource(one, resource.plural, operation.subresource)
            for one in rule.get("resources") or ()
        )
    )


def _has(values: Sequence[str] | None, wanted: str) -> bool:
    return bool(values) and ("*" in values or wanted in values)  # type: ignore[operator]


def _is_resource(pattern: str, plural: str, subresource: str) -> bool:
    """`pods`, `pods/status`, `*` (no parts), `*/*`, `pods/*`, `*/scale`."""
    wanted, _, part_pattern = pattern.partition("/")
    return wanted in ("*", plural) and part_pattern in ("*", subresource)


def _namespace_matches(
    world: World, spec: Mapping[str, Any], operation: Operation, obj: JsonObject | None
) -> bool:
    required = selector_requirements(spec.get("namespaceSelector") or {})
    if not required:
        return True
    if operation.kind.storage == NAMESPACES:
        labels = part(obj or {}, "metadata", "labels") or {}
        return matches_labels(required, labels)
    if not operation.kind.resource.namespaced:
        return True
    namespace = world.store.get(Key(NAMESPACES, "", operation.namespace)) or {}
    return matches_labels(required, part(namespace, "metadata", "labels") or {})


def _object_matches(
    spec: Mapping[str, Any], obj: JsonObject | None, old: JsonObject | None
) -> bool:
    required = selector_requirements(spec.get("objectSelector") or {})
    if not required:
        return True
    return any(
        matches_labels(required, part(one, "metadata", "labels") or {})
        for one in (obj, old)
        if one is not None
    )
