"""Keeps the Secret, the files that servers read, and the webhook configurations in line."""

import asyncio
import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

from lws.api.meta import ObjectMeta
from lws.base.clock import Clock
from lws.client import resources
from lws.client.errors import AlreadyExists, ClientError, Conflict, NotFound
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.manager.certificates.authority import KeyPair, fingerprint, is_signed_by, split_bundle
from lws.manager.certificates.planning import CA_CERT, CertificatePlan, plan_certificates
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics

log = structlog.get_logger(__name__)

CONFIGURATIONS: tuple[tuple[Resource, str], ...] = (
    (resources.MUTATINGWEBHOOKCONFIGURATIONS, "lws-mutating-webhook-configuration"),
    (resources.VALIDATINGWEBHOOKCONFIGURATIONS, "lws-validating-webhook-configuration"),
)
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104  names of no host
RETRY_SECONDS = 2.0
TRUSTED_SECONDS = 10.0
"""So long a new CA must stand in both configurations before it signs: every API server has taken
it up by then, from its own watch."""


CHANGED_OVER_SECONDS = 60.0
"""So long after a change the CA from before is trusted on: other replicas may still serve by it."""


class Held(msgspec.Struct, frozen=True):
    """A Secret or a webhook configuration, whole."""

    metadata: ObjectMeta
    document: bytes = b""


_held = msgspec.json.Decoder(Held)


def decode(data: bytes | msgspec.Raw) -> Held:
    """Keep the whole of it."""
    document = bytes(data)
    return Held(_held.decode(document).metadata, document)


class CertificateKeeper:
    """Runs in every replica: each serves webhooks, and all agree on the one Secret."""

    def __init__(
        self,
        *,
        client: KubernetesClient,
        clock: Clock,
        metrics: Metrics,
        namespace: str,
        secret: str,
        service: str,
        cert_dir: Path,
        host: str = "",
    ) -> None:
        """`host` is what the server is bound to: if that is one address, the certificate is for it
        too, so that webhooks can be called by URL."""
        self._client = client
        self._clock = clock
        self._namespace = namespace
        self._name = secret
        own = () if host in EVERYWHERE else (host,)
        service_name = f"{service}.{namespace}.svc"
        self._hosts = (service_name, f"{service_name}.cluster.local", *own)
        self._cert_dir = cert_dir
        self._changed = asyncio.Event()
        common: dict[str, Any] = {"client": client, "clock": clock, "metrics": metrics}
        self._secrets = Informer(
            resource=resources.SECRETS,
            decode=decode,
            namespace=namespace,
            field_selector=f"metadata.name={secret}",
            **common,
        )
        self._configurations = [
            Informer(resource=kind, decode=decode, field_selector=f"metadata.name={name}", **common)
            for kind, name in CONFIGURATIONS
        ]
        for informer in self.informers:
            informer.add_handler(lambda _: self._changed.set())
        self._served: KeyPair | None = None
        self._serving_ca, self._older_ca = b"", b""
        """Signers of what is served, and of what was served before."""
        self._changed_over = 0.0
        self._trusted: tuple[bytes, float] = (b"", 0.0)
        """The bundle that both configurations hold, and since when."""

    @property
    def informers(self) -> tuple[Informer[Held], ...]:
        """What it watches: three objects, by name."""
        return (self._secrets, *self._configurations)

    def check(self) -> str | None:
        """For the readiness probe."""
        return "no serving certificate yet" if self._served is None else None

    async def run(self) -> None:
        """Look, put right, wait for a change or for time; until cancelled."""
        for informer in self.informers:
            await informer.synced()
        while True:
            self._changed.clear()
            try:
                seconds = await self.look()
            except (AlreadyExists, Conflict, NotFound) as error:
                log.debug("another replica was faster", error=str(error))
                seconds = RETRY_SECONDS
            except (ClientError, OSError) as error:
                log.warning("certificates not in order", error=str(error))
                seconds = RETRY_SECONDS
            await self._wait(seconds * (1 + self._clock.random() / 10))

    async def _wait(self, seconds: float) -> None:
        """For a change of what is watched, or this long."""
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        change = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((timer, change), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            change.cancel()

    async def look(self) -> float:
        """One round; seconds until the next is due by time alone."""
        secret = self._secrets.store.get(namespace=self._namespace, name=self._name)
        data = _decoded(secret)
        now = self._clock.now()
        bundle, since = self._trusted
        plan = plan_certificates(
            data,
            hosts=self._hosts,
            now=now,
            is_bundle_trusted=bundle == data.get(CA_CERT) and now - since >= TRUSTED_SECONDS,
        )
        # What stands is trusted and served also where a write is due: that may take a while.
        if plan.bundle:
            await self._change_over(plan, now)
        if plan.data is not None:
            log.info("writing certificates", secret=self._name, reason=plan.why)
            await self._write(secret, plan.data)
            return RETRY_SECONDS
        is_settled = plan.serving == self._served and now - self._changed_over > (
            CHANGED_OVER_SECONDS
        )
        return plan.wake_after if is_settled else min(plan.wake_after, RETRY_SECONDS)

    async def _change_over(self, plan: CertificatePlan, now: float) -> None:
        """Trust first, serve then: no review is refused on the way from one CA to another."""
        first = self._served is None
        if first:
            # Nothing to lose, and readiness waits for it.
            await self._serve(plan.serving, plan.bundle, now)
        try:
            await self._trust(plan.bundle, now)
        finally:
            bundle, since = self._trusted
            if bundle and now - since >= TRUSTED_SECONDS:
                await self._serve(plan.serving, plan.bundle, now)

    async def _serve(self, serving: KeyPair | None, bundle: bytes, now: float) -> None:
        if serving is None or serving == self._served:
            return
        await asyncio.to_thread(_write_files, self._cert_dir, serving)
        signers = [one for one in split_bundle(bundle) if is_signed_by(serving.certificate, one)]
        self._older_ca, self._serving_ca = self._serving_ca, b"".join(signers[:1])
        self._served, self._changed_over = serving, now
        log.info("serving certificate", fingerprint=fingerprint(serving.certificate))

    async def _write(self, secret: Held | None, data: Mapping[str, bytes]) -> None:
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        place = {"namespace": self._namespace}
        if secret is None:
            metadata = {"name": self._name, **place}
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
            await self._client.create(resources.SECRETS, namespace=self._namespace, body=body)
            return
        document = msgspec.json.decode(secret.document)
        document["data"] = {**(document.get("data") or {}), **encoded}
        await self._client.replace(
            resources.SECRETS, namespace=self._namespace, name=self._name, body=document
        )

    async def _trust(self, bundle: bytes, now: float) -> None:
        """Put the bundle into both configurations, and remember since when both hold it."""
        wanted = self._with_older(bundle, now)
        holds = [
            await self._trust_one(informer, name, wanted)
            for informer, (_, name) in zip(self._configurations, CONFIGURATIONS, strict=True)
        ]
        if not all(holds):
            self._trusted = (b"", 0.0)
        elif self._trusted[0] != bundle:
            self._trusted = (bundle, now)

    def _with_older(self, bundle: bytes, now: float) -> bytes:
        """The bundle, and the CAs of what is still served, here or by a slower replica."""
        known = split_bundle(bundle)
        extra = [self._serving_ca]
        if now - self._changed_over <= CHANGED_OVER_SECONDS:
            extra.append(self._older_ca)
        return bundle + b"".join(one for one in extra if one and one not in known)

    async def _trust_one(self, informer: Informer[Held], name: str, bundle: bytes) -> bool:
        """Whether it holds the bundle; if not it is written, and its change brings us back."""
        held = informer.store.get(namespace="", name=name)
        if held is None:
            return False
        configuration = msgspec.json.decode(held.document)
        encoded = base64.b64encode(bundle).decode()
        hooks = configuration.get("webhooks") or []
        stale = [hook for hook in hooks if hook["clientConfig"].get("caBundle") != encoded]
        for hook in stale:
            hook["clientConfig"]["caBundle"] = encoded
        if stale:
            await self._client.replace(informer.resource, name=name, body=configuration)
            log.info("webhook configuration trusts us", configuration=name)
        return not stale


def _decoded(secret: Held | None) -> dict[str, bytes]:
    """What is garbled counts as missing."""
    found = {}
    document = {} if secret is None else msgspec.json.decode(secret.document)
    for key, value in (document.get("data") or {}).items():
        try:
            found[key] = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError, TypeError):
            continue
    return found


def _write_files(directory: Path, pair: KeyPair) -> None:
    """Each file whole or not at all; whoever reads in between sees a pair that does not fit, and
    keeps what it has (runtime.certificates)."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, content in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
        temporary = directory / f".{name}.new"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(directory / name)
