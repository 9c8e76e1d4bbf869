"""Every state of small worlds: no write breaks a promise, and every update ends.

The StatefulSet controller that takes any group it may, in any order, does all that it does with
its gate off or on, and where the planner is silent nothing that is due may stand; so that one is
searched widest, the exact ones less. `python -m benchmarks.rollout_check` goes further.
"""

import pytest

from tests.property.rollout.asking import Planning
from tests.property.rollout.model import Form
from tests.property.rollout.search import searched
from tests.property.rollout.worlds import Size, worlds

EVERY_ORDER: tuple[Form, ...] = ("any", "absent")
EXACT: tuple[Form, ...] = ("one at a time", "many at a time")

SIZES = [
    (Size(0, 1, 1, users=1, faults=1), EVERY_ORDER + EXACT),
    (Size(1, 2, 2, users=1, faults=1), EVERY_ORDER + EXACT),
    (Size(2, 2, 2, users=0, faults=1), EVERY_ORDER + EXACT),
    (Size(2, 2, 2, users=1, faults=0), EVERY_ORDER),
    (Size(2, 1, 1, users=1, faults=1), EVERY_ORDER),
    (Size(3, 1, 1, users=0, faults=1), EVERY_ORDER),
    (Size(3, 1, 1, users=1, faults=0), EVERY_ORDER),
    (Size(3, 2, 2, users=0, faults=0), EVERY_ORDER),
    (Size(4, 1, 2, users=0, faults=0), EVERY_ORDER),
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("size", "forms"), SIZES, ids=[str(tuple(size)) for size, _ in SIZES])
def test_no_promise_is_broken_and_every_update_ends(size: Size, forms: tuple[Form, ...]) -> None:
    planning = Planning()
    states = 0
    for start in worlds(size, forms):
        found = searched(start.world, start.states, planning)
        states += found.states
        assert not found.examples, (start.name, found.examples)
    assert states > 100 * size.replicas
