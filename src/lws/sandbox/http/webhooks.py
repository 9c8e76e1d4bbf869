"""Webhooks that are reached by a URL, or by the service that stands for one."""

import os
import ssl
from collections.abc import Mapping
from hashlib import sha256

import aiohttp

from lws.sandbox.server.admission import WebhookCallError, WebhookTarget
from lws.sandbox.server.admission.calling import status_words

_ANSWER_BYTES_MAX = 16 << 20


class HttpWebhooks:
    """A `WebhookClient` over HTTPS. Close it.

    `services`: where services are reached from this machine, by `name.namespace.svc:port`, as there
    is no cluster network; the certificate still has to be the service's.
    """

    def __init__(self, *, services: Mapping[str, tuple[str, int]] | None = None) -> None:
        self._services = services or {}
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[bytes, ssl.SSLContext] = {}

    async def close(self) -> None:
        """Ends every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def call(self, target: WebhookTarget, body: bytes, *, timeout_seconds: float) -> bytes:
        """The body of the answer; WebhookCallError if there is none."""
        url = f"{target.url}?timeout={int(timeout_seconds)}s"
        head = f'failed to call webhook: Post "{url}"'
        try:
            return await self._post(target, url, body, timeout_seconds)
        except aiohttp.ClientConnectorCertificateError as error:
            raise WebhookCallError(
                f"{head}: tls: failed to verify certificate: {error.certificate_error}"
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise WebhookCallError(
                f"{head}: dial tcp {error.host}:{error.port}: connect:"
                f" {os.strerror(error.os_error.errno or 0).lower()}"
            ) from error
        except TimeoutError as error:
            raise WebhookCallError(f"{head}: context deadline exceeded") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise WebhookCallError(f"{head}: {error or type(error).__name__}") from error

    async def _post(
        self, target: WebhookTarget, url: str, body: bytes, timeout_seconds: float
    ) -> bytes:
        server_name: str | None = None
        if target.service is not None:
            url, server_name = self._through_service(target, url)
        answer = await self._open().post(
            url,
            data=body,
            headers={"Content-Type": "application/json", "Accept": "application/json, */*"},
            timeout=aiohttp.ClientTimeout(total=timeout_seconds),
            ssl=self._context(target.ca_bundle),
            server_hostname=server_name,
            allow_redirects=False,
        )
        async with answer:
            text = await answer.content.read(_ANSWER_BYTES_MAX)
            if answer.status != 200:
                raise WebhookCallError(
                    f"failed to call webhook: {status_words(answer.status, text)}"
                )
            return text

    def _through_service(self, target: WebhookTarget, url: str) -> tuple[str, str]:
        assert target.service is not None, "asked only of services"
        name, _, port = target.address.partition(":")
        outside = (target.outside, int(port)) if target.outside else None
        place = self._services.get(target.address, outside)
        if place is None:
            raise WebhookCallError(
                f'failed to call webhook: Post "{url}": service "{target.service[1]}" not found'
            )
        return url.replace(target.address, f"{place[0]}:{place[1]}", 1), name

    def _context(self, bundle: bytes) -> ssl.SSLContext:
        """Trusts the bundle alone; without one, what this machine trusts."""
        name = sha256(bundle).digest()
        context = self._contexts.get(name)
        if context is None:
            context = ssl.create_default_context(cadata=bundle.decode() if bundle else None)
            self._contexts[name] = context
        return context

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
            )
        return self._session
