"""Credentials that a program prints; the programs are small shell scripts."""

import asyncio
import os
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from lws.base.times import format_time
from lws.client import exec_plugin, requests
from lws.client.connection import AuthenticationConfig, CertificateConfig, ExecPlugin
from lws.client.credentials import CertificatePair, ConfiguredCredentials, Credential
from lws.client.errors import CredentialsError
from lws.client.exec_plugin import PAUSE_SECONDS, ExecCredentials, exec_info, parse_credential, run
from tests.unit.client.support import OwnClock, serving, transport_to

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
GET = requests.raw_get("/version")


def plugin_of(folder: Path, body: str, **fields: object) -> ExecPlugin:
    """A plugin whose program is this shell script."""
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return ExecPlugin(command=str(program), **{"api_version": V1, **fields})  # type: ignore[arg-type]  # fields are the tests' own


def printed(api_version: str = V1, **status: str) -> str:
    """An ExecCredential as JSON."""
    answer = {"apiVersion": api_version, "kind": "ExecCredential", "status": status}
    return orjson.dumps(answer).decode()


def counting(folder: Path, **status: str) -> str:
    """A script that prints token-1, token-2 and so on."""
    count = folder / "count"
    answer = printed(token="token-COUNT", **status)
    return f"echo x >> '{count}'; echo '{answer}' | sed \"s/COUNT/$(wc -l < '{count}')/\""


def credentials_of(plugin: ExecPlugin, clock: OwnClock) -> ExecCredentials:
    nobody = ConfiguredCredentials(AuthenticationConfig(), clock=clock)
    return ExecCredentials(plugin, fallback=nobody, clock=clock, environ=os.environ)


def runs(folder: Path) -> int:
    return len((folder / "count").read_text().splitlines())


@pytest.mark.parametrize("api_version", [V1, V1BETA1])
async def test_the_token_that_a_plugin_prints_is_used(tmp_path: Path, api_version: str) -> None:
    script = f"echo '{printed(api_version, token='t')}'"
    plugin = plugin_of(tmp_path, script, api_version=api_version)
    assert await credentials_of(plugin, OwnClock()).current() == Credential("Bearer t")


async def test_a_plugin_is_told_what_is_asked_of_it(tmp_path: Path) -> None:
    script = f'echo "$1 $LANGUAGE_OF_TEST $KUBERNETES_EXEC_INFO" >"{tmp_path}/told"; cat; echo {{}}'
    plugin = plugin_of(
        tmp_path,
        script,
        args=("first",),
        env=(("LANGUAGE_OF_TEST", "x"),),
        cluster_info=b'{"server":"https://s"}',
    )
    assert await run(plugin, os.environ) == b"{}\n"
    first, language, info = (tmp_path / "told").read_text().split(" ", 2)
    assert (first, language) == ("first", "x")
    assert orjson.loads(info) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://s"}},
    }


def test_a_plugin_that_need_not_know_the_cluster_is_not_told() -> None:
    info = orjson.loads(exec_info(ExecPlugin(command="p", api_version=V1)))
    assert info["spec"] == {"interactive": False}


async def test_a_plugin_runs_once_however_many_wait(tmp_path: Path) -> None:
    credentials = credentials_of(plugin_of(tmp_path, counting(tmp_path)), OwnClock())
    found = await asyncio.gather(*[credentials.current() for _ in range(20)])
    assert set(found) == {Credential("Bearer token-1")}
    assert runs(tmp_path) == 1


async def test_a_plugin_runs_again_when_its_token_has_expired(tmp_path: Path) -> None:
    clock = OwnClock()
    script = counting(tmp_path, expirationTimestamp=format_time(clock.now() + 60))
    credentials = credentials_of(plugin_of(tmp_path, script), clock)
    await credentials.current()
    clock.seconds += 59
    assert await credentials.current() == Credential("Bearer token-1")
    clock.seconds += 1
    assert await credentials.current() == Credential("Bearer token-2")


async def test_a_rejected_token_is_renewed_once_for_all_who_were_rejected(tmp_path: Path) -> None:
    credentials = credentials_of(plugin_of(tmp_path, counting(tmp_path)), OwnClock())
    old = await credentials.current()
    found = await asyncio.gather(*[credentials.renew(old) for _ in range(5)])
    assert set(found) == {Credential("Bearer token-2")}
    assert runs(tmp_path) == 2


async def test_a_plugin_whose_every_token_is_rejected_gets_pauses(tmp_path: Path) -> None:
    clock = OwnClock()
    credentials = credentials_of(plugin_of(tmp_path, counting(tmp_path)), clock)
    second = await credentials.renew(await credentials.current())
    assert await credentials.renew(second) == second
    clock.seconds += PAUSE_SECONDS
    assert await credentials.renew(second) == Credential("Bearer token-3")


async def test_a_plugin_that_fails_is_not_run_for_every_request(tmp_path: Path) -> None:
    clock, count = OwnClock(), tmp_path / "count"
    plugin = plugin_of(tmp_path, f"echo x >>'{count}'; echo 'no  network' >&2; exit 3")
    credentials = credentials_of(plugin, clock)
    for _ in range(3):
        with pytest.raises(CredentialsError, match="plugin ended with 3: no network"):
            await credentials.current()
    assert runs(tmp_path) == 1
    clock.seconds += PAUSE_SECONDS
    with pytest.raises(CredentialsError):
        await credentials.current()
    assert runs(tmp_path) == 2


async def test_a_plugin_that_is_not_installed_says_how_to_get_it() -> None:
    plugin = ExecPlugin(command="no-such-plugin", api_version=V1, install_hint="\napt get it\n")
    with pytest.raises(CredentialsError, match=r"cannot be run: No such file.*hint: apt get it"):
        await run(plugin, {})


async def test_a_plugin_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_plugin, "RUN_SECONDS_MAX", 0.05)
    plugin = plugin_of(tmp_path, "sleep 60 & sleep 60")
    with pytest.raises(CredentialsError, match="did not end in"):
        await run(plugin, os.environ)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (b"", "no ExecCredential as JSON"),
        (b"secret token", "no ExecCredential as JSON"),
        (b"{}", f"no ExecCredential of {V1}"),
        (printed(V1BETA1, token="secret").encode(), f"no ExecCredential of {V1}"),
        (printed().encode(), "neither a token nor a certificate"),
        (printed(clientKeyData="secret").encode(), "a certificate without key"),
        (printed(token="a b").encode(), "holds no bearer token"),
        (printed(token="secret", expirationTimestamp="soon").encode(), "that is no time"),
        (printed(token="secret", expirationTimestamp="2023-01-01T00:00:00").encode(), "no time"),
    ],
)
def test_what_a_plugin_prints_is_checked_and_never_quoted(output: bytes, message: str) -> None:
    plugin = ExecPlugin(command="p", api_version=V1)
    with pytest.raises(CredentialsError, match=message) as e:
        parse_credential(output, plugin)
    assert "secret" not in str(e.value)


def test_a_plugin_may_print_a_certificate() -> None:
    output = printed(clientCertificateData="c", clientKeyData="k").encode()
    issued = parse_credential(output, ExecPlugin(command="p", api_version=V1))
    assert issued.credential == Credential("", CertificatePair(b"c", b"k"))
    assert issued.expires_at is None


async def test_a_plugins_certificate_goes_before_the_configured_one(tmp_path: Path) -> None:
    clock = OwnClock()
    configured = AuthenticationConfig(
        certificate=CertificateConfig(certificate_data=b"c0", key_data=b"k0")
    )
    for status, expected in (
        ({"token": "t"}, CertificatePair(b"c0", b"k0")),
        ({"clientCertificateData": "c", "clientKeyData": "k"}, CertificatePair(b"c", b"k")),
    ):
        credentials = ExecCredentials(
            plugin_of(tmp_path, f"echo '{printed(V1, **status)}'"),
            fallback=ConfiguredCredentials(configured, clock=clock),
            clock=clock,
            environ=os.environ,
        )
        assert (await credentials.current()).certificate == expected


async def test_a_token_that_the_server_rejects_is_asked_of_the_plugin_again(
    tmp_path: Path,
) -> None:
    async def handle(request: web.Request) -> web.Response:
        token = request.headers["Authorization"]
        return web.Response(status=200 if token == "Bearer token-2" else 401)

    plugin = plugin_of(tmp_path, counting(tmp_path))
    authentication = AuthenticationConfig(plugin=plugin)
    async with serving(handle) as url, transport_to(url, authentication=authentication) as it:
        assert (await it.send(GET)).status == 200
        assert (await it.send(GET)).status == 200
    assert runs(tmp_path) == 2


async def test_a_token_that_comes_expired_is_used_for_a_while_all_the_same(tmp_path: Path) -> None:
    """Our clock goes ahead of the plugin's: not one run a request."""
    clock = OwnClock()
    script = counting(tmp_path, expirationTimestamp=format_time(clock.now() - 3600))
    credentials = credentials_of(plugin_of(tmp_path, script), clock)
    for _ in range(3):
        assert await credentials.current() == Credential("Bearer token-1")
    assert runs(tmp_path) == 1
    clock.seconds += PAUSE_SECONDS
    assert await credentials.current() == Credential("Bearer token-2")
