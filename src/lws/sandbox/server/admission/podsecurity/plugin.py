"""The plugin: refuses pods, warns of templates, and of labels that pods already violate."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.admission.podsecurity.checks import violations
from lws.sandbox.server.admission.podsecurity.levels import (
    PREFIX,
    Policy,
    label_faults,
    policy_of,
)
from lws.sandbox.server.admission.podsecurity.pods import Violation
from lws.sandbox.server.documents import part
from lws.sandbox.server.lifecycle import NAMESPACES
from lws.sandbox.server.operations import NoAdmission, Operation, World
from lws.sandbox.server.status import Cause
from lws.sandbox.store import Key

JsonObject = dict[str, Any]
Labels = Mapping[str, str]

_PODS = "/pods"
_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "/podtemplates": ("template",),
    "/replicationcontrollers": ("spec", "template"),
    "apps/daemonsets": ("spec", "template"),
    "apps/deployments": ("spec", "template"),
    "apps/replicasets": ("spec", "template"),
    "apps/statefulsets": ("spec", "template"),
    "batch/cronjobs": ("spec", "jobTemplate", "spec", "template"),
    "batch/jobs": ("spec", "template"),
}


class PodSecurity(NoAdmission):
    """Asks the labels `pod-security.kubernetes.io/…` of the namespace; `audit` goes nowhere."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Refuses pods that the level `enforce` does not allow, and labels that name none."""
        if obj is None or operation.subresource:
            return
        storage = operation.kind.storage
        if storage == _PODS:
            self._judge_pod(operation, obj, old)
        elif storage in _TEMPLATES:
            self._judge_template(operation, part(obj, *_TEMPLATES[storage]))
        elif storage == NAMESPACES:
            self._judge_namespace(operation, _labels_of(obj), _labels_of(old or {}))

    def _judge_pod(self, operation: Operation, pod: JsonObject, old: JsonObject | None) -> None:
        labels = self._labels(operation)
        if not labels or (old is not None and _runs_the_same(pod, old)):
            return
        enforced, warned = (policy_of(labels, mode) for mode in ("enforce", "warn"))
        found = violations(enforced, pod["metadata"], pod["spec"])
        if found:
            subject = operation.kind.subject(operation.name)
            words = f'violates PodSecurity "{enforced}": {_words(found)}'
            raise status.forbidden(subject, words)
        if warned != enforced:
            _warn(operation, warned, pod)

    def _judge_template(self, operation: Operation, template: JsonObject | None) -> None:
        labels = self._labels(operation)
        if labels and template is not None:
            _warn(operation, policy_of(labels, "warn"), template)

    def _labels(self, operation: Operation) -> Labels:
        """Of the namespace; none if none of them is about this."""
        namespace = self._world.store.get(Key(NAMESPACES, "", operation.namespace))
        labels = _labels_of(namespace or {})
        return labels if any(key.startswith(PREFIX) for key in labels) else {}

    def _judge_namespace(self, operation: Operation, new: Labels, old: Labels) -> None:
        if new == old:
            return
        faults = label_faults(new)
        if faults and faults != label_faults(old):
            causes = [Cause(one.reason, one.message, one.field) for one in faults]
            raise status.invalid(operation.kind.kind_subject(operation.name), causes)
        wanted, before = policy_of(new, "enforce"), policy_of(old, "enforce")
        is_looser = wanted.version == before.version and wanted.is_looser_than(before)
        if operation.verb == "CREATE" or wanted == before or is_looser:
            return
        for text in self._existing(operation.name, wanted):
            operation.warn(text)

    def _existing(self, namespace: str, policy: Policy) -> Iterable[str]:
        """What is said of pods that are there: those that do the same, together."""
        found: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for _, pod in self._world.store.list(_PODS, namespace=namespace).items:
            reasons = ", ".join(
                one.reason for one in violations(policy, pod["metadata"], pod["spec"])
            )
            if reasons:
                found.setdefault(reasons, pod["metadata"]["name"])
                counts[reasons] += 1
        if found:
            level = f'the new PodSecurity enforce level "{policy}"'
            yield f'existing pods in namespace "{namespace}" violate {level}'
        for reasons, name in sorted(found.items(), key=lambda one: one[1]):
            yield f"{name}{_others(counts[reasons] - 1)}: {reasons}"


def _others(count: int) -> str:
    if not count:
        return ""
    return f" (and {count} other {'pod' if count == 1 else 'pods'})"


def _labels_of(obj: JsonObject) -> Labels:
    labels: Labels = part(obj, "metadata", "labels") or {}
    return labels


def _runs_the_same(pod: JsonObject, old: JsonObject) -> bool:
    """Of what a pod may change, only images matter."""
    fields = ("containers", "initContainers", "ephemeralContainers")
    new_images, old_images = (
        [one.get("image") for field in fields for one in each["spec"].get(field) or ()]
        for each in (pod, old)
    )
    return new_images == old_images


def _warn(operation: Operation, policy: Policy, pod: JsonObject) -> None:
    found = violations(policy, pod.get("metadata") or {}, pod.get("spec") or {})
    if found:
        operation.warn(f'would violate PodSecurity "{policy}": {_words(found)}')


def _words(found: Iterable[Violation]) -> str:
    return ", ".join(f"{one.reason} ({one.detail})" for one in found)
