"""Which events wake whom, and what a family counts."""

from copy import deepcopy
from typing import Any, cast

import msgspec
from structlog.testing import capture_logs

from lws.api import core, disaggregatedset, leaderworkerset, names
from lws.api.kinds import Kind
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
from lws.planner.disaggregatedset.snapshot import SliceReport, Waiting
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.reflection import Change
from tests.unit.planner.disaggregatedset.worlds import Json, SliceWorld, a_role

KEY = DisaggregatedKey("default", "pd")
TWO = [a_role("prefill", 1), a_role("decode", 1)]


class Watched:
    """Caches into which a test puts what a watch would bring, and who was woken by it."""

    def __init__(self, world: SliceWorld, *others: Json) -> None:
        """`others` are more sets, which were there before."""
        clock = VirtualClock()
        client = cast(KubernetesClient, None)  # nothing here asks a server
        shared = make_caches(client, clock, Metrics())
        self.caches = make_disaggregated_caches(client, clock, Metrics(), shared=shared)
        self.woken: list[DisaggregatedKey | SliceKey] = []
        self.families = DisaggregatedFamilies(
            self.caches, wake_set=self.woken.append, wake_slice=self.woken.append
        )
        self.foreign = ForeignObjects(client, clock)
        self.observer = DisaggregatedObserver(
            caches=self.caches,
            families=self.families,
            foreign=self.foreign,
            reports=Reports(self.woken.append),
            clock=clock,
        )
        for ds in (*others, world.ds):
            self.ds(ds)
        for item in world.lws.values():
            self.lws(item)
        self.families.start()
        self.woken.clear()

    def ds(self, item: Json) -> None:
        self._bring(self.caches.sets, disaggregatedset.decode(msgspec.json.encode(item)))

    def lws(self, item: Json, *, gone: bool = False) -> None:
        read = leaderworkerset.decode(msgspec.json.encode(item))
        self._bring(self.caches.leaderworkersets, read, gone=gone)

    def service(self, item: Json) -> None:
        self._bring(self.caches.services, core.decode_service(msgspec.json.encode(item)))

    def scaler(self, item: Json, *, gone: bool = False) -> None:
        read = disaggregatedset.decode_role_scaler(msgspec.json.encode(item))
        self._bring(self.caches.scalers, read, gone=gone)

    @staticmethod
    def _bring(informer: Any, thing: Any, *, gone: bool = False) -> None:
        meta = thing.metadata
        if gone:
            old, new = informer.store.remove((meta.namespace, meta.name)), None
        else:
            old, new = informer.store.put(thing), thing
        informer._publish(Change(old, new))

    def told(self) -> set[DisaggregatedKey | SliceKey]:
        """Who was woken since the last question."""
        woken, self.woken[:] = set(self.woken), []
        return woken


def sliced(count: int) -> SliceWorld:
    """A set of so many slices at rest, all of them in one world."""
    world = SliceWorld(TWO, slices=count)
    for index in range(count):
        world.slice_index = index
        world.run()
    world.make_ready()
    return world


def of_slice(world: SliceWorld, index: int, role: str = "decode") -> Json:
    return deepcopy(world.lws[f"pd-{index}-{world.key}-{role}"])


def test_an_event_of_one_slice_wakes_that_slice_and_no_other() -> None:
    world = sliced(5)
    watched = Watched(world)
    item = of_slice(world, 3)
    item["status"]["readyReplicas"] = 0
    watched.lws(item)
    assert watched.told() == {KEY, SliceKey(*KEY, 3)}


def test_an_event_that_moves_no_number_leaves_the_set_alone() -> None:
    world = sliced(2)
    watched = Watched(world)
    item = of_slice(world, 1)
    item["metadata"]["annotations"] = {"x": "y"}
    watched.lws(item)
    assert watched.told() == {SliceKey(*KEY, 1)}


def test_sums_follow_events_as_if_all_were_counted_anew() -> None:
    world = sliced(3)
    watched = Watched(world)
    item = of_slice(world, 1)
    item["status"] |= {"readyReplicas": 5, "replicas": 6, "updatedReplicas": 4}
    item["spec"]["replicas"] = 7
    watched.lws(item)
    watched.lws(of_slice(world, 2), gone=True)
    snapshot = watched.observer.set(KEY)
    assert snapshot is not None
    assert snapshot.totals["decode"] == (2, 8, 7, 6, 4)
    watched.families.start()
    anew = watched.observer.set(KEY)
    assert anew is not None
    assert anew.totals == snapshot.totals


def test_another_spec_wakes_every_slice_those_that_are_left_over_too() -> None:
    world = sliced(3)
    watched = Watched(world)
    world.change(slices=1)
    watched.ds(world.ds)
    assert watched.told() == {KEY, *(SliceKey(*KEY, index) for index in range(3))}


def test_another_status_of_the_set_wakes_no_slice() -> None:
    world = sliced(3)
    watched = Watched(world)
    world.ds["status"] = {"observedGeneration": 1}
    watched.ds(world.ds)
    assert watched.told() == {KEY}


def test_a_template_edited_by_hand_makes_every_slice_look_again() -> None:
    """Where the revision is another's writing, it no longer means what is wanted."""
    world = sliced(2)
    ours = world.key
    for name, item in list(world.lws.items()):
        item["metadata"]["labels"][names.DS_REVISION] = "0badcafe"
        item["metadata"]["name"] = name.replace(ours, "0badcafe")
    watched = Watched(world)
    family = watched.families.get(KEY)
    assert family is not None
    assert family.key == "0badcafe"
    item = deepcopy(next(iter(world.lws.values())))
    item["metadata"]["generation"] += 1
    item["spec"]["leaderWorkerTemplate"]["size"] = 9
    watched.lws(item)
    assert family.key == family.wanted.computed_key
    assert watched.told() == {KEY, SliceKey(*KEY, 0), SliceKey(*KEY, 1)}


def test_services_wake_their_slice_if_they_are_ours() -> None:
    world = sliced(2)
    watched = Watched(world)
    world.slice_index = 1
    world.run()
    (service, *_) = world.services.values()
    watched.service(service)
    assert watched.told() == {SliceKey(*KEY, 1)}
    service["metadata"] |= {"name": "theirs", "ownerReferences": []}
    watched.service(service)
    assert watched.told() == set()


def a_scaler(replicas: int, owner: str) -> Json:
    return {
        "metadata": {
            "name": "pd-decode",
            "namespace": "default",
            "uid": "s",
            "ownerReferences": [{"kind": names.DS_KIND, "uid": owner, "controller": True}],
        },
        "spec": {"replicas": replicas},
    }


def test_a_scaler_wakes_whose_it_is_and_who_would_like_the_name() -> None:
    world = SliceWorld([TWO[0], a_role("decode", 1, scaling={"mode": "External"})])
    watched = Watched(world)
    watched.scaler(a_scaler(7, "stranger"))
    assert watched.told() == {KEY, SliceKey(*KEY, 0)}
    snapshot = watched.observer.slice(SliceKey(*KEY, 0))
    assert snapshot is not None
    assert snapshot.scalers.conflicts == {"decode"}
    watched.scaler(a_scaler(7, "stranger"), gone=True)
    assert watched.told() == {KEY, SliceKey(*KEY, 0)}
    watched.scaler(a_scaler(2, "ds-uid"))
    snapshot = watched.observer.slice(SliceKey(*KEY, 0))
    assert snapshot is not None
    assert snapshot.scalers.replicas == {"decode": 2}
    watched.told()
    watched.scaler(a_scaler(2, "ds-uid") | {"status": {"replicas": 2}})
    assert watched.told() == {KEY}


def test_a_foreign_leaderworkerset_that_goes_wakes_whose_place_it_took() -> None:
    world = sliced(1)
    watched = Watched(world)
    item = of_slice(world, 0)
    item["metadata"] |= {"uid": "other", "ownerReferences": [], "name": "pd-0-else-decode"}
    watched.lws(item)
    watched.foreign.note(KEY, kind=Kind.LEADER_WORKER_SET, name="pd-0-else-decode", owner="x")
    snapshot = watched.observer.slice(SliceKey(*KEY, 0))
    assert snapshot is not None
    assert snapshot.foreign == {(Kind.LEADER_WORKER_SET, "pd-0-else-decode")}
    watched.told()
    watched.lws(item, gone=True)
    assert watched.told() == {SliceKey(*KEY, 0)}
    snapshot = watched.observer.slice(SliceKey(*KEY, 0))
    assert snapshot is not None
    assert snapshot.foreign == frozenset()


def test_a_set_that_lives_again_takes_nothing_over_from_its_earlier_life() -> None:
    world = sliced(1)
    watched = Watched(world)
    world.ds["metadata"]["uid"] = "another-life"
    watched.ds(world.ds)
    snapshot = watched.observer.set(KEY)
    assert snapshot is not None
    assert snapshot.totals["decode"] == (0, 0, 0, 0, 0)


# Reports


def test_a_set_hears_of_a_report_once() -> None:
    woken: list[DisaggregatedKey] = []
    reports = Reports(woken.append)
    report = SliceReport(Waiting("role decode"))
    reports.note(SliceKey(*KEY, 0), report)
    reports.note(SliceKey(*KEY, 0), report)
    assert woken == [KEY]
    assert reports.of(KEY) == {0: report}
    reports.note(SliceKey(*KEY, 0), SliceReport())
    assert woken == [KEY, KEY]
    assert reports.of(KEY) == {}


def test_the_reports_are_complete_when_every_slice_was_looked_at() -> None:
    reports = Reports(lambda _: None)
    reports.note(SliceKey(*KEY, 0), SliceReport())
    assert reports.is_complete(KEY, slices=1)
    assert not reports.is_complete(KEY, slices=2)
    reports.note(SliceKey(*KEY, 1), SliceReport())
    assert reports.is_complete(KEY, slices=2)
    reports.forget_slice(SliceKey(*KEY, 1))
    assert not reports.is_complete(KEY, slices=2)
    reports.forget(KEY)
    assert not reports.is_complete(KEY, slices=1)


def test_a_set_that_cannot_be_read_keeps_no_other_from_being_taken_in() -> None:
    world = sliced(1)
    broken = deepcopy(world.ds)
    broken["metadata"] |= {"name": "broken", "uid": "broken-uid"}
    broken["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"] = "none"
    with capture_logs() as lines:
        watched = Watched(world, broken)
    assert [line["name"] for line in lines] == ["broken"]
    assert watched.families.get(KEY) is not None
