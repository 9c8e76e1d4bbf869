"""Sequences of writes by several managers: results, refusals and managedFields are the server's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from harness.kube import Kube
from tests.conformance.patching import bodies, changes
from tests.conformance.patching.judge import JSON_PATCH, MERGE, STRATEGIC, Judge
from tests.conformance.patching.openapi import PublishedSchemas

pytestmark = pytest.mark.real

Json = dict[str, Any]
MANAGERS = ("ann", "bob", "kubectl")
STEPS = 12
SEEDS = range(50)


@dataclass(frozen=True)
class Subject:
    """A kind to write, and how."""

    api_version: str
    kind: str
    resource: str
    parts: dict[str, bodies.Maker]
    """Members of the spec, or of the object itself if it has none."""
    base: Json
    """What has to be there."""
    late: tuple[str, ...] = ()
    merge_keys: dict[str, str] = field(default_factory=dict)
    has_spec: bool = True
    status: dict[str, bodies.Maker] = field(default_factory=dict)

    @property
    def has_scale(self) -> bool:
        """Has it replicas that can be scaled?"""
        return "replicas" in self.parts

    @property
    def is_custom(self) -> bool:
        """Custom resources have no strategic merge patch."""
        return not self.merge_keys

    def body(self, name: str, content: Json, metadata: Json) -> Json:
        """An object."""
        inside = {"spec": content} if self.has_spec else content
        head = {"apiVersion": self.api_version, "kind": self.kind}
        return {**head, "metadata": {**metadata, "name": name}, **inside}

    def partial(self, rng: Random, name: str) -> Json:
        """Something to apply."""
        metadata = bodies.some(rng, bodies.METADATA, 0.3)
        return self.body(name, bodies.some(rng, self.parts), metadata)

    def whole(self, rng: Random, name: str) -> Json:
        """Something to create."""
        base, part = self.body(name, self.base, {}), self.partial(rng, name)
        made: Json = changes.blended(Random(1), base, part)
        return made


SUBJECTS = {
    "statefulset": Subject(
        "apps/v1",
        "StatefulSet",
        "statefulsets.apps",
        bodies.STATEFUL_SPEC,
        {
            "serviceName": "s",
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "m", "image": "i:1"}]},
            },
        },
        merge_keys={
            "containers": "name",
            "env": "name",
            "ports": "containerPort",
            "volumes": "name",
            "topologySpreadConstraints": "topologyKey",
            "hostAliases": "ip",
            "imagePullSecrets": "name",
            "ownerReferences": "uid",
        },
        status={"replicas": bodies.NUMBER, "currentReplicas": bodies.NUMBER},
    ),
    "pod": Subject(
        "v1",
        "Pod",
        "pods",
        {
            "containers": lambda rng: [
                {"name": "m", **bodies.some(rng, {"image": bodies.one_of("i:1", "i:2")})}
            ],
            "activeDeadlineSeconds": bodies.one_of(5, 4),
        },
        {"containers": [{"name": "m", "image": "i:1", "env": [{"name": "A", "value": "b"}]}]},
        late=("spec.tolerations", "spec.priority", "spec.preemptionPolicy"),
        merge_keys={"containers": "name", "ownerReferences": "uid"},
        status={"phase": bodies.one_of("Pending", "Running"), "message": bodies.TEXT},
    ),
    "service": Subject(
        "v1",
        "Service",
        "services",
        bodies.SERVICE_SPEC,
        {"ports": [{"port": 80, "name": "a"}]},
        late=(
            "spec.clusterIP",
            "spec.clusterIPs",
            "spec.ipFamilies",
            "spec.ipFamilyPolicy",
        ),
        merge_keys={"ports": "port", "ownerReferences": "uid"},
    ),
    "configmap": Subject(
        "v1",
        "ConfigMap",
        "configmaps",
        bodies.CONFIG_MAP,
        {},
        merge_keys={"ownerReferences": "uid"},
        has_spec=False,
    ),
    "group": Subject(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "leaderworkersets.leaderworkerset.x-k8s.io",
        bodies.GROUP_SPEC,
        {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [{"name": "m"}]}}}},
        status={"replicas": bodies.NUMBER, "hpaPodSelector": bodies.TEXT},
    ),
    "widget": Subject(
        f"{bodies.WIDGET_GROUP}/v1",
        "Widget",
        f"widgets.{bodies.WIDGET_GROUP}",
        bodies.WIDGET_SPEC,
        {},
        status=bodies.WIDGET_STATUS,
    ),
}
Step = Callable[[Judge, Subject, Random, str], object]


@pytest.fixture(scope="session")
def schemas(patch_kube: Kube) -> dict[str, PublishedSchemas]:
    """What the server publishes, by apiVersion."""
    versions = {each.api_version for each in SUBJECTS.values()}
    return {each: PublishedSchemas(patch_kube, each) for each in versions}


def replace(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    live = judge.get("x")
    body = changes.blended(rng, live, subject.partial(rng, "x"))
    if rng.random() < 0.1:
        entry = {"manager": "me", "operation": rng.choice(["Update", "Nothing"])}
        body["metadata"]["managedFields"] = rng.choice([[], [{}], [entry], None])
    elif rng.random() < 0.5:
        body["metadata"].pop("managedFields", None)
    return judge.replace(body, manager=manager)


def merge(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    change = changes.merge_change(rng, subject.partial(rng, "x"))
    if rng.random() < 0.05:
        change["metadata"]["managedFields"] = rng.choice([[], [{}], None])
    return judge.patch("x", change, kind=MERGE, manager=manager)


def json_operations(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    body = changes.operations(rng, judge.get("x"), subject.partial(rng, "x"))
    return judge.patch("x", body, kind=JSON_PATCH, manager=manager)


def strategic(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    if subject.is_custom:
        return merge(judge, subject, rng, manager)
    change = changes.strategic_change(rng, subject.partial(rng, "x"), subject.merge_keys)
    return judge.patch("x", change, kind=STRATEGIC, manager=manager)


def apply(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    return judge.apply(subject.partial(rng, "x"), manager=manager)


def apply_by_force(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    return judge.apply(subject.partial(rng, "x"), manager=manager, force=True)


def apply_what_is_there(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    live = judge.get("x")
    body = subject.partial(rng, "x")
    content = body["spec"] if subject.has_spec else body
    known = live.get("spec", {}) if subject.has_spec else live
    for name in list(subject.parts):
        if name in known and rng.random() < 0.3:
            content[name] = copy.deepcopy(known[name])
    return judge.apply(body, manager=manager)


def write_status(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    if not subject.status:
        return None
    live = judge.get("x")
    live["status"] = {**live.get("status", {}), **bodies.some(rng, subject.status, 0.8)}
    live["metadata"].setdefault("labels", {})["from"] = "status"
    return judge.replace(live, manager=manager, subresource="status")


def apply_status(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    if not subject.status:
        return None
    body = subject.body("x", {}, {})
    body.pop("spec", None)
    body["status"] = bodies.some(rng, subject.status, 0.8)
    force = rng.random() < 0.5
    return judge.apply(body, manager=manager, force=force, subresource="status")


def scale(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    if not subject.has_scale:
        return None
    return judge.scale("x", rng.randint(0, 2), manager=manager)


def apply_scale(judge: Judge, subject: Subject, rng: Random, manager: str) -> object:
    if not subject.has_scale:
        return None
    force = rng.random() < 0.5
    return judge.apply_scale("x", rng.randint(0, 2), manager=manager, force=force)


STEPS_TO_TAKE: tuple[Step, ...] = (
    replace,
    merge,
    json_operations,
    strategic,
    apply,
    apply,
    apply_by_force,
    apply_what_is_there,
    write_status,
    apply_status,
    scale,
    apply_scale,
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_every_write_ends_as_on_the_real_server(
    patch_kube: Kube,
    schemas: dict[str, PublishedSchemas],
    quiet_namespace: str,
    name: str,
    seed: int,
) -> None:
    subject, rng = SUBJECTS[name], Random(f"{name} {seed}")
    judge = Judge(
        patch_kube,
        patch_kube.resource(subject.resource),
        quiet_namespace,
        schemas[subject.api_version].of_kind(subject.kind),
        late=subject.late,
        has_status=subject.has_spec,
    )
    make = judge.create if rng.random() < 0.5 else judge.apply
    while judge.find("x") is None:
        make(subject.whole(rng, "x"), manager=rng.choice(MANAGERS))
    for _ in range(STEPS):
        rng.choice(STEPS_TO_TAKE)(judge, subject, rng, rng.choice(MANAGERS))
