"""Where `lws up` listens: on loopback unless told otherwise, with TLS and a token always."""

import base64
import json
import ssl

import aiohttp
import pytest

from lws.manager.up import LocalControlPlane, UpOptions
from lws.runtime.clock import RealClock


def trusted(plane: LocalControlPlane) -> ssl.SSLContext:
    cluster = json.loads(plane.kubeconfig)["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return ssl.create_default_context(cadata=authority)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_it_speaks_tls_and_lets_in_who_has_the_token(host: str) -> None:
    options = UpOptions(nodes=1, host=host, operator=False)
    async with LocalControlPlane(options, clock=RealClock()) as plane:
        assert plane.url.startswith("https://127.0.0.1:"), "what is reached from here"
        connector = aiohttp.TCPConnector(ssl=trusted(plane))
        async with aiohttp.ClientSession(connector=connector) as session:
            for token, code in (("", 403), ("guessed", 401), (plane.token, 200)):
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                for path in ("/api/v1/nodes", "/sandbox"):
                    async with session.get(plane.url + path, headers=headers) as answer:
                        assert answer.status == code, (path, token)
            with pytest.raises(aiohttp.ClientError):
                await session.get(plane.url.replace("https", "http") + "/api/v1/nodes")


def test_the_default_is_loopback() -> None:
    assert UpOptions().host == "127.0.0.1"


async def test_each_sandbox_has_a_token_of_its_own() -> None:
    planes = [LocalControlPlane(UpOptions(), clock=RealClock()) for _ in range(2)]
    assert planes[0].token != planes[1].token
    assert min(len(plane.token) for plane in planes) >= 32
