"""Runs many tests side by side on one control plane: rollouts mostly wait, and wait together.

A test that takes `world` is called in a thread of its own; the first one that is asked for starts
all of the session that belong to the same control plane, the slow ones first. pytest still reports
each by itself. A test that takes `alone` runs when all those have ended, with nobody beside it.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeGuard

import pytest

from harness.operator import Operator
from harness.plane import Plane
from tests.integration.leaderworkerset.worlds import World
from tests.scheduling import WHOLE

AT_ONCE = 10
"""More than this and two cores make rollouts so slow that their timeouts mean nothing."""
AT_ONCE_BESIDE_OTHERS = 6
"""Where other processes have control planes of their own at the same time."""


class Stage:
    """A control plane with an operator, and the tests that run on it."""

    def __init__(self, plane: Plane, operator: Operator, parameters: Mapping[str, str]) -> None:
        """`parameters`: those of a test that runs here."""
        self.plane, self.operator = plane, operator
        self._parameters = parameters
        at_once = AT_ONCE_BESIDE_OTHERS if "PYTEST_XDIST_WORKER" in os.environ else AT_ONCE
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="world")
        self._results: dict[str, Future[None]] = {}

    def result(self, asked: pytest.Function) -> "Future[None]":
        """Of this test, which runs or has run."""
        if asked.nodeid not in self._results:
            for item in self._companions(asked):
                self._results[item.nodeid] = self._pool.submit(self._play, item)
        return self._results[asked.nodeid]

    def _companions(self, asked: pytest.Function) -> Sequence[pytest.Function]:
        """Where nobody knows which tests are this process's, each comes by itself."""
        worker: Mapping[str, object] | None = getattr(asked.config, "workerinput", None)
        if worker is not None and not worker[WHOLE]:
            return [asked]
        items = [item for item in asked.session.items if self._is_ours(item)]
        return sorted(items, key=lambda item: item.get_closest_marker("slow") is None)

    def _is_ours(self, item: pytest.Item) -> TypeGuard[pytest.Function]:
        return (
            isinstance(item, pytest.Function)
            and {"stage", "world"} <= set(item.fixturenames)
            and self._parameters.items() <= item.callspec.params.items()
        )

    def _play(self, item: pytest.Function) -> None:
        own = item.callspec.params
        arguments = {key: own[key] for key in own.keys() - self._parameters.keys()}
        with World(self.plane, self.operator) as world:
            item.obj(world=world, **arguments)

    def quiet(self) -> None:
        """Wait until all tests that were started have ended."""
        wait(self._results.values())

    def close(self) -> None:
        """Start no more, wait for those that run."""
        self._pool.shutdown(wait=True, cancel_futures=True)
