"""And back: what we write is, field by field, what the public controller writes.

Our operator gets the manifests of each golden world, on an empty sandbox, and all that it then has
written is compared with the world: names, labels, annotations, owners, specs, status, the bytes of
the revisions' data, and who owns which field. Every difference is listed here with its reason.
"""

import json
import re
from collections.abc import Mapping

import pytest

from lws.api import names
from lws.cli.everyday.changes import changes
from lws.client import resources
from lws.client.requests import PatchType
from lws.planner.ownership import applied_fields, extract
from lws.sandbox.server import Caller
from tests.golden import writing
from tests.golden.life import Life, living
from tests.golden.worlds import NAMESPACE, STORED, World, items, load

WORLDS = (
    "lws-plain",
    "lws-leader-template",
    "lws-unique-per-replica",
    "lws-subgroups",
    "lws-exclusive",
    "lws-canary-held",
    "lws-mid-update-surge",
    "ds-at-rest",
    "ds-slices",
    "ds-mid-update",
)
USER = Caller(user="admin", field_manager="Python-urllib")
SETTLED_SECONDS = 60.0

REASONS: Mapping[str, str] = {
    r"^\('statefulsets', .*\.rollingUpdate\.maxUnavailable: \(none\)": (
        "both apply it (both own the field); the world's API server dropped it, its gate being off"
    ),
    r"^\('statefulsets', .*kubectl\.kubernetes\.io/last-applied-configuration: .* → \(none\)": (
        "says nothing of a StatefulSet, and `kubectl apply --prune` would pick it by that; an "
        "annotation of a StatefulSet's own metadata restarts nothing when it comes"
    ),
    r"^\('statefulsets', .*disaggregatedset\.x-k8s\.io/initial-replicas: .* → \(none\)": (
        "a note of an update of several sets, which goes along with the next apply"
    ),
    r"^\('controllerrevisions', .*annotations: \(none\) → .*exclusive-t": (
        "the two topology annotations belong to the template; the other looks at labels and data"
    ),
    r"^\('disaggregatedsets', 'pd'\)\.status\.conditions\[Progressing\]\.message: .?Not all": (
        "while an update waits, the set says for what"
    ),
    r"^\('leaderworkersets', 'pd-0-b60b9b30-prefill'\).*Available": (
        "made with no replicas and scaled at once: theirs looked in between, and was Available"
    ),
}
"""A difference, as a pattern, to why it may be."""


async def made_by_us(life: Life, world: str) -> World:
    """What stands when our operator has had a world's manifests, in order."""
    await life.start_operator()
    api = life.plane.server.api
    first, *later = items(world, "manifests")
    of_roles = first["kind"] == names.DS_KIND
    resource = resources.DISAGGREGATEDSETS if of_roles else resources.LEADERWORKERSETS
    await api.create(resource, first, namespace=NAMESPACE, caller=USER)
    await life.clock.sleep(SETTLED_SECONDS)
    for change in later:
        await api.patch(
            resource,
            change,
            patch_type=PatchType.MERGE,
            name=first["metadata"]["name"],
            namespace=NAMESPACE,
            caller=USER,
        )
        await life.clock.sleep(SETTLED_SECONDS)
    return {kind: life.all(resource) for kind, resource in STORED.items()}


def unexplained(theirs: object, ours: object, path: str) -> list[str]:
    lines = [f"{path}.{one}" for one in changes(theirs, ours) if not one.is_order]
    return [line for line in lines if not any(re.search(known, line) for known in REASONS)]


@pytest.mark.parametrize("world", WORLDS)
async def test_what_we_write_is_what_the_public_controller_writes(world: str) -> None:
    golden = load(world)
    async with living({}) as life:
        made = writing.with_keys_of(await made_by_us(life, world), of=golden)
    ours, theirs = writing.written(made), writing.written(golden)
    assert ours.keys() == theirs.keys()
    for place, one in theirs.items():
        assert unexplained(one, ours[place], str(place)) == []
    mine, other = writing.managers(made), writing.managers(golden)
    for place, owned in other.items():
        assert owned.keys() == mine[place].keys(), place
        for entry, fields in owned.items():
            assert unexplained(fields, mine[place][entry], f"{place} {entry}") == []
    bytes_of_theirs = {name: json.dumps(data) for name, data in writing.recorded(golden)}
    assert {name: json.dumps(data) for name, data in writing.recorded(made)} == bytes_of_theirs


async def test_an_apply_by_the_other_conflicts_with_nothing_and_changes_nothing() -> None:
    """What it applies is what its managedFields say; without force, over what we have made."""
    (leader, *_) = items("lws-plain", "statefulsets")
    fields = applied_fields(leader["metadata"], manager=names.FIELD_MANAGER)
    assert fields is not None
    async with living({}) as life:
        made = await made_by_us(life, "lws-plain")
        (live,) = [one for one in made["statefulsets"] if one["metadata"]["name"] == "plain"]
        applied = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {
                **{
                    part: extract(live["metadata"][part], fields["f:metadata"][f"f:{part}"])
                    for part in ("labels", "annotations")
                },
                "ownerReferences": live["metadata"]["ownerReferences"],
                "name": "plain",
                "namespace": NAMESPACE,
            },
            "spec": extract(live["spec"], fields["f:spec"]),
        }
        after = await life.plane.server.api.patch(
            resources.STATEFULSETS,
            applied,
            patch_type=PatchType.APPLY,
            name="plain",
            namespace=NAMESPACE,
            force=False,
            caller=Caller(user="other", field_manager=names.FIELD_MANAGER),
        )
        assert after["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]
