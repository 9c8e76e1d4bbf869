"""A revision key is the one that the public controller computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lws.planner.disaggregatedset.revision_key import go_json, revision_key

GOLDEN = Path(__file__).parents[3] / "golden"
OF_THE_CONTROLLER = json.loads((GOLDEN / "ds-keys.json").read_text())
OF_GO = json.loads((GOLDEN / "ds-keys-of-go.json").read_text())


def roles_of(case: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(role["name"], role["template"]) for role in case["roles"]]


@pytest.mark.parametrize("case", OF_THE_CONTROLLER, ids=lambda case: case["name"])
def test_the_public_controllers_keys_come_out(case: dict[str, Any]) -> None:
    assert revision_key(roles_of(case)) == case["key"]


def test_gos_keys_come_out_for_each_field_of_a_template() -> None:
    assert len(OF_GO) == 150
    for case in OF_GO:
        assert revision_key(roles_of(case)) == case["key"], json.dumps(case["roles"])


def test_the_shortest_example_is_written_as_documented() -> None:
    template = {
        "restartPolicy": "RecreateGroupOnPodRestart",
        "size": 1,
        "workerTemplate": {"spec": {"containers": [{"image": "a", "name": "a"}]}},
    }
    written = go_json([("prefill", template), ("decode", template)])
    body = (
        '{"workerTemplate":{"metadata":{},"spec":{"containers":[{"name":"a","image":"a",'
        '"resources":{}}]}},"size":1,"restartPolicy":"RecreateGroupOnPodRestart"}'
    )
    assert written == (
        f'[{{"name":"prefill","template":{body}}},{{"name":"decode","template":{body}}}]'
    )


def test_what_is_not_of_the_template_changes_no_key() -> None:
    plain: dict[str, object] = {"size": 2}
    assert revision_key([("a", plain)]) == revision_key([("a", {"size": 2, "maxGroupRestarts": 3})])


def test_the_order_of_roles_is_part_of_the_key() -> None:
    one, two = ("a", {"size": 1}), ("b", {"size": 2})
    assert revision_key([one, two]) != revision_key([two, one])


@pytest.mark.parametrize(
    "odd",
    [
        {"size": "three", "workerTemplate": []},
        {"workerTemplate": {"spec": {"overhead": {"cpu": "garbage", "memory": [1]}}}},
        {"workerTemplate": {"metadata": {"creationTimestamp": "yesterday"}}},
        {"workerTemplate": {"metadata": {"creationTimestamp": "2024-01-01T00:00:00"}}},
        {"workerTemplate": {"metadata": {"name": "\ud800"}}},
        {"volumeClaimTemplates": "text", "size": 2.0},
    ],
)
def test_what_no_schema_would_let_through_still_has_a_key(odd: dict[str, object]) -> None:
    assert len(revision_key([("a", odd)])) == 8
