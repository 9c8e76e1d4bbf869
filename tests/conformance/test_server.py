"""The same requests, in the same order, to a real API server and to the sandbox."""

import asyncio
import http.client
import re
import secrets
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from harness.controlplane import ControlPlane
from harness.plane import RESTRICTED
from lws.client.requests import Request
from lws.client.resources import CRDS
from lws.runtime.clock import RealClock
from lws.sandbox.http import HttpWebhooks
from lws.sandbox.server import ADMIN_USER, ApiStatus, Server, User
from lws.sandbox.server.admission import Webhooks
from lws.sandbox.server.authentication.users import ANONYMOUS
from lws.sandbox.server.presentation import refusal_response
from tests.conformance.server.comparing import differences, meaning
from tests.conformance.server.requests import Step, steps

pytestmark = pytest.mark.real

_REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
_TRIES, _PAUSE = 200, 0.1
LATE_PATHS = (
    "/apis/apiextensions.k8s.io/",
    f"{_REGISTRATION}/mutatingwebhookconfigurations",
    f"{_REGISTRATION}/validatingwebhookconfigurations",
)
NOBODY = ""
USERS = {
    None: ADMIN_USER,
    NOBODY: ANONYMOUS,
    RESTRICTED: User(RESTRICTED, ("system:authenticated",)),
}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: str
    warnings: tuple[str, ...]


def _token_in(kubeconfig: Path) -> str:
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    token: str = config["users"][0]["user"]["token"]
    return token


class Real:
    """The real API server, by plain requests."""

    def __init__(self, plane: ControlPlane) -> None:
        files = {None: plane.admin_kubeconfig, RESTRICTED: plane.restricted_kubeconfig}
        self._tokens = {who: _token_in(file) for who, file in files.items()}
        context = ssl.create_default_context(cafile=str(plane.server_files.ca))
        self._connection = http.client.HTTPSConnection("127.0.0.1", plane.port, context=context)

    def ask(self, step: Step) -> Answer:
        headers = [("Accept", step.accept), ("User-Agent", "curl/1"), *step.headers]
        if step.asker != NOBODY:
            headers.append(("Authorization", f"Bearer {self._tokens[step.asker]}"))
        body = b"" if step.body is None else step.body.encode()
        if step.body is not None:
            headers += [("Content-Type", step.content_type), ("Content-Length", str(len(body)))]
        self._connection.putrequest(step.method, step.path)
        for name, value in headers:
            self._connection.putheader(name, value)
        self._connection.endheaders(body)
        answer = self._connection.getresponse()
        warnings = tuple(answer.headers.get_all("Warning") or ())
        return Answer(answer.status, answer.read().decode(), warnings)

    def close(self) -> None:
        self._connection.close()


async def _told(real: "Real", step: Step) -> Answer:
    """The real server's answer; the one that is waited for, if it comes."""
    for _ in range(_TRIES):
        answer = real.ask(step)
        if step.until in (0, answer.status):
            break
        await asyncio.sleep(_PAUSE)
    return answer


async def _settle(step: Step) -> None:
    """A definition is served or gone, a webhook is asked, a moment after the answer."""
    if step.path.startswith(LATE_PATHS) and step.method != "GET":
        await asyncio.sleep(2)


async def _ask(server: Server, step: Step) -> Answer:
    path, _, query = step.path.partition("?")
    pairs = tuple(
        (unquote(name), unquote(value))
        for name, _, value in (part.partition("=") for part in query.split("&") if part)
    )
    request = Request(
        step.method,
        path,
        query=pairs,
        body=None if step.body is None else step.body.encode(),
        content_type=step.content_type,
    )
    headers = {"accept": step.accept, "user-agent": "curl/1"}
    try:
        user = server.handler.acting(request, USERS[step.asker], step.headers)
        user = user or USERS[step.asker]
        answer = await server.handler.handle(request, headers=headers, user=user)
    except ApiStatus as refusal:
        answer = refusal_response(refusal)
    warnings = re.findall(r'299 - "(?:[^"\\]|\\.)*"', answer.headers.get("warning", ""))
    return Answer(answer.status, answer.body.decode(), tuple(warnings))


@pytest.fixture
def real(quiet_plane: ControlPlane) -> Iterator[Real]:
    client = Real(quiet_plane)
    yield client
    client.close()


async def _sandbox(plane: ControlPlane, webhooks: HttpWebhooks) -> Server:
    """A server with the definitions that the real one has."""
    server = Server(clock=RealClock(), admission=Webhooks(webhooks))
    for definition in plane.kube.items("customresourcedefinitions"):
        fresh = {"metadata": {"name": definition["metadata"]["name"]}, "spec": definition["spec"]}
        await server.api.create(CRDS, fresh)
    return server


@asynccontextmanager
async def closing_webhooks() -> AsyncIterator[HttpWebhooks]:
    """Calls to webhooks over the network."""
    webhooks = HttpWebhooks()
    try:
        yield webhooks
    finally:
        await webhooks.close()


_FILES = (
    "autoscalers",
    "basics",
    "builtin",
    "custom",
    "jobs",
    "limits",
    "malformed",
    "networking",
    "policies",
    "quotas",
    "rights",
    "security",
    "tokens",
)


@pytest.mark.parametrize("name", _FILES)
async def test_the_answers_are_the_same(name: str, real: Real, quiet_plane: ControlPlane) -> None:
    tag = secrets.token_hex(4)
    wanted = steps(name, ns=f"same-{tag}", group=f"g{tag}.example.com")
    found: list[str] = []
    async with closing_webhooks() as webhooks, await _sandbox(quiet_plane, webhooks) as server:
        for step in wanted:
            if step.method == "WAIT":
                await asyncio.sleep(float(step.path))
                continue
            theirs, ours = await _told(real, step), await _ask(server, step)
            await _settle(step)
            found += [f"{step}\n    {line}" for line in _compared(step, theirs, ours)]
    same = len(wanted) - len({line.partition("\n")[0] for line in found})
    assert not found, "\n".join([f"{same} of {len(wanted)} answers are the same", *found])


def _compared(step: Step, theirs: Answer, ours: Answer) -> Iterator[str]:
    if theirs.status != ours.status:
        yield f"status: real {theirs.status}, ours {ours.status}: {ours.body[:300]}"
        return
    if theirs.warnings != ours.warnings:
        yield f"warnings: real {theirs.warnings}, ours {ours.warnings}"
    left, right = meaning(theirs.body), meaning(ours.body)
    for line in differences(left, right):
        if not any(word in line.partition(":")[0] for word in step.ignored):
            yield line
