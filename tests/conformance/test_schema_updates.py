"""Updates of built-in kinds: a real API server and the sandbox's rules refuse alike."""

import copy
from typing import Any

import pytest

from harness.kube import ApiError, Kube
from lws.sandbox.schema.builtin import defaulted, validated
from tests.conformance.schema.base import Json, changed
from tests.conformance.schema.updates import Update, updates

pytestmark = pytest.mark.real


@pytest.mark.parametrize("update", list(updates()), ids=lambda update: update.name)
def test_an_update_is_judged_alike(update: Update, quiet_kube: Kube, quiet_namespace: str) -> None:
    before, real = theirs(update, quiet_kube, quiet_namespace)
    assert ours(update, before) == real


def ours(update: Update, before: Json) -> Any:
    """The faults; of an update's difference only the first line."""
    kind = update.case.kind
    after = defaulted(*kind, changed(copy.deepcopy(before), **update.changes))
    faults = validated(*kind, after, defaulted(*kind, before))
    return {(one.field, one.reason, one.message.partition("\n")[0]) for one in faults}


def theirs(update: Update, kube: Kube, namespace: str) -> tuple[Json, Any]:
    """The object before the update as the server stored it, and the faults."""
    path = kube.resource_of(update.before).path(namespace)
    before = kube.request("POST", path, update.before)
    after = changed(copy.deepcopy(before), **update.changes)
    name = before["metadata"]["name"]
    try:
        kube.request("PUT", f"{path}/{name}", after, query={"dryRun": "All"})
    except ApiError as error:
        if error.status != 422:
            raise
        causes = error.body["details"]["causes"]
        faults = {
            (one.get("field", ""), one["reason"], one["message"].partition("\n")[0])
            for one in causes
        }
        return before, faults
    return before, set()
