"""Started on DisaggregatedSets as the public controller writes them."""

from typing import Any, cast

import msgspec
import pytest

from lws.api import core, disaggregatedset, leaderworkerset, names
from lws.base.ids import RevisionKey
from lws.base.times import parse_time
from lws.client.kubernetes import KubernetesClient
from lws.executor.caches import make_caches
from lws.executor.disaggregatedset.caches import make_disaggregated_caches
from lws.executor.disaggregatedset.families import (
    DisaggregatedFamilies,
    DisaggregatedKey,
    SliceKey,
)
from lws.executor.disaggregatedset.observe import DisaggregatedObserver
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.foreign import ForeignObjects
from lws.planner.actions import MergePatch
from lws.planner.disaggregatedset.scalers import plan_scalers
from lws.planner.disaggregatedset.slices import SlicePlan, plan_slice
from lws.planner.disaggregatedset.snapshot import SetSnapshot
from lws.planner.disaggregatedset.status import plan_set_status
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from tests.golden.worlds import World, items, load

AT_REST = ("ds-at-rest", "ds-slices")


class DisaggregatedWorld:
    """The caches of a controller that has just listed a golden world."""

    def __init__(self, world: str | World) -> None:
        stands = load(world) if isinstance(world, str) else world
        clock = VirtualClock()
        client = cast(KubernetesClient, None)  # nothing here asks a server
        shared = make_caches(client, clock, Metrics())
        self.caches = make_disaggregated_caches(client, clock, Metrics(), shared=shared)
        for item in stands["disaggregatedsets"]:
            self.caches.sets.store.put(disaggregatedset.decode(msgspec.json.encode(item)))
        for item in stands["leaderworkersets"]:
            self.put_lws(item)
        for item in stands["services"]:
            if names.DS_NAME in item["metadata"].get("labels", {}):
                self.caches.services.store.put(core.decode_service(msgspec.json.encode(item)))
        self.families = DisaggregatedFamilies(
            self.caches, wake_set=lambda _: None, wake_slice=lambda _: None
        )
        self.families.start()
        self.observer = DisaggregatedObserver(
            caches=self.caches,
            families=self.families,
            foreign=ForeignObjects(client, clock),
            reports=Reports(lambda _: None),
            clock=clock,
        )
        (ds,) = self.caches.sets.store.values()
        self.ds = ds
        self.key = DisaggregatedKey(ds.metadata.namespace, ds.metadata.name)

    def put_lws(self, item: dict[str, Any]) -> None:
        self.caches.leaderworkersets.store.put(leaderworkerset.decode(msgspec.json.encode(item)))

    def slice(self, index: int) -> SlicePlan:
        snapshot = self.observer.slice(SliceKey(*self.key, index))
        assert snapshot is not None
        return plan_slice(snapshot)

    def set(self) -> SetSnapshot:
        snapshot = self.observer.set(self.key)
        assert snapshot is not None
        return snapshot


@pytest.mark.parametrize("world", AT_REST)
def test_nothing_is_written_in_a_world_at_rest(world: str) -> None:
    taken = DisaggregatedWorld(world)
    assert taken.families.slices(taken.key) == set(range(taken.ds.spec.slices))
    for index in range(taken.ds.spec.slices):
        assert taken.slice(index) == SlicePlan()
    assert plan_scalers(taken.set()) == ()
    assert plan_set_status(taken.set()).status is None


@pytest.mark.parametrize("world", AT_REST)
def test_the_revision_that_stands_is_the_one_that_is_wanted(world: str) -> None:
    taken = DisaggregatedWorld(world)
    family = taken.families.get(taken.key)
    assert family is not None
    standing = {
        lws.metadata.labels[names.DS_REVISION]
        for lws in taken.caches.leaderworkersets.store.values()
    }
    assert {family.key} == {family.wanted.computed_key} == standing


@pytest.mark.parametrize("world", AT_REST)
def test_a_revision_of_another_key_that_means_the_same_is_kept(world: str) -> None:
    taken = DisaggregatedWorld(world)
    for item in items(world, "leaderworkersets"):
        templates = [item["spec"]["leaderWorkerTemplate"]["workerTemplate"]]
        for labelled in (item, *templates):
            labelled["metadata"]["labels"][names.DS_REVISION] = "0badcafe"
        item["metadata"]["name"] = item["metadata"]["name"].replace("f0650f18", "0badcafe")
        lws = leaderworkerset.decode(msgspec.json.encode(item))
        taken.caches.leaderworkersets.store.remove(
            (lws.metadata.namespace, lws.metadata.name.replace("0badcafe", "f0650f18"))
        )
        taken.caches.leaderworkersets.store.put(lws)
    taken.families.start()
    family = taken.families.get(taken.key)
    assert family is not None
    assert family.key == RevisionKey("0badcafe") != family.wanted.computed_key


def test_an_update_in_the_middle_waits_for_the_role_that_is_not_ready() -> None:
    taken = DisaggregatedWorld("ds-mid-update")
    planned = taken.slice(0)
    assert planned.strands == ()
    assert planned.waiting is not None
    assert planned.waiting.text == "role prefill of revision b60b9b30: 0 of 1 replicas ready"
    started = items("ds-mid-update", "leaderworkersets")
    (prefill,) = [one for one in started if one["metadata"]["name"] == "pd-0-b60b9b30-prefill"]
    moments = {one["type"]: one for one in prefill["status"]["conditions"]}
    assert planned.waiting.since == parse_time(moments["Progressing"]["lastTransitionTime"])


def test_an_update_in_the_middle_goes_on_with_the_step_that_is_next() -> None:
    taken = DisaggregatedWorld("ds-mid-update")
    for item in items("ds-mid-update", "leaderworkersets"):
        item["status"]["readyReplicas"] = item["spec"]["replicas"]
        taken.put_lws(item)
    taken.families.start()
    planned = taken.slice(0)
    patches = [
        action for strand in planned.strands for action in strand if isinstance(action, MergePatch)
    ]
    # Three steps, for decode needs three: after the first, decode may give one and prefill none.
    assert {patch.name: patch.body["spec"]["replicas"] for patch in patches} == {
        "pd-0-f0650f18-decode": 2
    }
    assert all(patch.resource_version is not None for patch in patches)
