"""The sandbox: `python -m benchmarks.sandbox [--groups N] [--size S]`.

Everything is one process. CPU is user and system; wall times are of this machine as it is now.
What starts is measured in processes of their own, the fewest of several runs. Requests go through
the handler, as those of the operator do, and over HTTPS, as those of kubectl do.
"""

import argparse
import asyncio
import resource
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from lws.api import names
from lws.client import resources
from lws.client.requests import Request
from lws.manager.up import LocalControlPlane, UpOptions
from lws.manager.up.simulated import SimulationOptions, simulate
from lws.runtime.clock import RealClock, VirtualClock
from lws.runtime.logs import configure_logs
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process, collect_seldom

PODS = "/api/v1/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
STARTS = 5

PHASES = """
import resource, sys
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
laps = [("interpreter", cpu())]
def lap(name):
    laps.append((name, cpu()))
import asyncio, gc
gc.disable()
import lws.cli.main, lws.cli.up
lap("command line")
import lws.manager.up.run
from lws.manager.up import LocalControlPlane, UpOptions
from lws.runtime.clock import RealClock
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process, collect_seldom
lap("imports")
async def main():
    clock = RealClock()
    plane = LocalControlPlane(UpOptions(), clock=clock)
    lap("server, keys")
    async with plane:
        lap("CRDs, webhooks, nodes, listening")
        process = Process(clock=clock)
        await plane.start_operator(process, Metrics())
        lap("operator")
        before = 0.0
        for name, at in laps:
            print(f"{at - before:.3f} {name}")
            before = at
        sys.stdout.flush()
        import os
        os._exit(0)
asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.cpu:6.2f} CPU s, {self.wall:6.2f} s"


def cpu_seconds(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


async def cost_of(work: Awaitable[Any]) -> Cost:
    wall, cpu = time.perf_counter(), cpu_seconds()
    await work
    return Cost(time.perf_counter() - wall, cpu_seconds() - cpu)


def memory_mb() -> float:
    """Resident now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def show_starts() -> None:
    best: dict[str, float] = {}
    for _ in range(STARTS):
        done = subprocess.run([sys.executable, "-c", PHASES], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            seconds, _, name = line.partition(" ")
            best[name] = min(best.get(name, 1e9), float(seconds))
    for name, value in best.items():
        print(f"  {value:6.2f} CPU s  {name}")
    print(f"  {sum(best.values()):6.2f} CPU s  lws up, until it is ready")
    helps = []
    for _ in range(STARTS):
        before = cpu_seconds(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "lws", "--help"], stdout=subprocess.DEVNULL)
        helps.append(cpu_seconds(resource.RUSAGE_CHILDREN) - before)
    print(f"  {min(helps):6.2f} CPU s  lws --help")


def set_of(groups: int, size: int) -> dict[str, Any]:
    container = {"name": "main", "image": "i:1", "resources": {"limits": {"cpu": "1"}}}
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": "big"},
        "spec": {
            "replicas": groups,
            "leaderWorkerTemplate": {
                "size": size,
                "workerTemplate": {"spec": {"containers": [container]}},
            },
        },
    }


async def until_ready(plane: LocalControlPlane, clock: VirtualClock, groups: int) -> None:
    api = plane.server.api
    ready = 0
    while ready < groups:
        await clock.sleep(1.0)
        lws = api.get(resources.LEADERWORKERSETS, namespace="default", name="big")
        ready = lws.get("status", {}).get("readyReplicas") or 0


async def show_scale(groups: int, size: int) -> None:
    clock = VirtualClock()
    empty = memory_mb()
    nodes = max(10, groups * size // 100 + 1)
    async with LocalControlPlane(UpOptions(nodes=nodes, listens=False), clock=clock) as plane:
        process = Process(clock=clock)
        await plane.start_operator(process, Metrics())
        await plane.apply([set_of(groups, size)], namespace="default")
        cost = await cost_of(until_ready(plane, clock, groups))
        print(f"  {cost}  until {groups * size} pods in {groups} groups on {nodes} nodes are ready")
        held = memory_mb() - empty
        print(f"  {held:6.0f} MB  for them, {held * 1000 / groups / size:.1f} kB a pod")
        await show_requests(plane)
        process.stop("measured")
        await end_tasks()


async def show_requests(plane: LocalControlPlane) -> None:
    handler = plane.server.handler

    async def ask(request: Request) -> bytes:
        response = await handler.handle(request)
        assert response.status < 300, response.body
        return response.body

    for what, query in (
        ("list all pods, JSON", ()),
        ("list 500 pods of them", (("limit", "500"),)),
        ("list one group by its label", (("labelSelector", f"{names.GROUP_INDEX}=7"),)),
    ):
        cost = await cost_of(ask(Request("GET", PODS, query=query)))
        print(f"  {cost}  {what}")
    await show_rates("in process", ask, 2000)


async def show_rates(where: str, ask: Callable[[Request], Awaitable[bytes]], count: int) -> None:
    kind = "application/json"

    async def create(number: int) -> None:
        body = orjson.dumps({"metadata": {"name": f"c-{number}"}, "data": {"a": "b"}})
        await ask(Request("POST", CONFIG_MAPS, body=body, content_type=kind))

    async def read(number: int) -> None:
        await ask(Request("GET", f"{CONFIG_MAPS}/c-{number}"))

    async def patch(number: int) -> None:
        merge = "application/merge-patch+json"
        body = b'{"data":{"a":"c"}}'
        await ask(Request("PATCH", f"{CONFIG_MAPS}/c-{number}", body=body, content_type=merge))

    async def apply(number: int) -> None:
        body = orjson.dumps(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"c-{number}"},
                "data": {"b": "c"},
            }
        )
        path, query = f"{CONFIG_MAPS}/c-{number}", (("fieldManager", "bench"),)
        media = "application/apply-patch+yaml"
        await ask(Request("PATCH", path, query=query, body=body, content_type=media))

    async def delete(number: int) -> None:
        await ask(Request("DELETE", f"{CONFIG_MAPS}/c-{number}"))

    for work in (create, read, patch, apply, delete):
        cost = await cost_of(in_turn(work, count))
        print(f"  {count / cost.cpu:6.0f} for one CPU second  {work.__name__} {where}")


async def in_turn(work: Callable[[int], Awaitable[None]], count: int) -> None:
    for number in range(count):
        await work(number)


async def show_https() -> None:
    plane = LocalControlPlane(UpOptions(operator=False), clock=RealClock())
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {plane.token}"}
    connector = aiohttp.TCPConnector(ssl=trust)
    async with plane, aiohttp.ClientSession(headers=headers, connector=connector) as session:

        async def ask(request: Request) -> bytes:
            kind = {"Content-Type": request.content_type} if request.content_type else {}
            url = plane.url + request.path
            query = list(request.query)
            async with session.request(
                request.method, url, params=query, data=request.body, headers=kind
            ) as answer:
                assert answer.status < 300
                return await answer.read()

        await show_rates("over HTTPS, client in the same process", ask, 500)


async def end_tasks() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def show_simulator(groups: int, size: int) -> None:
    old = set_of(groups, size)
    new = orjson.loads(orjson.dumps(old).replace(b"i:1", b"i:2"))
    wall, cpu = time.perf_counter(), cpu_seconds()
    done = simulate(old=[old], new=[new], options=SimulationOptions())
    cost = Cost(time.perf_counter() - wall, cpu_seconds() - cpu)
    assert done.is_complete
    print(
        f"  {done.seconds / cost.cpu:6.0f} virtual seconds for one CPU second: {groups} groups of"
        f" {size} brought up and rolled ({done.seconds:.0f} virtual s, {cost})"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox", description=__doc__)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--size", type=int, default=10)
    options = parser.parse_args(arguments)
    configure_logs(clock=RealClock(), level="error")
    print("start")
    show_starts()
    print("the simulator")
    show_simulator(100, 4)
    print("over the network")
    asyncio.run(show_https())
    print("scale")
    collect_seldom()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(show_scale(options.groups, options.size))


if __name__ == "__main__":
    main(sys.argv[1:])
