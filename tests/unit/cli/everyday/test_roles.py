"""A DisaggregatedSet in words: roles, slices, what is waited for."""

from typing import Any

import pytest

from lws.api import names
from lws.cli.everyday.roles import RoleFamily, RolesStatus, status_of_roles
from lws.cli.everyday.tables import roles_table, roles_tree
from tests.unit.cli.everyday.objects import lws, pod

GPU = "0/20 nodes are available: 20 Insufficient nvidia.com/gpu."
ROLLING = (
    "Not all roles have reached their desired replica count, ready and updated to the current"
    " revision"
)


def ds(*, slices: int = 1, seen: int = 1, **conditions: tuple[str, str]) -> dict[str, Any]:
    """Two roles of two groups each; conditions by type: status and message."""
    listed = [
        {"type": type_, "status": status, "reason": "Why", "message": message}
        for type_, (status, message) in conditions.items()
    ]
    ready = [{"name": "prefill", "readyReplicas": 2, "replicas": 2}]
    return {
        "kind": names.DS_KIND,
        "metadata": {"name": "chat", "namespace": "team", "generation": 1},
        "spec": {
            "slices": slices,
            "roles": [
                {"name": "prefill", "spec": {"replicas": 2}},
                {"name": "decode", "spec": {}, "scaling": {"mode": "External"}},
            ],
        },
        "status": {"conditions": listed, "observedGeneration": seen, "roleStatuses": ready},
    }


def role_set(role: str, *, revision: str = "r1", slice_: str = "0", **more: Any) -> dict[str, Any]:
    made = lws(replicas=1, size=1, **more)
    made["metadata"]["name"] = f"chat-{slice_}-{revision}-{role}"
    made["metadata"]["labels"] = {
        names.DS_ROLE: role,
        names.DS_REVISION: revision,
        names.DS_SLICE: slice_,
    }
    return made


def pod_of(held: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = pod(0, **more)
    made["metadata"]["labels"][names.NAME] = held["metadata"]["name"]
    made["metadata"]["annotations"][names.SIZE] = "1"
    return made


def found(of: dict[str, Any], *sets: dict[str, Any], **trouble: Any) -> RolesStatus:
    """Each set with a pod that is ready, or in that trouble."""
    pods = [pod_of(held, **trouble) for held in sets]
    return status_of_roles(RoleFamily(of, sets, tuple(pods)))


def test_a_set_that_is_whole_is_available_and_has_nothing_else_to_tell() -> None:
    status = found(ds(Available=("True", "")), role_set("prefill"), role_set("decode"))
    assert status.available
    assert status.lines == ["team/chat: available, prefill 2/2, decode 0/0"]
    assert status.ready_lines == ["  decode group 0: ready", "  prefill group 0: ready"]


def test_it_tells_what_the_operator_waits_for_and_which_group_of_which_role_is_stuck() -> None:
    waits = f"{ROLLING}; slice 0: waiting for prefill to be ready, for more than 30 s"
    status = found(
        ds(Available=("False", ROLLING), Progressing=("True", waits)),
        role_set("prefill"),
        ready=False,
        message=GPU,
    )
    assert status.state == "progressing"
    assert status.lines[1:] == [
        "  slice 0: waiting for prefill to be ready, for more than 30 s",
        "  prefill group 0: leader pending, 0/20 nodes have nvidia.com/gpu to spare",
    ]


def test_slices_and_revisions_are_named_only_where_there_are_several() -> None:
    rolling = found(ds(), role_set("decode"), role_set("decode", revision="r2"))
    assert [rolling.called(line) for line in rolling.sets] == [
        "decode of revision r1",
        "decode of revision r2",
    ]
    sliced = found(ds(slices=2), role_set("decode", slice_="1"), role_set("decode"))
    assert [sliced.called(line) for line in sliced.sets] == ["slice 0 decode", "slice 1 decode"]


@pytest.mark.parametrize(
    ("of", "state"),
    [
        (ds(), "new"),
        (ds(Progressing=("True", ROLLING)), "progressing"),
        (ds(Available=("True", ""), seen=0, Progressing=("False", "")), "available"),
        (ds(Available=("True", ""), Conflict=("True", "Service x exists")), "blocked"),
    ],
)
def test_the_state_is_a_word(of: dict[str, Any], state: str) -> None:
    assert found(of).state == state


def test_a_status_of_an_older_spec_or_of_pods_that_are_gone_is_not_believed() -> None:
    older = ds(Available=("True", ""), Progressing=("False", ""))
    older["metadata"]["generation"] = 2
    assert found(older).state == "progressing"
    assert "has not seen the newest spec" in found(older).lines[1]
    lagging = found(ds(Available=("True", "")), role_set("decode"), ready=False)
    assert not lagging.available


def test_a_role_that_is_stopped_says_why() -> None:
    failed = role_set("decode", conditions={"Failed": "True", "Progressing": "True"})
    assert "  decode: Failed: words of Failed" in found(ds(), failed).lines
    assert found(ds(Conflict=("True", "Service x exists"))).reasons == ("Service x exists",)


def test_the_list_and_the_tree_show_every_role() -> None:
    status = found(ds(), role_set("prefill"), role_set("decode"))
    lines = roles_tree(status, now=0, wide=False, colour=False)
    assert "decode: 1/1 groups ready, lws/chat-0-r1-decode" in lines
    assert sum("chat-0  " in line for line in lines) == 2
    head, row = roles_table([ds()], now=0, wide=True, namespaces=True, colour=False)
    assert head.split()[:3] == ["NAMESPACE", "NAME", "ROLES-READY"]
    assert "prefill 2/2, decode 0/0" in row
    document = status.as_document()
    assert [one["role"] for one in document["sets"]] == ["decode", "prefill"]
