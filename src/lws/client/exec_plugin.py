"""Credentials that a program prints (client.authentication.k8s.io, v1 and v1beta1).

The program has no terminal. Its answer is kept until it expires or the server rejects it; however
many requests wait, it runs once.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import orjson

from lws.base.clock import Clock
from lws.base.times import parse_time
from lws.client.connection import ExecPlugin
from lws.client.credentials import CertificatePair, Credential, Credentials, bearer
from lws.client.errors import CredentialsError

RUN_SECONDS_MAX = 60.0  # a plugin may ask a slow identity provider, but not for ever
PAUSE_SECONDS = 5.0  # between runs that did not help: 500 requests a second must not start 500
STDERR_CHARACTERS_MAX = 500


class _CredentialStatus(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _CredentialStatus | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """A credential and when it ends, in seconds since the epoch; None: when it is rejected."""

    credential: Credential
    expires_at: float | None = None


class ExecCredentials:
    """Runs the plugin when it must, and only then."""

    def __init__(
        self,
        plugin: ExecPlugin,
        *,
        fallback: Credentials,
        clock: Clock,
        environ: Mapping[str, str],
    ) -> None:
        self._plugin = plugin
        self._fallback = fallback
        self._clock = clock
        self._environ = environ
        self._lock = asyncio.Lock()
        self._issued: Issued | None = None
        self._pause_ends_at = clock.monotonic()
        self._failure = ""

    async def current(self) -> Credential:
        """What the plugin issued, issued anew if that has expired.

        One that comes expired is used all the same, for a while: whose clock is wrong, the plugin's
        or ours, the server will tell.
        """
        if self._issued is None or self._is_due(self._issued):
            async with self._lock:
                if self._issued is None or self._is_due(self._issued):
                    self._issued = await self._issue()
                    if self._is_expired(self._issued):
                        self._pause()
        return self._issued.credential

    async def renew(self, rejected: Credential, /) -> Credential:
        """Another one, unless somebody has renewed it meanwhile or a moment ago."""
        async with self._lock:
            issued = self._issued
            if issued is not None and (issued.credential != rejected or self._is_paused):
                return issued.credential
            self._issued = await self._issue()
            self._pause()
            return self._issued.credential

    @property
    def _is_paused(self) -> bool:
        return self._clock.monotonic() < self._pause_ends_at

    def _is_due(self, issued: Issued) -> bool:
        """Whether another is to be had. A run that failed is told to everybody who asks."""
        return self._is_expired(issued) and (bool(self._failure) or not self._is_paused)

    def _is_expired(self, issued: Issued) -> bool:
        return issued.expires_at is not None and self._clock.now() >= issued.expires_at

    def _pause(self) -> None:
        self._pause_ends_at = self._clock.monotonic() + PAUSE_SECONDS

    async def _issue(self) -> Issued:
        if self._failure and self._is_paused:
            raise CredentialsError(self._failure)
        try:
            issued = parse_credential(await run(self._plugin, self._environ), self._plugin)
        except CredentialsError as error:
            self._failure = str(error)
            self._pause()
            raise
        self._failure = ""
        if issued.credential.certificate is not None:
            return issued
        certificate = (await self._fallback.current()).certificate
        credential = Credential(issued.credential.authorization, certificate)
        return Issued(credential, issued.expires_at)


def parse_credential(output: bytes, plugin: ExecPlugin) -> Issued:
    """What the plugin printed. Messages never quote it: it is a secret."""
    try:
        answer = msgspec.json.decode(output, type=_ExecCredential)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _failure(plugin, "printed no ExecCredential as JSON") from error
    if answer.kind != "ExecCredential" or answer.api_version != plugin.api_version:
        raise _failure(plugin, f"printed no ExecCredential of {plugin.api_version}")
    status = answer.status or _CredentialStatus()
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _failure(plugin, "printed a certificate without key, or a key without certificate")
    if not status.token and not status.client_certificate_data:
        raise _failure(plugin, "printed neither a token nor a certificate")
    authorization = bearer(status.token.encode(), source=plugin.command) if status.token else ""
    pair = (
        CertificatePair(status.client_certificate_data.encode(), status.client_key_data.encode())
        if status.client_certificate_data
        else None
    )
    return Issued(Credential(authorization, pair), _expiry(status, plugin))


async def run(plugin: ExecPlugin, environ: Mapping[str, str]) -> bytes:
    """What the program prints; CredentialsError says how it failed and how to get it."""
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.args,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env={**environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": exec_info(plugin)},
            start_new_session=True,
        )
    except OSError as error:
        raise _failure(plugin, f"cannot be run: {error.strerror}") from error
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            output, complaint = await process.communicate()
    except TimeoutError as error:
        raise _failure(plugin, f"did not end in {RUN_SECONDS_MAX:.0f} s") from error
    finally:
        await _end(process)
    if process.returncode:
        words = " ".join(complaint.decode("utf-8", errors="replace").split())
        raise _failure(plugin, f"ended with {process.returncode}: {words[-STDERR_CHARACTERS_MAX:]}")
    return output


def exec_info(plugin: ExecPlugin) -> str:
    """What the program is told in KUBERNETES_EXEC_INFO."""
    spec: dict[str, object] = {"interactive": False}
    if plugin.cluster_info:
        spec["cluster"] = orjson.Fragment(plugin.cluster_info)
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return orjson.dumps(info).decode()


async def _end(process: Process) -> None:
    """Nothing of a program that we no longer wait for stays."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _expiry(status: _CredentialStatus, plugin: ExecPlugin) -> float | None:
    if status.expiration_timestamp is None:
        return None
    try:
        return parse_time(status.expiration_timestamp)
    except ValueError as error:
        raise _failure(plugin, "printed an expirationTimestamp that is no time") from error


def _failure(plugin: ExecPlugin, what: str) -> CredentialsError:
    hint = f"; hint: {plugin.install_hint.strip()}" if plugin.install_hint.strip() else ""
    return CredentialsError(f"credential plugin {plugin.command} {what}{hint}")
