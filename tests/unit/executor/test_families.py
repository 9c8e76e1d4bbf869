"""Which changes of the caches become news of a set and of its groups."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from lws.api import names
from lws.api.apps import decode_revision, decode_statefulset
from lws.api.core import Service, decode_pod_group, decode_service
from lws.client.resources import Resource
from lws.executor.caches import Caches, make_caches
from lws.executor.families import Families, GroupKey, SetKey
from lws.runtime.clock import VirtualClock
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from tests.unit.planner.pods.worlds import KEY, NAMESPACE, a_pod, a_set, encoded

SET = SetKey(NAMESPACE, "lws")
GROUP = GroupKey(NAMESPACE, "lws", 0)


@dataclass
class World:
    """Caches without a server, and what was woken by what they were told."""

    caches: Caches = field(
        default_factory=lambda: make_caches(object(), VirtualClock(), Metrics())  # type: ignore[arg-type]
    )
    woken: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.families = Families(
            self.caches, wake_set=self.woken.append, wake_group=self.woken.append
        )

    def put(self, informer: Informer[Any], thing: Any) -> None:
        """An event brought it."""
        informer._reflection.present(thing)

    def remove(self, informer: Informer[Any], thing: Any) -> None:
        """An event said that it is gone."""
        informer._reflection.absent(thing)

    def foreign(self) -> tuple[str, ...]:
        """What stands in the way of the group."""
        [facts] = self.families.facts(SET)
        return facts.foreign


@pytest.fixture
def world() -> World:
    """A set with the leader of its one group, of a subdomain of its own."""
    world = World()
    world.put(world.caches.sets, a_set())
    unique = {names.SUBDOMAIN_POLICY: "UniquePerReplica", names.SIZE: "1"}
    world.put(world.caches.pods, a_pod(annotations=unique))
    world.families.start()
    world.woken.clear()
    return world


def a_service(name: str = "lws-0", *, owner: str) -> Service:
    kind = "Pod" if owner == "lws-0-uid" else "Gateway"
    document = {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"{name}-service-uid",
            "resourceVersion": "7",
            "labels": {names.NAME: "lws"},
            "ownerReferences": [{"kind": kind, "name": name, "uid": owner, "controller": True}],
        }
    }
    return decode_service(encoded(document))


def test_a_foreign_service_of_a_group_is_news_when_it_comes_and_when_it_goes(world: World) -> None:
    foreign = a_service(owner="somebody")
    world.put(world.caches.services, foreign)
    assert world.foreign() == ("Service lws-0",)
    assert {SET, GROUP} <= set(world.woken)
    world.woken.clear()
    world.remove(world.caches.services, foreign)
    assert world.foreign() == ()
    assert {SET, GROUP} <= set(world.woken)


OTHERS = {names.NAME: "other"}


@pytest.mark.parametrize("kind", ["services", "statefulsets", "podgroups"])
def test_what_stands_in_a_groups_place_is_its_news_though_labelled_as_anothers(kind: str) -> None:
    """A set named like a group of ours has such objects; when they go, the group must go on."""
    client: Any = object()
    gang = Resource("scheduling.test", "v1", "podgroups", "PodGroup")
    caches = make_caches(client, VirtualClock(), Metrics(), pod_groups=gang)
    world = World(caches)
    world.put(caches.sets, a_set())
    world.put(caches.pods, a_pod())
    world.families.start()
    places: dict[str, tuple[Any, Any, str]] = {
        "services": (caches.services, decode_service, "lws-0"),
        "statefulsets": (caches.statefulsets, decode_statefulset, "lws-0"),
        "podgroups": (caches.pod_groups, decode_pod_group, f"lws-0-{KEY}"),
    }
    informer, decode, name = places[kind]
    metadata = {"name": name, "namespace": NAMESPACE, "uid": "theirs", "labels": OTHERS}
    theirs = decode(encoded({"metadata": metadata}))
    for happens in (world.put, world.remove):
        world.woken.clear()
        happens(informer, theirs)
        assert GROUP in world.woken


def test_a_groups_own_service_is_in_nobodys_way(world: World) -> None:
    world.put(world.caches.services, a_service(owner="lws-0-uid"))
    assert world.foreign() == ()
    assert GROUP in world.woken


def test_a_service_of_another_name_wakes_its_set_only(world: World) -> None:
    world.put(world.caches.services, a_service("other-0", owner="somebody"))
    assert world.woken == [SET]
    assert world.foreign() == ()


def test_a_switch_of_the_policy_wakes_every_group(world: World) -> None:
    world.put(world.caches.sets, a_set(policy="None", metadata={"resourceVersion": "2"}))
    assert {SET, GROUP} <= set(world.woken)


@pytest.mark.parametrize("has_gangs", [True, False])
def test_a_group_whose_pod_group_waits_for_its_revision_is_woken_by_it(has_gangs: bool) -> None:
    """Of size 1 it is complete without workers, and nothing may schedule it meanwhile."""
    pod_groups = Resource("scheduling.test", "v1", "podgroups", "PodGroup") if has_gangs else None
    client: Any = object()
    world = World(make_caches(client, VirtualClock(), Metrics(), pod_groups=pod_groups))
    world.put(world.caches.sets, a_set())
    world.put(world.caches.pods, a_pod(annotations={names.SIZE: "1"}))
    world.families.start()
    world.woken.clear()
    labels = {names.NAME: "lws", names.REVISION_KEY: KEY}
    metadata = {"name": "lws-1", "namespace": NAMESPACE, "uid": "u", "labels": labels}
    world.put(world.caches.revisions, decode_revision(encoded({"metadata": metadata})))
    assert (GROUP in world.woken) is has_gangs
