"""One process: what is started in which order, and stopped in which (manager.md, Running)."""

import asyncio
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import structlog

import lws
from lws.base.clock import Clock
from lws.client.connection import ConnectionConfig
from lws.client.kubeconfig import load_config
from lws.client.kubernetes import KubernetesClient
from lws.client.transport import HttpTransport, Transport, TransportOptions
from lws.executor.caches import make_caches
from lws.executor.disaggregatedset.caches import make_disaggregated_caches
from lws.manager.authorization import MetricsAuthorizer
from lws.manager.certificates import CertificateKeeper
from lws.manager.configuration import split_address
from lws.manager.controllers import LeaderWorkerSetControllers
from lws.manager.disaggregatedset import DisaggregatedSetControllers
from lws.manager.durations import parse_duration
from lws.manager.fence import Fence
from lws.manager.gang import configured_gang
from lws.manager.settings import Settings
from lws.runtime.certificates import CertificateFiles
from lws.runtime.clock import RealClock, unique_id
from lws.runtime.election import LeaderElector
from lws.runtime.events import EventRecorder
from lws.runtime.logs import configure_logs
from lws.runtime.metrics import Metrics
from lws.runtime.process import SIGNALS, Process, freeze_heap, run
from lws.runtime.servers import Checks, Server, serve_health, serve_https, serve_metrics
from lws.runtime.watchdog import LoopWatchdog
from lws.webhooks.dispatch import handle

log = structlog.get_logger(__name__)

COMPONENT = "leaderworkerset"
"""Reporting controller of our events: the public controller's name, for who filters by it."""

DISAGGREGATED_COMPONENT = "disaggregatedset"
"""The same of events about DisaggregatedSets."""

COMPONENTS = (COMPONENT, DISAGGREGATED_COMPONENT)

DEFAULT_NAMESPACE = "lws-system"

IN_CLUSTER = "service account"
"""Source of a connection that is the pod's own (client.incluster)."""


def run_manager(settings: Settings, *, environ: Mapping[str, str]) -> int:
    """Run until a signal; the exit code. InvalidInput and KubeconfigError come before a start."""
    clock = RealClock()
    configure_logs(clock=clock, level=settings.log_level)
    connection = load_config(
        kubeconfig=settings.kubeconfig, context=settings.context, environ=environ
    )
    return run(lambda: Manager(settings, connection, clock).run())


class Manager:
    """Everything that one process holds."""

    def __init__(
        self,
        settings: Settings,
        connection: ConnectionConfig,
        clock: Clock,
        *,
        identity: str = "",
        is_alone: bool = True,
    ) -> None:
        """A simulation runs many in one process: each has an identity of its own, and none has the
        process's signals, heap and thread to itself (`is_alone`)."""
        self._settings = settings
        self._configuration = settings.configuration
        self._connection = connection
        self._clock = clock
        self._metrics = Metrics()
        self._gang = configured_gang(
            self._configuration.gang_scheduling_management.scheduler_provider
        )
        self._identity = identity or f"{platform.node()}_{unique_id(clock)}"
        self._is_alone = is_alone
        self._process: Process | None = None
        self._liveness, self._readiness = Checks(), Checks()

    async def run(self) -> int:
        """Start all parts, run until a signal or a dead task, stop all parts."""
        connection, configuration = self._connection, self._configuration
        options = TransportOptions(
            qps=configuration.client_connection.qps, burst=configuration.client_connection.burst
        )
        host = urlsplit(connection.server).netloc
        observer = self._metrics.requests(host)
        async with HttpTransport(
            connection, clock=self._clock, options=options, observers=(observer,)
        ) as transport:
            return await self.run_on(transport)

    def stop(self) -> None:
        """End in order, as after SIGTERM."""
        if self._process is not None:
            self._process.stop("asked to")

    async def run_on(self, transport: Transport) -> int:
        """The same, over a transport that is there."""
        return await self._run(KubernetesClient(transport), Fence(transport))

    async def _run(self, client: KubernetesClient, fence: Fence) -> int:
        process = Process(clock=self._clock, signals=SIGNALS if self._is_alone else ())
        self._process = process
        watchdog = LoopWatchdog(clock=self._clock)
        self._liveness.add("tasks", process.check)
        self._liveness.add("event loop", watchdog.check)
        for server in self._servers(client):
            self._readiness.add(f"{server.name} server", server.check)
            process.spawn(f"{server.name} server", server.run())
        self._spawn_health(process)
        self._spawn_certificates(process, client)
        recorders = {name: self._recorder(client, name) for name in COMPONENTS}
        for name, recorder in recorders.items():
            process.spawn(f"events of {name}", recorder.run())
        controllers = self._controllers(KubernetesClient(fence), recorders)
        for part in controllers:
            self._readiness.add(part.name, part.check)
            for informer in part.informers:
                process.spawn(f"informer of {informer.resource.plural}", informer.run())
        election = self._election(client, controllers)
        for part in controllers:
            process.on_stop(f"{part.name} controllers", part.stop)
        for name, recorder in recorders.items():
            process.on_stop(f"events of {name}", recorder.flush)
        if election is not None:
            fence.close_unless(lambda: election.is_leader)
            process.on_stop("lease", election.release)
            process.spawn("leader election", election.run())
        process.begin("start of the controllers", self._start(process, controllers, election))
        if self._is_alone:
            watchdog.start(asyncio.get_running_loop())
        log.info("starting", version=lws.__version__, server=self._connection.server)
        try:
            return await process.run()
        finally:
            watchdog.stop()

    def _recorder(self, client: KubernetesClient, component: str) -> EventRecorder:
        return EventRecorder(
            client=client,
            clock=self._clock,
            component=component,
            instance=f"{component}-{platform.node()}",
            metrics=self._metrics,
        )

    def _controllers(
        self, client: KubernetesClient, recorders: Mapping[str, EventRecorder]
    ) -> tuple[LeaderWorkerSetControllers, DisaggregatedSetControllers]:
        """Both kinds, the second on top of the caches of the first."""
        gang = self._gang
        caches = make_caches(
            client,
            self._clock,
            self._metrics,
            pod_groups=None if gang is None else gang.resource,
        )
        groups = LeaderWorkerSetControllers(
            client=client,
            caches=caches,
            recorder=recorders[COMPONENT],
            clock=self._clock,
            metrics=self._metrics,
            gang=gang,
        )
        roles = DisaggregatedSetControllers(
            client=client,
            shared=caches,
            caches=make_disaggregated_caches(client, self._clock, self._metrics, shared=caches),
            recorder=recorders[DISAGGREGATED_COMPONENT],
            clock=self._clock,
            metrics=self._metrics,
        )
        return groups, roles

    async def _start(
        self,
        process: Process,
        controllers: Sequence[LeaderWorkerSetControllers | DisaggregatedSetControllers],
        election: LeaderElector | None,
    ) -> None:
        """Controllers act on whole caches, and only the leader's do."""
        for part in controllers:
            await part.synced()
        for part in controllers:
            part.follow()
        if self._is_alone:
            freeze_heap()
        if election is not None:
            await election.elected()
        for part in controllers:
            part.start(process)
        log.info("controllers started")

    def _servers(self, client: KubernetesClient) -> list[Server]:
        configuration = self._configuration
        servers = []
        if self._settings.webhooks:
            webhook = configuration.webhook
            servers.append(
                serve_https(
                    host=webhook.host,
                    port=webhook.port,
                    cert_dir=webhook.cert_dir,
                    handler=partial(
                        handle, marker=None if self._gang is None else self._gang.provider
                    ),
                    clock=self._clock,
                    min_version=configuration.tls.min_version,
                    cipher_suites=configuration.tls.cipher_suites,
                )
            )
        address = split_address(configuration.metrics.bind_address)
        if address is not None:
            servers.append(self._metrics_server(client, *address))
        return servers

    def _metrics_server(self, client: KubernetesClient, host: str, port: int) -> Server:
        configuration = self._configuration
        certificates = CertificateFiles(
            cert_dir=configuration.webhook.cert_dir,
            clock=self._clock,
            min_version=configuration.tls.min_version,
            cipher_suites=configuration.tls.cipher_suites,
            tell_expiry=self._metrics.certificate_expiry.set,
        )
        return serve_metrics(
            host=host,
            port=port,
            metrics=self._metrics,
            authorize=MetricsAuthorizer(client),
            certificates=certificates,
        )

    def _spawn_health(self, process: Process) -> None:
        health = self._configuration.health
        address = split_address(health.health_probe_bind_address)
        if address is None:
            return
        server = serve_health(
            host=address[0],
            port=address[1],
            liveness=self._liveness,
            readiness=self._readiness,
            liveness_path=health.liveness_endpoint_name,
            readiness_path=health.readiness_endpoint_name,
        )
        process.spawn("health server", server.run())

    def _spawn_certificates(self, process: Process, client: KubernetesClient) -> None:
        """In every replica, leading or not: each serves webhooks."""
        management = self._configuration.internal_cert_management
        if not (management.enable and self._settings.webhooks):
            return
        webhook = self._configuration.webhook
        keeper = CertificateKeeper(
            client=client,
            clock=self._clock,
            metrics=self._metrics,
            namespace=self._namespace,
            secret=management.webhook_secret_name,
            service=management.webhook_service_name,
            cert_dir=Path(webhook.cert_dir),
            host=webhook.host,
        )
        self._readiness.add("certificates", keeper.check)
        for informer in keeper.informers:
            process.spawn(f"informer of {informer.resource.plural}", informer.run())
        process.spawn("certificates", keeper.run())

    @property
    def _namespace(self) -> str:
        """Where the Lease and the Secret are."""
        given = self._configuration.leader_election.resource_namespace
        in_pod = self._connection.source == IN_CLUSTER
        return given or (self._connection.namespace if in_pod else "") or DEFAULT_NAMESPACE

    def _election(
        self,
        client: KubernetesClient,
        controllers: Sequence[LeaderWorkerSetControllers | DisaggregatedSetControllers],
    ) -> LeaderElector | None:
        def stop_acting() -> None:
            for part in controllers:
                part.abort()

        election = self._configuration.leader_election
        if not election.leader_elect:
            return None
        return LeaderElector(
            client=client,
            clock=self._clock,
            name=election.resource_name,
            namespace=self._namespace,
            identity=self._identity,
            lease_seconds=parse_duration(election.lease_duration),
            renew_seconds=parse_duration(election.renew_deadline),
            retry_seconds=parse_duration(election.retry_period),
            on_stopped=stop_acting,
            metrics=self._metrics,
        )
