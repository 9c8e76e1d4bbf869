"""Role scalers: which there are, what they start with, what they show."""

from typing import Any

import msgspec
import pytest

from lws.api import names
from lws.api.disaggregatedset import RoleScaler, decode_role_scaler
from lws.api.kinds import Kind
from lws.base.ids import RevisionKey
from lws.planner.actions import Create, Delete, MergePatch
from lws.planner.disaggregatedset.census import RoleTotals
from lws.planner.disaggregatedset.identity import read_wanted
from lws.planner.disaggregatedset.scalers import plan_scalers
from lws.planner.disaggregatedset.snapshot import ScalerViews, SetSnapshot
from tests.unit.planner.disaggregatedset.worlds import START, UID, a_ds, a_role, decoded

EXTERNAL: Any = {"scaling": {"mode": "External"}}
BOUND = {
    "type": "Ready",
    "status": "True",
    "reason": "Bound",
    "message": "bound by another controller's words",
    "lastTransitionTime": "2026-08-01T09:00:00Z",
    "observedGeneration": 1,
}


def a_scaler(role: str = "decode", *, replicas: int = 2, **more: Any) -> RoleScaler:
    """Ours, as the server has it."""
    metadata = {"name": f"pd-{role}", "namespace": "default", "uid": f"{role}-uid", "generation": 1}
    document = {
        "metadata": metadata | more.pop("metadata", {}),
        "spec": {"replicas": replicas},
        **more,
    }
    return decode_role_scaler(msgspec.json.encode(document))


def told(replicas: int = 2) -> dict[str, Any]:
    """A status that needs no word more."""
    selector = names.role_selector(ds="pd", role="decode")
    return {
        "replicas": replicas,
        "selector": selector,
        "observedGeneration": 1,
        "conditions": [BOUND],
    }


def planned(
    *scalers: RoleScaler,
    totals: RoleTotals | None = None,
    conflicts: frozenset[str] = frozenset(),
    external: bool = True,
    foreign: frozenset[tuple[Kind, str]] = frozenset(),
) -> list[Any]:
    ds = decoded(a_ds([a_role("prefill"), a_role("decode", 2, **(EXTERNAL if external else {}))]))
    snapshot = SetSnapshot(
        ds=ds,
        wanted=read_wanted(ds),
        key=RevisionKey("k"),
        totals={} if totals is None else {"decode": totals},
        own_scalers=scalers,
        scalers=ScalerViews(replicas={}, conflicts=conflicts),
        reports={},
        foreign=foreign,
        now=START,
    )
    return [action for strand in plan_scalers(snapshot) for action in strand]


@pytest.mark.parametrize(
    ("totals", "seed"),
    [(None, 1), (RoleTotals(members=2, wanted=5), 5), (RoleTotals(members=1, wanted=0), 0)],
)
def test_a_scaler_starts_with_one_or_with_what_its_role_has(
    totals: RoleTotals | None, seed: int
) -> None:
    (create,) = planned(totals=totals)
    assert isinstance(create, Create)
    assert create.body["spec"] == {"replicas": seed}
    assert create.body["metadata"]["name"] == "pd-decode"
    assert create.body["metadata"]["labels"] == {names.DS_NAME: "pd", names.DS_ROLE: "decode"}
    assert create.body["metadata"]["ownerReferences"][0]["uid"] == UID


def test_a_name_that_is_taken_is_not_tried() -> None:
    assert planned(conflicts=frozenset({"decode"})) == []
    assert planned(foreign=frozenset({(Kind.ROLE_SCALER, "pd-decode")})) == []


def test_a_scaler_of_a_role_that_is_external_no_more_goes() -> None:
    (delete,) = planned(a_scaler(status=told()), external=False)
    assert isinstance(delete, Delete)
    assert delete.uid == "decode-uid"


def test_a_scaler_of_a_role_that_is_gone_goes() -> None:
    deleted = [a for a in planned(a_scaler("encode")) if isinstance(a, Delete)]
    assert [delete.name for delete in deleted] == ["pd-encode"]


def test_one_that_is_being_deleted_is_not_deleted_again() -> None:
    ending = {"deletionTimestamp": "2026-08-01T10:00:00Z"}
    assert planned(a_scaler(metadata=ending, status=told()), external=False) == []


def test_a_new_scaler_shows_what_it_asks_for_at_once() -> None:
    (patch,) = planned(a_scaler(replicas=4), totals=RoleTotals(members=1))
    assert isinstance(patch, MergePatch)
    assert patch.subresource == "status"
    status = patch.body["status"]
    assert status["replicas"] == 4
    assert status["selector"] == (
        "disaggregatedset.x-k8s.io/name=pd,disaggregatedset.x-k8s.io/role=decode,"
        "leaderworkerset.sigs.k8s.io/worker-index=0"
    )
    (ready,) = status["conditions"]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "True", "Bound")


def test_a_scaler_of_zero_says_so() -> None:
    (patch,) = planned(a_scaler(replicas=0))
    assert patch.body["status"]["replicas"] == 0


def test_later_it_shows_the_sum_and_nothing_more_is_written() -> None:
    scaler = a_scaler(status=told(2))
    (patch,) = planned(scaler, totals=RoleTotals(members=2, replicas=3))
    assert patch.body == {"status": {"replicas": 3}}
    assert planned(scaler, totals=RoleTotals(members=2, replicas=2)) == []
