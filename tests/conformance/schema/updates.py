"""Updates: an object, and what somebody wants it to become."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.conformance.schema.base import (
    CLAIM,
    POD,
    SERVICE,
    SET,
    TEMPLATE,
    Case,
    Json,
    changed,
    of,
)


@dataclass(frozen=True)
class Update:
    """What is there (as it was sent) and the fields of the new one that differ from it."""

    name: str
    before: Json
    changes: Json

    @property
    def case(self) -> Case:
        """The first object."""
        return Case(self.name, self.before)


_TOLERATION = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}


def updates() -> Iterator[Update]:
    """All of them."""
    yield from _sets()
    yield from _pods()
    yield from _others()


def _sets() -> Iterator[Update]:
    def one(name: str, **changes: Any) -> Update:
        return Update(f"stateful set: {name}", SET, changes)

    yield one("nothing")
    yield one("replicas", spec__replicas=3)
    yield one("image", spec__template__spec__containers__0__image="nginx:2")
    yield one("strategy", spec__updateStrategy={"type": "OnDelete"})
    yield one("retention", spec__persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"})
    yield one("service name", spec__serviceName="other")
    yield one("management", spec__podManagementPolicy="Parallel")
    yield one("claims", spec__volumeClaimTemplates=[CLAIM])
    yield one("selector", spec__selector={"matchLabels": {"app": "x"}})
    yield one("negative replicas", spec__replicas=-1)
    yield one("history", spec__revisionHistoryLimit=2)
    yield one("ordinals", spec__ordinals={"start": 2})


def _pods() -> Iterator[Update]:
    gated = changed(POD, spec__schedulingGates=[{"name": "a/b"}, {"name": "c/d"}])
    tolerant = changed(POD, spec__tolerations=[_TOLERATION])
    timed = changed(POD, spec__activeDeadlineSeconds=100)

    def one(name: str, before: Json = POD, **changes: Any) -> Update:
        return Update(f"pod: {name}", before, changes)

    yield one("nothing")
    yield one("image", spec__containers__0__image="nginx:2")
    yield one("image with a space", spec__containers__0__image="nginx:2 ")
    yield one("command", spec__containers__0__command=["x"])
    yield one("another container", spec__containers=[{"name": "b", "image": "c"}])
    yield one("a container more", spec__containers__1={"name": "b", "image": "c"})
    yield one("grace", spec__terminationGracePeriodSeconds=5)
    yield one("node name", spec__nodeName="node-1")
    yield one("deadline", spec__activeDeadlineSeconds=5)
    yield one("deadline later", timed, spec__activeDeadlineSeconds=500)
    yield one("deadline sooner", timed, spec__activeDeadlineSeconds=50)
    yield one("no deadline", timed, spec__activeDeadlineSeconds=None)
    yield one("a toleration more", spec__tolerations__2=_TOLERATION)
    yield one("no tolerations", tolerant, spec__tolerations=[])
    yield one("a gate", spec__schedulingGates=[{"name": "a/b"}])
    yield one("a gate less", gated, spec__schedulingGates=[{"name": "a/b"}])
    yield one("another gate", gated, spec__schedulingGates=[{"name": "x/y"}])
    yield one("selector of a gated pod", gated, spec__nodeSelector={"a": "b"})
    yield one("selector", spec__nodeSelector={"a": "b"})


def _others() -> Iterator[Update]:
    yield Update("config map", of("ConfigMap", data={"a": "b"}), {"data": {"a": "c"}})
    fixed = of("ConfigMap", data={"a": "b"}, immutable=True)
    yield Update("fixed config map", fixed, {"data": {"a": "c"}})
    yield Update("config map no longer fixed", fixed, {"immutable": None})
    secret = of("Secret", data={"a": "YQ=="}, immutable=True)
    yield Update("fixed secret", secret, {"data": {"a": "Yg=="}})
    yield Update("a secret's type", of("Secret"), {"type": "me/mine"})
    yield Update("service: ports", SERVICE, {"spec__ports": [{"port": 81}]})
    yield Update(
        "service: headless", SERVICE, {"spec__clusterIP": "None", "spec__clusterIPs": ["None"]}
    )
    yield Update("claim: size", CLAIM, {"spec__resources": {"requests": {"storage": "2Gi"}}})
    yield Update("claim: smaller", CLAIM, {"spec__resources": {"requests": {"storage": "1Mi"}}})
    yield Update("claim: volume", CLAIM, {"spec__volumeName": "pv"})
    revision = of("ControllerRevision", "apps/v1", revision=1, data={"a": 1})
    yield Update("revision: number", revision, {"revision": 2})
    yield Update("revision: data", revision, {"data": {"a": 2}})
    role = {"kind": "ClusterRole", "name": "view"}
    binding = of("RoleBinding", "rbac.authorization.k8s.io/v1", roleRef=role)
    yield Update("binding: role", binding, {"roleRef": {**role, "name": "edit"}})
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
    deployment = of("Deployment", "apps/v1", spec=spec)
    labels = {"app": "web", "x": "y"}
    yield Update(
        "deployment: selector",
        deployment,
        {"spec__selector": {"matchLabels": labels}, "spec__template__metadata__labels": labels},
    )
