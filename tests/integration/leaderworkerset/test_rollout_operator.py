"""The operator ends, in order or by SIGKILL, in the middle of rollouts, and is started again."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from harness import kwok, pods
from harness.kube import Json
from tests.integration.leaderworkerset.manifests import PREFIX, pods_in
from tests.integration.leaderworkerset.stage import Stage
from tests.integration.leaderworkerset.worlds import Watched, World

pytestmark = [pytest.mark.timeout(300)]


def _freeze_one_set_in_each_phase(world: World) -> None:
    """Each waits for a pod that is held, or for its user."""
    world.create("starting", replicas=2, hold=True, ready=False)
    world.create("resting", replicas=2)
    started: dict[str, Json] = {"rolling": {}, "surging": {"surge": 1, "unavailable": 0}}
    for name, budgets in started.items():
        world.create(name, replicas=3, **budgets)
        world.push("serve:2", name=name, hold=True)
    world.create("canary", replicas=3, partition=2)
    world.push("serve:2", name="canary")
    world.create("growing", replicas=2)
    world.push("serve:2", name="growing", hold=True)
    world.until(lambda: world.taken("serve:2", "growing") == {1}, what="growing is rolling")
    world.change({"replicas": 4}, name="growing")
    world.create("paused", replicas=2, spec={"paused": True})
    world.push("serve:2", name="paused")
    world.until(
        lambda: (
            world.taken("serve:1", "starting") == {0, 1}
            and world.taken("serve:2", "rolling") == {2}
            and world.taken("serve:2", "surging") == {3}
            and world.has_settled("canary")
            and world.taken("serve:2", "growing") == {1, 2, 3}
            and world.is_true("Paused", "paused")
            and len(world.revisions("paused")) == 2
        ),
        what="each set is in its phase",
    )


@pytest.mark.both_gates
@pytest.mark.usefixtures("healing")
def test_an_operator_killed_in_any_phase_writes_nothing_when_it_is_back_and_goes_on(
    alone: World,
) -> None:
    world = alone
    _freeze_one_set_in_each_phase(world)
    world.rest()
    before = {name: pod["metadata"]["uid"] for name, pod in world.pods.live().items()}
    with world.counting() as count:
        world.operator.kill()
        world.operator.start()
        time.sleep(2)
        assert not world.writes(count)
    assert {name: pod["metadata"]["uid"] for name, pod in world.pods.live().items()} == before
    with (
        world.watched("resting", floor=2, ceiling=2) as resting,
        world.watched("rolling", floor=2, ceiling=3) as rolling,
        world.watched("surging", floor=3, ceiling=4) as surging,
        world.watched("canary", floor=2, ceiling=3) as canary,
        world.watched("growing", floor=1, ceiling=4) as growing,
        world.watched("paused", floor=1, ceiling=2) as paused,
    ):
        world.roll(name="canary", partition=0)
        world.change({"paused": False}, name="paused")
        for name in ("starting", "rolling", "surging", "growing"):
            world.until(
                partial(world.has_settled, name),
                what=f"{name} has settled",
                meanwhile=world.releasing(*range(4), name=name),
            )
        for name in ("canary", "paused"):
            world.until(partial(world.has_settled, name), what=f"{name} has settled")
        world.rest()
    assert not resting.creations()
    assert rolling.creations() == pods_in([0, 1], name="rolling")
    assert surging.creations() == pods_in([0, 1, 2], name="surging")
    assert canary.creations() == pods_in([0, 1], name="canary")
    assert growing.creations() == pods_in([0], name="growing")
    assert paused.creations() == pods_in([0, 1], name="paused")


@pytest.mark.both_gates
def test_an_operator_killed_again_and_again_in_moving_rollouts_keeps_every_bound(
    alone: World,
) -> None:
    world = alone
    budgets = {"one": (0, 1), "two": (0, 2), "more": (2, 1)}
    for name, (surge, unavailable) in budgets.items():
        world.create(name, replicas=4, surge=surge, unavailable=unavailable)
    with (
        world.watched("one", floor=3, ceiling=4) as one,
        world.watched("two", floor=2, ceiling=4) as two,
        world.watched("more", floor=3, ceiling=6) as more,
    ):
        for name in budgets:
            world.push("serve:2", name=name)
        for seconds in (0.1, 0.5, 1.0, 1.7):
            time.sleep(seconds)
            world.operator.kill()
            world.operator.start()
        for name in budgets:
            world.until(partial(world.has_settled, name), what=f"{name} has settled")
        world.rest()
    assert one.creations() == one.deletions() == pods_in(range(4), name="one")
    assert two.creations() == two.deletions() == pods_in(range(4), name="two")
    assert more.creations() == more.deletions()
    # A surge group may be given back before its worker was made.
    whole, late = pods_in(range(6), name="more"), Counter(["more-4-1", "more-5-1"])
    assert whole - late <= more.creations() <= whole


@pytest.mark.both_gates
@pytest.mark.slow
def test_an_open_healing_window_outlives_kills_and_is_closed_by_an_orderly_stop(
    healing: Watched, alone: World
) -> None:
    """The tests before this one, if they ran, have killed the operator as well; none stopped it."""
    world = healing.world
    world.until(lambda: _is_going(world, "sample-0"), what="the broken group is healed")
    assert _strategy(world) == {"type": "OnDelete"}
    assert _kept_partition(world) == "3"
    world.rest()
    _kill_and_see_that_nothing_is_written(world)
    assert _strategy(world) == {"type": "OnDelete"}
    assert world.operator.stop() == 0
    world.until(lambda: _strategy(world)["type"] == "RollingUpdate", what="it is closed")
    assert _strategy(world)["rollingUpdate"]["partition"] == 3
    assert _kept_partition(world) is None
    world.operator.start()
    pods.force_delete(world.kube, world.namespace, "sample-0")
    world.settle()
    healing.require_clean()
    # Group 0 came back under the closed window, so at its old revision, and was updated then.
    assert healing.creations() == healing.deletions() == pods_in([0, 0, 1, 2])


@pytest.fixture(scope="module")
def healing(stage: Stage) -> Iterator[Watched]:
    """A set whose update can go on only by healing, after half a minute: begun early.

    Its broken leader never ends by itself, so the window that is opened for it stays open.
    """
    stage.quiet()
    with World(stage.plane, stage.operator) as world:
        world.create(replicas=3)
        pods.annotate(world.kube, world.namespace, "sample-0", **{kwok.STUCK: "yes"})
        world.break_group(0)
        with world.watched(floor=2, ceiling=3) as watched:
            world.push("serve:2")
            yield watched


def _is_going(world: World, pod: str) -> bool:
    return "deletionTimestamp" in world.pods.live()[pod]["metadata"]


def _strategy(world: World) -> Json:
    found: Json = world.statefulset()["spec"]["updateStrategy"]
    return found


def _kept_partition(world: World) -> str | None:
    annotations: Mapping[str, str] = world.statefulset()["metadata"]["annotations"]
    return annotations.get(f"{PREFIX}partition")


def _kill_and_see_that_nothing_is_written(world: World) -> None:
    with world.counting() as count:
        world.operator.kill()
        world.operator.start()
        time.sleep(2)
        assert not world.writes(count)


def test_what_changed_while_no_operator_ran_is_taken_up(alone: World) -> None:
    world = alone
    world.create("updated", replicas=3)
    world.create("scaled", replicas=3)
    world.create("broken", replicas=1)
    assert world.operator.stop() == 0
    try:
        _unattended(world)
    finally:
        world.operator.start()
    with world.watched("updated", floor=2, ceiling=3) as updated:
        world.until(lambda: world.has_settled("updated"), what="the update was taken up")
    world.until(lambda: world.has_settled("scaled"), what="the scale was taken up")
    world.until(lambda: world.has_settled("broken"), what="the group is whole again")
    assert updated.creations() == updated.deletions() == pods_in(range(3), name="updated")
    assert world.pods.deletions() - updated.deletions() == pods_in([2], name="scaled") + pods_in(
        [0], name="broken"
    )
    world.rest()


def _unattended(world: World) -> None:
    """A user's changes and a container's end; the webhooks that are away refuse nothing here."""
    webhooks = "validatingwebhookconfigurations", "mutatingwebhookconfigurations"
    for resource in webhooks:
        for item in world.kube.items(resource):
            world.kube.delete(resource, item["metadata"]["name"])
    world.push("serve:2", name="updated")
    world.change({"replicas": 2}, name="scaled")
    pods.fail_container(world.kube, world.namespace, "broken-0-1")
