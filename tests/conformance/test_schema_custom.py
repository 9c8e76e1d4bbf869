"""Custom kinds: a real API server and the sandbox's schemas prune, fill in and refuse alike."""

import copy
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from harness.kube import ApiError, Kube
from harness.waiting import eventually
from lws.sandbox.schema.errors import DecodeError
from lws.sandbox.schema.structural import (
    apply_defaults,
    prune,
    read_crd_schema,
    structural_errors,
    validate,
)
from tests.conformance.schema import custom
from tests.conformance.schema.base import Case, Json

pytestmark = pytest.mark.real

DEFINITION = custom.definition()
SCHEMA = read_crd_schema(DEFINITION["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
Faults = set[tuple[str, str, str]]


@pytest.fixture(scope="session")
def things(quiet_kube: Kube) -> Iterator[Kube]:
    """A server that serves the kind."""
    install(quiet_kube)
    yield quiet_kube
    quiet_kube.delete("customresourcedefinitions", DEFINITION["metadata"]["name"])


def install(kube: Kube) -> None:
    kube.create(DEFINITION)
    eventually(lambda: is_served(kube), what="the kind is served")


def is_served(kube: Kube) -> bool:
    try:
        kube.request("GET", f"/apis/{custom.API_VERSION}/things")
    except ApiError:
        return False
    return True


@pytest.mark.parametrize("case", list(custom.cases()), ids=lambda case: case.name)
def test_an_object_is_judged_and_shaped_alike(case: Case, things: Kube) -> None:
    assert ours(case.obj) == theirs(case.obj, things)


@pytest.mark.parametrize(("name", "before", "after"), list(custom.changes()))
def test_a_change_is_judged_alike(name: str, before: Json, after: Json, things: Kube) -> None:
    assert ours_changed(before, after) == theirs_changed(before, after, things), name


@pytest.mark.parametrize(("name", "schema"), list(custom.bad_schemas()))
def test_a_bad_schema_is_refused_alike(name: str, schema: Json, quiet_kube: Kube) -> None:
    assert ours_of_schema(schema) == theirs_of_schema(schema, quiet_kube), name


def ours(obj: Json) -> Any:
    try:
        pruned, dropped = prune(copy.deepcopy(obj), SCHEMA)
    except DecodeError as error:
        return f'Thing in version "v1" cannot be handled as a Thing: {error}'
    made = apply_defaults(pruned, SCHEMA)
    faults = validate(made, SCHEMA)
    return {(one.field, one.reason, one.message) for one in faults} or (compared(made), dropped)


def theirs(obj: Json, kube: Kube) -> Any:
    path = f"/apis/{custom.API_VERSION}/namespaces/default/things"
    try:
        made = kube.request("POST", path, obj, query={"dryRun": "All"})
    except ApiError as error:
        return faults_of(error)
    return compared(made), dropped_of(obj, path, kube)


def dropped_of(obj: Json, path: str, kube: Kube) -> list[str]:
    """The unknown fields, from a strict request's complaint."""
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    try:
        kube.request("POST", path, obj, query=query)
    except ApiError as error:
        words = error.message.partition("strict decoding error: ")[2].split(", ")
        return sorted(one.removeprefix('unknown field "').removesuffix('"') for one in words)
    return []


def faults_of(error: ApiError) -> Any:
    if error.status == 400:
        return error.message
    if error.status != 422:
        raise error
    causes = error.body["details"]["causes"]
    return {(one.get("field", ""), one["reason"], one["message"]) for one in causes}


def compared(made: Json) -> Json:
    return {key: one for key, one in made.items() if key != "metadata"}


def ours_changed(before: Json, after: Json) -> Faults:
    old, new = (
        apply_defaults(prune(custom.thing(one), SCHEMA)[0], SCHEMA) for one in (before, after)
    )
    return {(one.field, one.reason, one.message) for one in validate(new, SCHEMA, old)}


def theirs_changed(before: Json, after: Json, kube: Kube) -> Any:
    path = f"/apis/{custom.API_VERSION}/namespaces/default/things"
    obj = custom.thing(before)
    name = obj["metadata"]["name"] = f"one-{secrets.token_hex(4)}"
    made = kube.request("POST", path, obj)
    made["spec"] = after
    try:
        kube.request("PUT", f"{path}/{name}", made, query={"dryRun": "All"})
    except ApiError as error:
        return faults_of(error)
    return set()


def ours_of_schema(schema: Json) -> set[tuple[str, str]]:
    """Where, and what kind of fault; the words of compilers differ."""
    path = "spec.validation.openAPIV3Schema"
    return {(one.field, one.reason) for one in structural_errors(schema, path)}


def theirs_of_schema(schema: Json, kube: Kube) -> Any:
    made = custom.definition()
    made["metadata"]["name"] = "others.tests.example.com"
    made["spec"]["names"] = {"plural": "others", "kind": "Other"}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    try:
        kube.request("POST", path, made, query={"dryRun": "All"})
    except ApiError as error:
        found = faults_of(error)
        if isinstance(found, str):
            return found
        prefix = "spec.versions[0].schema.openAPIV3Schema"
        path = "spec.validation.openAPIV3Schema"
        return {(one[0].replace(prefix, path), one[1]) for one in found}
    return set()
