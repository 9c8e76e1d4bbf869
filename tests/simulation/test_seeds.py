"""Whole runs by seed: users, failures, crashes and a bad line, judged after every write.

More of them: `python -m benchmarks.simulate --seeds 1000`.
"""

import os
import subprocess
import sys
from functools import cache

import pytest

from lws.manager.simulating import simulate_seed
from lws.simulation.run import Outcome, Plan

PLAN = Plan(disturbed_seconds=300.0, rest_seconds=300.0)
SEEDS = (1, 2, 5, 6, 16, 17)


@cache
def outcome_of(seed: int) -> Outcome:
    return simulate_seed(seed, plan=PLAN)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_breaks_no_rule_comes_to_rest_and_leaves_nothing(seed: int) -> None:
    outcome = outcome_of(seed)
    story = "\n".join(outcome.story)
    assert [str(one) for one in outcome.violations] == [], story
    assert "settled" in story
    assert outcome.writes > 30
    assert outcome.checked > 200


def test_a_seed_repeats_its_run_to_the_byte_in_another_process() -> None:
    seed = SEEDS[0]
    program = (
        "from tests.simulation.test_seeds import outcome_of;"
        f"one = outcome_of({seed}); print(one.revision, one.writes, *one.story, sep='\\n')"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environ, check=True
    )
    here = outcome_of(seed)
    expected = [str(here.revision), str(here.writes), *here.story]
    assert done.stdout.splitlines() == expected
