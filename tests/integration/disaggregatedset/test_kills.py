"""The operator is killed between any two writes of a start or a step."""

import random
import time
from functools import partial

import pytest

from harness.operator import Operator
from harness.waiting import eventually
from tests.integration.disaggregatedset.support import Fleet, counting, role


def roles(image: str) -> list[dict[str, object]]:
    return [role("prefill", 2, image=image), role("decode", 3, image=image, surge=2)]


@pytest.mark.parametrize("seed", [1, 2])
def test_an_update_goes_on_where_a_killed_operator_left_it(
    fleet: Fleet, operator: Operator, seed: int
) -> None:
    moments = random.Random(seed)
    fleet.create(roles("example.com/serve:1"))
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change(roles("example.com/serve:2"))
        for _ in range(4):
            # From the next write of the set's on, so that kills fall between writes.
            eventually(partial(_has_moved, fleet, _version(fleet), first), every=0.005)
            time.sleep(moments.random() * 0.08)
            operator.kill()
            operator.start()
            if first not in fleet.revisions():
                break
        fleet.settled()
        seen.require_clean()
    assert first not in fleet.revisions()
    assert len(fleet.lws()) == 2
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    eventually(lambda: len(fleet.kube.items("pods", fleet.namespace)) == 5, what="five pods")


def _has_moved(fleet: Fleet, version: tuple[str, ...], old: str) -> bool:
    return _version(fleet) != version or old not in fleet.revisions()


def _version(fleet: Fleet) -> tuple[str, ...]:
    return tuple(one["metadata"]["resourceVersion"] for one in fleet.lws())
