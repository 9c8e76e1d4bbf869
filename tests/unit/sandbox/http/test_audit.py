"""The audit log of the server on a port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from lws.runtime.clock import RealClock
from lws.sandbox.http import AuditLog, HttpServer, ListenOptions
from lws.sandbox.server import Server, User

MAPS = "/api/v1/namespaces/default/configmaps"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
JOE = {"Authorization": "Bearer joes"}
JSON = {"Content-Type": "application/json"}
EVE = {"Authorization": "Bearer eves"}


@asynccontextmanager
async def _serving(file: Path, *users: str) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    clock = RealClock()
    options = ListenOptions(
        tokens={"joes": User("joe"), "eves": User("eve")},
        audit=AuditLog(file, clock=clock, users=users),
    )
    server = Server(clock=clock)
    async with (
        server,
        HttpServer(server.handler, options) as http,
        aiohttp.ClientSession() as session,
    ):
        yield http.url, session


def _events(file: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def _told(event: dict[str, Any]) -> tuple[str, str, int]:
    target = event.get("objectRef", {})
    words = [target.get(part, "") for part in ("namespace", "resource", "subresource", "name")]
    return event["verb"], "/".join(filter(None, words)), event["responseStatus"]["code"]


async def test_a_request_is_in_the_log_when_its_answer_comes(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with _serving(file) as (url, session):
        await session.post(url + MAPS, json={"metadata": {"name": "a"}}, headers=JOE)
        (event,) = _events(file)
    assert _told(event) == ("create", "default/configmaps/a", 201)
    assert event["apiVersion"] == "audit.k8s.io/v1"
    assert event["stage"] == "ResponseComplete"
    assert event["user"]["username"] == "joe"
    assert event["requestURI"] == MAPS
    assert event["objectRef"]["apiVersion"] == "v1"


async def test_verbs_are_those_of_the_api_not_of_http(tmp_path: Path) -> None:
    file, merge = tmp_path / "audit.log", {"Content-Type": "application/merge-patch+json"}
    async with _serving(file) as (url, session):
        await session.post(url + MAPS, json={"metadata": {"name": "a"}}, headers=JOE)
        await session.get(f"{url}{MAPS}/a", headers=JOE)
        await session.get(f"{url}{MAPS}?limit=5", headers=JOE)
        await session.patch(f"{url}{MAPS}/a", data=b"{}", headers={**JOE, **merge})
        await session.put(f"{url}{MAPS}/a", json={"metadata": {"name": "a"}}, headers=JOE)
        await session.delete(f"{url}{MAPS}/a", headers=JOE)
        await session.delete(url + MAPS, headers=JOE)
        await session.get(url + ROLES, headers=JOE)
        await session.get(f"{url}/apis", headers=JOE)
    assert [_told(event) for event in _events(file)] == [
        ("create", "default/configmaps/a", 201),
        ("get", "default/configmaps/a", 200),
        ("list", "default/configmaps", 200),
        ("patch", "default/configmaps/a", 200),
        ("update", "default/configmaps/a", 200),
        ("delete", "default/configmaps/a", 200),
        ("deletecollection", "default/configmaps", 200),
        ("list", "clusterroles", 200),
        ("get", "", 200),
    ]
    assert _events(file)[2]["requestURI"] == f"{MAPS}?limit=5"
    assert _events(file)[7]["objectRef"]["apiGroup"] == "rbac.authorization.k8s.io"


async def test_what_is_refused_is_told_with_its_code(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with _serving(file) as (url, session):
        await session.get(f"{url}{MAPS}/none", headers=JOE)
        await session.post(url + MAPS, data=b"{", headers={**JOE, **JSON})
        await session.get(f"{url}{MAPS}?watch=1&resourceVersionMatch=Exact", headers=JOE)
    assert [_told(event)[2] for event in _events(file)] == [404, 400, 422]


async def test_a_watch_is_told_when_it_starts_and_when_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with _serving(file) as (url, session):
        async with session.get(f"{url}{MAPS}?watch=1&timeoutSeconds=1", headers=JOE) as stream:
            assert [one["stage"] for one in _events(file)] == ["ResponseStarted"]
            await stream.read()
        first, last = _events(file)
    assert first["verb"] == last["verb"] == "watch"
    assert last["stage"] == "ResponseComplete"
    assert first["auditID"] == last["auditID"]


async def test_only_the_users_that_are_named_are_told_of(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with _serving(file, "eve") as (url, session):
        await session.get(url + MAPS, headers=JOE)
        await session.get(url + MAPS, headers=EVE)
    assert [event["user"]["username"] for event in _events(file)] == ["eve"]


async def test_who_asks_and_in_whose_name_is_told(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with _serving(file, "joe") as (url, session):
        await session.get(url + MAPS, headers={**JOE, "Impersonate-User": "bob"})
        (event,) = _events(file)
    assert _told(event) == ("list", "default/configmaps", 403)
    assert event["user"]["username"] == "joe"
    assert event["impersonatedUser"] == {"username": "bob", "groups": ["system:authenticated"]}
