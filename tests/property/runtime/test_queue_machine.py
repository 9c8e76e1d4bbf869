"""The work queue against a model that remembers only what is wanted, and when."""

import asyncio
from collections import defaultdict

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lws.runtime.backoff import Backoff
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.queue import QueueShutDown, WorkQueue

KEYS = st.sampled_from("abcde")
METRICS = Metrics()
FOLD = 0.02


def take(queue: WorkQueue[str]) -> str:
    """A key that is ready: `get` then never waits, so no event loop is needed."""
    try:
        queue.get().send(None)
    except StopIteration as answer:
        return str(answer.value)
    raise AssertionError("get waits although a key is ready")


class QueueMachine(RuleBasedStateMachine):
    """Any order of calls."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.queue: WorkQueue[str] = WorkQueue(
            clock=self.clock, backoff=Backoff(base=1, cap=8, jitter=0), metrics=METRICS, name="m"
        )
        self.due: dict[str, float] = {}
        self.running: set[str] = set()
        self.failures: dict[str, int] = defaultdict(int)
        self.turns: dict[str, tuple[int, float]] = {}  # since which step it is ready, and due when
        self.step = 0

    def want(self, key: str, seconds: float) -> None:
        """The earliest wish counts; a key that is due stays due."""
        due = self.clock.monotonic() + seconds
        if key not in self.ready():
            self.due[key] = min(due, self.due.get(key, due))

    def ready(self) -> set[str]:
        now = self.clock.monotonic()
        return {key for key, due in self.due.items() if due <= now and key not in self.running}

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.want(key, FOLD)

    @rule(key=KEYS, seconds=st.sampled_from([0.0, 0.01, 1.0, 60.0]))
    def add_after(self, key: str, seconds: float) -> None:
        self.queue.add_after(key, seconds)
        self.want(key, seconds)

    @rule(key=KEYS)
    def retry(self, key: str) -> None:
        seconds = self.queue.retry(key)
        assert seconds == min(8, 2 ** self.failures[key])
        self.failures[key] += 1
        self.want(key, seconds)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)
        self.failures[key] = 0

    @rule(seconds=st.sampled_from([0.001, 0.02, 0.5, 10.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.ready())
    @rule()
    def get(self) -> None:
        ready = self.ready()
        key = take(self.queue)
        assert key in ready
        assert self.turns[key] == min(self.turns.values()), "not first come, first served"
        del self.turns[key]
        del self.due[key]
        self.running.add(key)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.running)))
        self.running.remove(key)
        self.queue.done(key)

    @invariant()
    def as_many_are_ready_as_are_wanted(self) -> None:
        assert len(self.queue) == len(self.ready())
        self.step += 1
        for key in self.ready():
            self.turns.setdefault(key, (self.step, self.due[key]))

    def teardown(self) -> None:
        for key in sorted(self.running):
            self.queue.done(key)
        self.running.clear()
        self.clock.advance(100)
        assert {take(self.queue) for _ in range(len(self.queue))} == set(self.due)


QueueMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestQueue = QueueMachine.TestCase


@settings(max_examples=60, deadline=None)
@given(
    adds=st.lists(st.tuples(KEYS, st.sampled_from([0.0, 0.005, 0.03, 2.0])), max_size=40),
    seconds=st.lists(st.sampled_from([0.0, 0.01, 0.5, 5.0]), min_size=1, max_size=8),
    workers=st.integers(min_value=1, max_value=3),
)
def test_every_addition_is_followed_by_a_pass_and_no_key_has_two_at_once(
    adds: list[tuple[str, float]], seconds: list[float], workers: int
) -> None:
    passes = asyncio.run(work(adds, seconds, workers))
    for key, added in passes.added.items():
        assert passes.started[key][-1] >= added[-1]
        assert len(passes.started[key]) <= len(added)


class Passes:
    def __init__(self) -> None:
        self.added: dict[str, list[float]] = defaultdict(list)
        self.started: dict[str, list[float]] = defaultdict(list)
        self.running: set[str] = set()


async def work(adds: list[tuple[str, float]], seconds: list[float], workers: int) -> Passes:
    """Workers that take their time, while keys are added."""
    clock, passes = VirtualClock(), Passes()
    queue: WorkQueue[str] = WorkQueue(clock=clock, metrics=METRICS, name="w")

    async def worker() -> None:
        while True:
            try:
                key = await queue.get()
            except QueueShutDown:
                return
            assert key not in passes.running
            passes.running.add(key)
            passes.started[key].append(clock.monotonic())
            await clock.sleep(seconds[len(passes.started[key]) % len(seconds)])
            passes.running.remove(key)
            queue.done(key)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(workers):
            tasks.create_task(worker())
        for key, wait in adds:
            passes.added[key].append(clock.monotonic())
            queue.add(key)
            await clock.sleep(wait)
        await clock.run_for(1000)
        assert len(queue) == 0, "a key is ready, and nobody was woken"
        queue.shut_down()
    return passes
