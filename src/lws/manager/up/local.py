"""The control plane in memory: API server, cluster, CRDs, webhooks; and the operator on it."""

import platform
import secrets
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from lws.api.crds_file import stored_definitions
from lws.api.roles_file import stored_roles
from lws.base.clock import Clock
from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.executor.caches import make_caches
from lws.executor.disaggregatedset.caches import make_disaggregated_caches
from lws.manager.certificates.authority import new_authority, new_serving
from lws.manager.controllers import LeaderWorkerSetControllers
from lws.manager.disaggregatedset import DisaggregatedSetControllers
from lws.manager.up.options import UpOptions
from lws.runtime.events import EventRecorder
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.faults import Faults, fault_paths
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.http import AuditLog, HttpServer, HttpWebhooks, ListenOptions
from lws.sandbox.http.serving import kubeconfig
from lws.sandbox.server import ADMIN_USER, Server
from lws.sandbox.server.admission import LocalWebhooks, Webhooks
from lws.sandbox.server.verbs import Caller
from lws.sandbox.store import Store
from lws.sandbox.store.journal import open_journal
from lws.sandbox.transport import LocalTransport
from lws.webhooks.configuration import (
    ServiceAddress,
    mutating_configuration,
    validating_configuration,
)
from lws.webhooks.dispatch import handle

SERVICE = ServiceAddress(name="lws-webhook-service", namespace="lws-system")
WEBHOOK_ADDRESS = f"{SERVICE.name}.{SERVICE.namespace}.svc:{SERVICE.port}"
CLUSTER_ROLES = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False
)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
VALID_DAYS = 30.0
"""Longer than anybody leaves a sandbox running."""
INSTALLER = Caller(user="lws-up", field_manager="lws-up")


class LocalControlPlane:
    """`async with LocalControlPlane(options, clock=...) as plane:`; then `start_operator`."""

    def __init__(self, options: UpOptions, *, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._open = AsyncExitStack()
        self.token = secrets.token_urlsafe(24)
        others = HttpWebhooks()
        self._open.push_async_callback(others.close)
        journal = None if options.data is None else open_journal(options.data)
        webhooks = Webhooks(LocalWebhooks({WEBHOOK_ADDRESS: handle}, others=others))
        self.server = Server(clock=clock, store=Store(journal=journal), admission=webhooks)
        self.cluster = Cluster(
            self.server.api,
            clock,
            nodes=options.node_specs(),
            options=ClusterOptions(
                ready_after=options.ready_after,
                max_unavailable_gate=options.max_unavailable_gate,
            ),
        )
        self.server.handler.beside.update(fault_paths(Faults(self.server.api, self.cluster)))
        self._authority = new_authority(name="lws-up", now=clock.now(), days=VALID_DAYS)
        log = options.audit_log
        self._http = HttpServer(
            self.server.handler,
            ListenOptions(
                host=options.host,
                port=options.port,
                tls=self._tls(),
                tokens={self.token: ADMIN_USER},
                audit=None if log is None else AuditLog(log, clock=clock),
            ),
        )

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return self._http.url

    @property
    def kubeconfig(self) -> bytes:
        """One context that leads here, with the token."""
        return kubeconfig(self.url, token=self.token, authority=self._authority.certificate)

    def _tls(self) -> ssl.SSLContext:
        """kubectl sends a token over TLS only; the CA stands in the kubeconfig."""
        names = (self._options.host, "localhost", "127.0.0.1", "::1", platform.node())
        hosts = list(dict.fromkeys(filter(None, names)))
        pair = new_serving(self._authority, hosts=hosts, now=self._clock.now(), days=VALID_DAYS)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:  # a context reads its chain from a file
            file.write(pair.certificate + pair.key)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    async def __aenter__(self) -> Self:
        """Everything but the operator runs when this returns."""
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self.server)
            await self._install()
            await opened.enter_async_context(self.cluster)
            if self._options.listens:
                await opened.enter_async_context(self._http)
            self._open.push_async_exit(opened.pop_all())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it all; what is kept in a file is written out."""
        await self._open.aclose()

    async def start_operator(self, process: Process, metrics: Metrics) -> None:
        """The controllers, as tasks of `process`; returns when they act."""
        client = KubernetesClient(LocalTransport(self.server.handler, user_agent="lws"))
        caches = make_caches(client, self._clock, metrics)
        shared: dict[str, Any] = {"client": client, "clock": self._clock, "metrics": metrics}
        groups = LeaderWorkerSetControllers(
            caches=caches, recorder=self._recorder(process, "leaderworkerset", metrics), **shared
        )
        roles = DisaggregatedSetControllers(
            shared=caches,
            caches=make_disaggregated_caches(client, self._clock, metrics, shared=caches),
            recorder=self._recorder(process, "disaggregatedset", metrics),
            **shared,
        )
        parts = (groups, roles)
        for part in parts:
            process.on_stop(f"{part.name} controllers", part.stop)
            for informer in part.informers:
                process.spawn(f"informer of {informer.resource.plural}", informer.run())
        for part in parts:
            await part.synced()
        for part in parts:
            part.follow()
        for part in parts:
            part.start(process)

    def _recorder(self, process: Process, component: str, metrics: Metrics) -> EventRecorder:
        client = KubernetesClient(LocalTransport(self.server.handler, user_agent="lws"))
        recorder = EventRecorder(
            client=client,
            clock=self._clock,
            component=component,
            instance=f"{component}-sandbox",
            metrics=metrics,
        )
        process.spawn(f"events of {component}", recorder.run())
        process.on_stop(f"events of {component}", recorder.flush)
        return recorder

    async def _install(self) -> None:
        """CRDs, roles for people, our namespace, the webhook configurations: made or renewed."""
        for definition in stored_definitions():
            await self._ensure(resources.CRDS, definition)
        for role in stored_roles():
            await self._ensure(CLUSTER_ROLES, role)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lws-system"}}
        await self._ensure(NAMESPACES, namespace)
        if not self._options.operator:
            return
        mutating, validating = mutating_configuration(SERVICE), validating_configuration(SERVICE)
        await self._ensure(resources.MUTATINGWEBHOOKCONFIGURATIONS, dict(mutating))
        await self._ensure(resources.VALIDATINGWEBHOOKCONFIGURATIONS, dict(validating))

    async def _ensure(self, resource: Resource, obj: Mapping[str, Any]) -> None:
        """From a former life with `--data` an older version may stand there."""
        await self.server.api.patch(
            resource,
            obj,
            patch_type=PatchType.APPLY,
            name=obj["metadata"]["name"],
            force=True,
            caller=INSTALLER,
        )

    async def apply(self, documents: Sequence[Mapping[str, Any]], *, namespace: str) -> list[str]:
        """Server-side apply of manifests, as `kubectl` would; what was applied, in words.

        ApiStatus is the server's refusal.
        """
        applied = []
        for document in documents:
            resource = await self._served(document)
            name = document["metadata"]["name"]
            own = document["metadata"].get("namespace") or namespace
            await self.server.api.patch(
                resource,
                document,
                patch_type=PatchType.APPLY,
                name=name,
                namespace=own if resource.namespaced else None,
                force=True,
                caller=Caller(user="lws-up", field_manager="kubectl"),
            )
            applied.append(f"{resource.plural}/{name}")
        return applied

    async def _served(self, document: Mapping[str, Any]) -> Resource:
        """A definition that was just applied is served a moment later."""
        api_version, kind = document.get("apiVersion", ""), document.get("kind", "")
        for _ in range(50):
            resource = self.server.api.resource_of(api_version, kind)
            if resource is not None:
                return resource
            await self._clock.sleep(0.02)
        raise LookupError(f"{api_version} {kind} is not served here")
