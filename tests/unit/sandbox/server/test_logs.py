"""A container's log in the sandbox: the life that its kubelet recorded, in its order."""

import asyncio
from typing import Any

import orjson
import pytest

from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server
from tests.unit.sandbox.server.conftest import Client

PODS = "/api/v1/namespaces/default/pods"
LOG = f"{PODS}/p/log"
RUNNING = {"running": {"startedAt": "2026-01-02T03:04:05Z"}}
ENDED = {
    "terminated": {
        "exitCode": 137,
        "reason": "OOMKilled",
        "startedAt": "2026-01-02T03:00:00Z",
        "finishedAt": "2026-01-02T03:04:00Z",
    }
}


async def made(client: Client, *containers: str, node: str | None = "node-1") -> None:
    listed: list[dict[str, Any]] = [{"name": name, "image": f"{name}:1"} for name in containers]
    listed[0] |= {"command": ["serve"], "args": ["--all"], "env": [{"name": "A", "value": "1"}]}
    spec = {"containers": listed, **({"nodeName": node} if node else {})}
    await client.ask("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})


async def becomes(
    client: Client, state: Any, *, restarts: int = 0, ready: str = "", **more: Any
) -> None:
    entry = {"name": "c", "image": "c:1", "imageID": "", "ready": bool(ready), "state": state}
    entry |= {"restartCount": restarts, **more}
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}] if ready else []
    pod = await client.json("GET", f"{PODS}/p")
    pod["status"] = {"phase": "Running", "conditions": conditions, "containerStatuses": [entry]}
    answer = await client.ask("PUT", f"{PODS}/p/status", pod)
    assert answer.status == 200, answer.body


async def log(client: Client, query: str = "") -> list[str]:
    answer = await client.ask("GET", f"{LOG}?{query}")
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "text/plain"
    return answer.body.decode().splitlines()


async def refused(client: Client, query: str = "") -> tuple[int, str]:
    answer = await client.ask("GET", f"{LOG}?{query}")
    return answer.status, orjson.loads(answer.body)["message"]


async def test_it_tells_the_start_what_would_run_and_that_it_is_ready(client: Client) -> None:
    await made(client, "c")
    await becomes(client, RUNNING, ready="2026-01-02T03:04:06Z")
    assert await log(client) == [
        "sandbox: container c of image c:1 started on node-1",
        "sandbox: no program runs here; on a cluster it would be serve --all",
        "sandbox: environment A=1",
        "sandbox: the pod is ready",
    ]
    assert await log(client, "tailLines=1&timestamps=true") == [
        "2026-01-02T03:04:06Z sandbox: the pod is ready"
    ]
    assert await log(client, "sinceTime=2026-01-02T03:04:06Z") == ["sandbox: the pod is ready"]
    assert await log(client, "tailLines=0") == []
    assert await log(client, "limitBytes=7") == ["sandbox"]


async def test_of_a_restarted_container_the_run_before_is_kept_too(client: Client) -> None:
    await made(client, "c")
    await becomes(client, RUNNING, restarts=1, lastState=ENDED)
    assert len(await log(client)) == 3
    last = "sandbox: container c ended with exit code 137 (OOMKilled)"
    assert (await log(client, "previous=true"))[-1] == last
    await becomes(client, {"waiting": {"reason": "CrashLoopBackOff"}}, lastState=ENDED)
    assert (await log(client))[-1] == last, "it waits, so its last run is the newest"


async def test_a_pod_without_a_node_has_an_empty_log(client: Client) -> None:
    await made(client, "c", node=None)
    assert await log(client) == []


async def test_what_cannot_be_is_refused_in_the_real_servers_words(client: Client) -> None:
    assert (await refused(client))[0] == 404
    await made(client, "c", "d")
    code, words = await refused(client)
    assert (code, words) == (
        400,
        "a container name must be specified for pod p, choose one of: [c d]",
    )
    assert await refused(client, "container=e") == (400, "container e is not valid for pod p")
    waiting = 'container "c" in pod "p" is waiting to start: ContainerCreating'
    assert await refused(client, "container=c") == (400, waiting)
    gone = 'previous terminated container "c" in pod "p" not found'
    assert await refused(client, "container=c&previous=true") == (400, gone)
    assert (await client.ask("POST", LOG, {})).status == 405


@pytest.mark.parametrize(
    "query",
    [
        "tailLines=-1",
        "sinceSeconds=0",
        "limitBytes=0",
        "sinceTime=x",
        "sinceTime=2026-01-01T00:00:00Z&sinceSeconds=1",
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(client: Client, query: str) -> None:
    await made(client, "c")
    code, words = await refused(client, query)
    assert code == 422
    assert query.partition("=")[0] in words


async def test_a_followed_log_goes_on_until_the_container_ends(
    client: Client, server: Server, clock: VirtualClock
) -> None:
    await made(client, "c")
    await becomes(client, RUNNING)
    request = Request("GET", LOG, query=(("follow", "true"), ("tailLines", "0")))
    assert server.handler.media_of_stream(request) == "text/plain"
    heard: list[bytes] = []

    async def listen() -> None:
        async with server.handler.stream(request) as chunks:
            heard.extend([chunk async for chunk in chunks])

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    await becomes(client, RUNNING, ready="2026-01-02T03:04:06Z")
    await asyncio.sleep(0)
    assert not listening.done()
    await becomes(client, RUNNING, restarts=1, lastState=ENDED)
    await listening
    text = b"".join(heard).decode()
    assert text.splitlines()[0] == "sandbox: the pod is ready"
    assert text.splitlines()[-1] == "sandbox: container c ended with exit code 137 (OOMKilled)"
    assert text.count("is ready") == 1


async def test_a_followed_log_ends_with_its_pod(client: Client, server: Server) -> None:
    await made(client, "c")
    await becomes(client, RUNNING)
    request = Request("GET", LOG, query=(("follow", "true"),))
    async with server.handler.stream(request) as chunks:
        assert (await anext(chunks)).startswith(b"sandbox: container c")
        await client.ask("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
        assert [chunk async for chunk in chunks] == []
