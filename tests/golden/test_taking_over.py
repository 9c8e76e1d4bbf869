"""Started on objects as the public controller writes them: no write where they are at rest.

The worlds are in `clusters`, one folder each, as a real API server holds them.
"""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import msgspec
import pytest

from lws.api import apps, core, leaderworkerset, names
from lws.api.meta import controller_uid
from lws.client.kubernetes import KubernetesClient
from lws.executor.caches import Caches, make_caches
from lws.executor.families import Families, GroupKey, SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.observe import Observer
from lws.planner.actions import Apply, Delete
from lws.planner.leaderworkerset.plan import Plan, plan
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.planner.meaning import differing_fields
from lws.planner.pods.group import plan_group
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from tests.golden import worlds

AT_REST = (
    "lws-plain",
    "lws-leader-template",
    "lws-unique-per-replica",
    "lws-subgroups",
    "lws-exclusive",
    "lws-canary-held",
)


class World:
    """The caches of a controller that has just listed a golden world."""

    def __init__(self, world: str | worlds.World) -> None:
        stands = worlds.load(world) if isinstance(world, str) else world
        clock = VirtualClock()
        client = cast(KubernetesClient, None)  # nothing here asks a server
        self.caches = make_caches(client, clock, Metrics())
        self._fill(self.caches, stands)
        self.families = Families(self.caches, wake_set=lambda _: None, wake_group=lambda _: None)
        self.families.start()
        foreign = ForeignObjects(client, clock)
        self.observer = Observer(
            caches=self.caches, families=self.families, foreign=foreign, clock=clock
        )
        self.now = worlds.latest_moment(stands)

    @staticmethod
    def _fill(caches: Caches, world: worlds.World) -> None:
        def read(kind: str) -> list[bytes]:
            return [msgspec.json.encode(item) for item in world[kind]]

        for data in read("leaderworkersets"):
            caches.sets.store.put(leaderworkerset.decode(data))
        for data in read("statefulsets"):
            caches.statefulsets.store.put(apps.decode_statefulset(data))
        for data in read("pods"):
            caches.pods.store.put(core.decode_pod(data))
        for data in read("services"):
            service = core.decode_service(data)
            if names.NAME in service.metadata.labels:
                caches.services.store.put(service)
        for data in read("controllerrevisions"):
            revision = apps.decode_revision(data)
            if names.STATEFULSET_REVISION_HASH not in revision.metadata.labels:
                caches.revisions.store.put(revision)

    def sets(self) -> list[SetKey]:
        return [
            SetKey(lws.metadata.namespace, lws.metadata.name)
            for lws in self.caches.sets.store.values()
        ]

    def snapshot(self, key: SetKey) -> LeaderWorkerSetSnapshot:
        snapshot = self.observer.snapshot(key)
        assert snapshot is not None
        return LeaderWorkerSetSnapshot(
            **{name: getattr(snapshot, name) for name in snapshot.__slots__} | {"now": self.now}
        )

    def plan(self, key: SetKey) -> Plan:
        return plan(self.snapshot(key))

    def status(self, key: SetKey) -> StatusPlan:
        planned = self.plan(key)
        return plan_status(
            self.snapshot(key),
            wanted=planned.wanted,
            restarts=planned.restarts,
            trouble=Trouble(),
        )


@pytest.mark.parametrize("world", [*AT_REST, "ds-at-rest", "ds-slices"])
def test_nothing_is_written_in_a_world_at_rest(world: str) -> None:
    taken = World(world)
    assert taken.sets()
    for key in taken.sets():
        planned = taken.plan(key)
        assert [action for strand in planned.strands for action in strand] == []
        assert planned.restart_deletes == ()
        assert taken.status(key).status is None


@pytest.mark.parametrize("world", [*AT_REST, "lws-mid-update-surge", "ds-at-rest"])
def test_no_group_gets_another_child(world: str) -> None:
    taken = World(world)
    for key in taken.sets():
        groups = taken.families.facts(key)
        assert groups
        for facts in groups:
            snapshot = taken.families.group(GroupKey(*key, facts.index))
            assert snapshot is not None
            differing = partial(differing_fields, kind="StatefulSet")
            assert plan_group(snapshot, differing=differing) == ()


def test_every_group_is_ready_and_of_one_revision() -> None:
    taken = World("lws-plain")
    (key,) = taken.sets()
    facts = taken.families.facts(key)
    assert [one.index for one in facts] == [0, 1]
    assert all(one.ready and one.updated_key == "9fd89658" for one in facts)


def test_an_update_in_the_middle_waits_for_its_surge_as_the_public_controller_does() -> None:
    taken = World("lws-mid-update-surge")
    (key,) = taken.sets()
    planned = taken.plan(key)
    assert [action for strand in planned.strands for action in strand] == []
    assert planned.wanted == "758b5cccfc"
    assert taken.status(key).status is None


def test_an_update_in_the_middle_goes_on_when_its_surge_is_ready() -> None:
    taken = World("lws-mid-update-surge")
    (key,) = taken.sets()
    snapshot = taken.snapshot(key)
    groups = tuple(
        one if one.ready else replace_ready(one, since=taken.now) for one in snapshot.groups
    )
    planned = plan(
        LeaderWorkerSetSnapshot(
            **{name: getattr(snapshot, name) for name in snapshot.__slots__} | {"groups": groups}
        )
    )
    (apply,) = [a for strand in planned.strands for a in strand if isinstance(a, Apply)]
    rolling = apply.body["spec"]["updateStrategy"]["rollingUpdate"]
    assert rolling == {"partition": 2, "maxUnavailable": 2}
    assert apply.body["spec"]["replicas"] == 6
    live = snapshot.document["spec"]["template"]
    assert (
        differing_fields(
            {"template": apply.body["spec"]["template"]}, {"template": live}, kind="StatefulSetSpec"
        )
        == []
    )
    assert not [a for strand in planned.strands for a in strand if isinstance(a, Delete)]


def replace_ready(facts: Any, *, since: float) -> Any:
    return replace(facts, ready=True, unready_since=None, ready_since=since, updated_key=facts.key)


def test_a_deleted_statefulset_of_an_earlier_life_is_foreign() -> None:
    taken = World("lws-plain")
    (key,) = taken.sets()
    statefulset = taken.caches.statefulsets.store.get(namespace=key.namespace, name=key.name)
    assert statefulset is not None
    assert controller_uid(statefulset.metadata.owner_references)
    other = msgspec.structs.replace(
        statefulset, metadata=msgspec.structs.replace(statefulset.metadata, owner_references=())
    )
    taken.caches.statefulsets.store.put(other)
    planned = taken.plan(key)
    assert planned.strands == ()
    status = taken.status(key).status
    assert status is not None
    conflict = next(one for one in status["conditions"] if one["type"] == "Conflict")
    assert conflict["status"] == "True"
    assert "StatefulSet plain" in conflict["message"]
