"""Built-in kinds: a real API server and the sandbox's schemas fill in and refuse alike."""

import copy
from typing import Any

import pytest

from harness.kube import ApiError, Kube
from lws.sandbox.schema.builtin import defaulted, validated
from lws.sandbox.schema.errors import DecodeError
from tests.conformance.schema import deployments, networking, others, pods
from tests.conformance.schema.base import Case, Json

pytestmark = pytest.mark.real

CASES = [*pods.cases(), *others.cases(), *networking.cases(), *deployments.cases()]
# What the server's admission, allocation and registry add; not a matter of schemas.
_NOT_OURS = {
    "Pod": ("priority", "preemptionPolicy"),
    "Service": ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
    "DaemonSet": ("templateGeneration",),
}
_GONE_NODE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_object_is_judged_and_filled_in_alike(case: Case, quiet_kube: Kube) -> None:
    assert ours(case) == theirs(case, quiet_kube)


def ours(case: Case) -> Any:
    """The object without its metadata and status, or the faults, or the message."""
    try:
        made = defaulted(*case.kind, copy.deepcopy(case.obj))
    except DecodeError as error:
        return f'{case.kind[2]} in version "v1" cannot be handled as a {case.kind[2]}: {error}'
    faults = {(one.field, one.reason, one.message) for one in validated(*case.kind, made)}
    return faults or compared(made, made)


def theirs(case: Case, kube: Kube) -> Any:
    """The same of the real one."""
    resource = kube.resource_of(case.obj)
    path = resource.path("default" if resource.namespaced else None)
    try:
        made = kube.request("POST", path, case.obj, query={"dryRun": "All"})
    except ApiError as error:
        if error.status == 400:
            return error.message
        if error.status != 422:
            raise
        causes = error.body["details"]["causes"]
        return {(one.get("field", ""), one["reason"], one["message"]) for one in causes}
    return compared(made, case.obj)


def compared(made: Json, asked: Json) -> Json:
    kept = {key: one for key, one in made.items() if key not in ("metadata", "status")}
    if isinstance(kept.get("spec"), dict):
        spec = {
            key: one
            for key, one in kept["spec"].items()
            if key not in _NOT_OURS.get(made["kind"], ())
        }
        said = (asked.get("spec") or {}).get("tolerations") or ()
        if made["kind"] == "Pod":
            spec["tolerations"] = [
                one
                for one in spec.get("tolerations") or ()
                if one in said or one.get("key") not in _GONE_NODE
            ]
        if made["kind"] == "Namespace":
            spec = {}
        kept["spec"] = spec
    kept.setdefault("spec", {})
    return kept
