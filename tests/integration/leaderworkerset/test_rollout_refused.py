"""Writes that the API server refuses: told to the user, tried seldom, and never made worse."""

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from harness import pods
from harness.audit import Count, Request
from harness.kube import ApiError, Json
from harness.waiting import eventually
from harness.watching import Recorder
from harness.webhooks import VALIDATING
from tests.integration.leaderworkerset.manifests import claim, pods_in
from tests.integration.leaderworkerset.worlds import SETS, World

pytestmark = [pytest.mark.timeout(300)]

_POLICY, _BINDING = "validatingadmissionpolicies", "validatingadmissionpolicybindings"
_SAYS = "image serve:2 is not for this namespace"


@contextlib.contextmanager
def _image_forbidden(world: World) -> Iterator[None]:
    """No StatefulSet of the namespace may get the image serve:2."""
    name = world.namespace
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["statefulsets"],
    }
    expression = "!object.spec.template.spec.containers.exists(c, c.image == 'serve:2')"
    here = {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}}
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression, "message": _SAYS}],
    }
    binding = {
        "policyName": name,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": here},
    }
    world.kube.create(_admission("ValidatingAdmissionPolicy", name, policy))
    world.kube.create(_admission("ValidatingAdmissionPolicyBinding", name, binding))
    eventually(lambda: _is_forbidden(world), what="the policy is in force", every=0.2)
    try:
        yield
    finally:
        world.kube.delete(_BINDING, name)
        world.kube.delete(_POLICY, name)


def _admission(kind: str, name: str, spec: Json) -> Json:
    version = "admissionregistration.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _is_forbidden(world: World) -> bool:
    pod = {"containers": [{"name": "serve", "image": "serve:2"}]}
    probe = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "probe", "namespace": world.namespace},
        "spec": {
            "replicas": 0,
            "serviceName": "probe",
            "selector": {"matchLabels": {"app": "probe"}},
            "template": {"metadata": {"labels": {"app": "probe"}}, "spec": pod},
        },
    }
    try:
        world.kube.create(probe)
    except ApiError as error:
        return _SAYS in error.message
    world.kube.delete("statefulsets", "probe", world.namespace)
    return False


def _is_told(world: World, words: str) -> bool:
    found = world.condition("Progressing")
    return (found.get("status"), found.get("reason")) == ("False", "ApplyFailed") and (
        words in found["message"]
    )


def _refused_for_long(world: World, words: str, *, active: int) -> None:
    """It is told at once, and asked again seldom, whatever happens meanwhile.

    No second revision is made.
    """
    start = time.monotonic()
    with world.counting() as count:
        world.until(lambda: _is_told(world, words), what="the refusal is told")
        with _changes_of("Progressing", world) as told:
            wakes = _wake(world)
            world.until(lambda: len(_refusals(world, count)) >= 3, what="it was tried again")
        requests = [r for r in count.requests if r.namespace == world.namespace]
        tries = _refusals(world, count)
    most = (2 if wakes else 1) * (2 + int(math.log2(1 + time.monotonic() - start)))
    assert len(tries) <= most, "each body waits 1, 2, 4 s and so on"
    assert len(requests) <= 15 + len(tries) + 2 * wakes, [f"{r.verb} {r.key}" for r in requests]
    assert told <= {"ApplyFailed"}
    assert len(world.revisions()) == active


@contextlib.contextmanager
def _changes_of(kind: str, world: World) -> Iterator[set[str]]:
    """The reasons that a condition has meanwhile."""
    reasons: set[str] = set()

    def take(live: Mapping[str, Json]) -> None:
        conditions = live["sample"].get("status", {}).get("conditions", [])
        reasons.update(one["reason"] for one in conditions if one["type"] == kind)

    with Recorder(world.kube, world.namespace, resource=SETS, invariant=take) as recorder:
        yield reasons
        recorder.catch_up()


def _is_ready(world: World, wanted: bool) -> bool:
    return (0 in world.ready()) is wanted


def _wake(world: World) -> int:
    """Let a group be unready and ready again, eight times; how often the set was woken so.

    With it the partition comes and goes that the update would begin with.
    """
    if not world.ready():
        return 0
    for ready in (False, True) * 8:
        pods.set_ready(world.kube, world.namespace, "sample-0", ready)
        world.until(partial(_is_ready, world, ready), what="group 0 has changed")
        time.sleep(0.15)
    return 16


def _refusals(world: World, count: Count) -> list[Request]:
    """Not those that came too late for the version that they were meant for."""
    return [request for request in world.writes(count) if request.code in (403, 422)]


def test_a_refused_update_is_told_tried_seldom_and_ends_when_it_is_allowed(world: World) -> None:
    world.create(replicas=3)
    with world.watched(ceiling=3) as seen, _image_forbidden(world):
        world.push("serve:2")
        _refused_for_long(world, _SAYS, active=2)
        assert len(world.events("FailedUpdate")) == 1
    assert not seen.creations()
    with world.watched(floor=2, ceiling=3) as seen:
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(3))
    assert world.images() == {"serve:2": 6}


def test_a_refused_update_that_is_taken_back_leaves_nothing(world: World) -> None:
    world.create(replicas=2)
    keys = world.keys()
    with world.watched(floor=2, ceiling=2) as seen, _image_forbidden(world):
        world.push("serve:2")
        world.until(lambda: _is_told(world, _SAYS), what="the refusal is told")
        world.push("serve:1")
        world.settle()
    assert not seen.creations()
    assert world.keys() == keys
    assert len(world.revisions(retired=True)) == 1


def test_a_scale_goes_on_while_the_template_is_refused(world: World) -> None:
    """One apply carries both, so the scale waits with it; a fix of the template brings both."""
    world.create(replicas=2)
    with world.watched(floor=1, ceiling=3), _image_forbidden(world):
        world.push("serve:2")
        world.until(lambda: _is_told(world, _SAYS), what="the refusal is told")
        world.change({"replicas": 3})
        world.push("serve:3")
        world.settle()
    assert world.images() == {"serve:3": 6}


def test_a_claim_that_changed_behind_the_webhooks_back_is_told(world: World) -> None:
    world.create(replicas=2, claims=True)
    keys = world.keys()
    with world.watched(ceiling=2) as seen, _unvalidated(world):
        world.change({"leaderWorkerTemplate": {"volumeClaimTemplates": [claim("2Gi")]}})
        _refused_for_long(world, "updates to statefulset spec", active=2)
        world.change({"leaderWorkerTemplate": {"volumeClaimTemplates": [claim("1Gi")]}})
        world.settle()
    assert not seen.creations()
    assert world.keys() == keys


@contextlib.contextmanager
def _unvalidated(world: World) -> Iterator[None]:
    """Our validating webhook is not asked about this namespace."""
    name = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [world.namespace]}
    resource = "validatingwebhookconfigurations"
    webhook = world.kube.get(resource, VALIDATING)["webhooks"][0]["name"]
    body = {"webhooks": [{"name": webhook, "namespaceSelector": {"matchExpressions": [name]}}]}
    world.kube.patch(resource, VALIDATING, body, kind="strategic")
    change = {"leaderWorkerTemplate": {"volumeClaimTemplates": [claim("3Gi")]}}
    query = {"dryRun": "All"}

    def is_unvalidated() -> bool:
        path = world.kube.resource("leaderworkersets").path(world.namespace, "sample")
        body, kind = {"spec": change}, "application/merge-patch+json"
        world.kube.request("PATCH", path, body, query=query, content_type=kind)
        return True

    eventually(is_unvalidated, what="the webhook is not asked", every=0.2)
    try:
        yield
    finally:
        body["webhooks"][0]["namespaceSelector"] = None
        world.kube.patch(resource, VALIDATING, body, kind="strategic")


@pytest.mark.parametrize(("resource", "active"), [("statefulsets", 1), ("controllerrevisions", 0)])
def test_a_set_that_quota_refuses_starts_once_there_is_room(
    world: World, resource: str, active: int
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "full"},
        "spec": {"hard": {f"count/{resource}.apps": "0"}},
    }
    world.kube.create(quota, world.namespace)
    world.until_quota_is_known("full")
    world.create(replicas=2, ready=False)
    _refused_for_long(world, "exceeded quota", active=active)
    world.kube.delete("resourcequotas", "full", world.namespace)
    world.settle()
    assert world.pods.creations() == pods_in(range(2))


def test_an_update_without_progress_is_told_after_its_deadline(world: World) -> None:
    world.create(replicas=2, spec={"progressDeadlineSeconds": 4})
    with world.watched(floor=1, ceiling=2) as seen:
        world.push("serve:2", hold=True)
        world.until(lambda: world.is_true("UpdateInProgress"), what="the update runs")
        assert world.is_true("Progressing")
        world.until(
            lambda: world.condition("Progressing")["reason"] == "ProgressDeadlineExceeded",
            what="the deadline is told",
            timeout=20,
        )
        assert world.condition("Progressing")["status"] == "False"
        world.rest()
        assert world.groups_of("serve:2") == {1}
        world.settle(meanwhile=world.releasing(0, 1))
    assert seen.creations() == seen.deletions() == pods_in(range(2))


def test_an_update_whose_surge_finds_no_room_in_the_quota_ends(world: World) -> None:
    """The surge group may get the room of a group that is being replaced, and must give it back."""
    world.create(replicas=3, size=1, surge=1, unavailable=1)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "exact"},
        "spec": {"hard": {"pods": "3"}},
    }
    world.kube.create(quota, world.namespace)
    world.until_quota_is_known("exact")
    with world.watched(floor=2, ceiling=4):
        world.push("serve:2")
        world.settle()
    assert world.images() == {"serve:2": 3}
