"""What the runtime itself costs: a list of pods, watch events, queue operations.

    python -m benchmarks.decode --pods 10000

The pod is one that a real API server gave, managedFields included, under many names. No network:
bytes go straight into the informer. Each time is the best of three.
"""

import argparse
import asyncio
import gc
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from lws.api.core import Pod, decode_pod
from lws.client.requests import Request
from lws.client.resources import PODS
from lws.runtime.clock import RealClock
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.queue import WorkQueue

SAMPLE = Path(__file__).parents[1] / "tests/golden/clusters/lws-plain/pods.json"
PAGE = 500


class Canned:
    """A client whose list and whose watch are ready."""

    def __init__(self, pods: list[bytes], lines: list[bytes]) -> None:
        self._pages = [pods[start : start + PAGE] for start in range(0, len(pods), PAGE)]
        self._bodies = [self._body(number) for number in range(len(self._pages))]
        self._lines = lines
        self.released = asyncio.Event()
        self.consumed = asyncio.Event()

    def _body(self, number: int) -> bytes:
        rest = "next" if number + 1 < len(self._pages) else ""
        metadata = json.dumps({"resourceVersion": "1000000", "continue": rest}).encode()
        return b'{"metadata":%s,"items":[%s]}' % (metadata, b",".join(self._pages[number]))

    async def request_bytes(self, request: Request) -> bytes:
        del request
        return self._bodies.pop(0)

    @asynccontextmanager
    async def watch_lines(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        del request
        yield self._events()

    async def _events(self) -> AsyncIterator[bytes]:
        await self.released.wait()
        for line in self._lines:
            yield line
        self.consumed.set()
        await asyncio.get_running_loop().create_future()


def pods_like(sample: dict[str, Any], count: int, *, version: int) -> list[bytes]:
    """So many pods, of groups of four."""
    pods = []
    for number in range(count):
        metadata = {
            **sample["metadata"],
            "name": f"bench-{number // 4}-{number % 4}",
            "uid": f"{number:032x}",
            "resourceVersion": str(version + number),
        }
        pods.append(json.dumps({**sample, "metadata": metadata}, separators=(",", ":")).encode())
    return pods


async def fill(pods: list[bytes], lines: list[bytes]) -> tuple[float, float, Informer[Pod]]:
    """Seconds for the list and for the events."""
    client = Canned(pods, lines)
    informer: Informer[Pod] = Informer(
        client=client, resource=PODS, decode=decode_pod, clock=RealClock(), metrics=Metrics()
    )
    informer.store.add_index("set", lambda pod: [pod.metadata.labels.name])
    informer.store.add_index(
        "group", lambda pod: [(pod.metadata.labels.name, pod.metadata.labels.group_index)]
    )
    begin = time.perf_counter()
    task = asyncio.create_task(informer.run())
    await informer.synced()
    listed = time.perf_counter()
    client.released.set()
    await client.consumed.wait()
    end = time.perf_counter()
    task.cancel()
    return listed - begin, end - listed, informer


async def queue_operations(count: int) -> float:
    """Seconds for so many rounds of add, get, done on a thousand keys."""
    queue: WorkQueue[str] = WorkQueue(clock=RealClock(), fold_seconds=0.0, metrics=Metrics())
    keys = [f"namespace/set-{number}" for number in range(1000)]
    begin = time.perf_counter()
    for number in range(count):
        queue.add(keys[number % 1000])
        queue.done(await queue.get())
    return time.perf_counter() - begin


def best(run: Callable[[], Any]) -> float:
    """Seconds of the fastest of three."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def resident_kb() -> int:
    """Memory of this process now."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=10_000)
    count = parser.parse_args().pods
    sample = json.loads(SAMPLE.read_text())[0]
    pods = pods_like(sample, count, version=1)
    lines = [
        b'{"type":"MODIFIED","object":%s}' % pod
        for pod in pods_like(sample, count, version=2_000_000)
    ]
    raws = [msgspec.Raw(pod) for pod in pods]
    print(f"{count} pods of {len(pods[0])} bytes")
    decode = best(lambda: [decode_pod(raw) for raw in raws])
    print(f"decode into a view      {decode / count * 1e6:8.1f} µs a pod")
    dicts = best(lambda: [msgspec.json.decode(raw) for raw in raws])
    print(f"decode into dicts       {dicts / count * 1e6:8.1f} µs a pod")
    before = resident_kb()
    runs = [asyncio.run(fill(pods, lines)) for _ in range(3)]
    listed, watched = min(run[0] for run in runs), min(run[1] for run in runs)
    print(f"list into the store     {listed / count * 1e6:8.1f} µs a pod, two indexes")
    print(f"event into the store    {watched / count * 1e6:8.1f} µs an event, two indexes")
    print(f"memory                  {(resident_kb() - before) / 3 / count:8.2f} KB a pod")
    begin = time.perf_counter()
    gc.collect()
    print(f"a full collection after {(time.perf_counter() - begin) * 1e3:8.1f} ms")
    operations = min(asyncio.run(queue_operations(50_000)) for _ in range(3))
    print(f"queue                   {50_000 / operations:8.0f} rounds of add, get, done a second")


if __name__ == "__main__":
    main()
