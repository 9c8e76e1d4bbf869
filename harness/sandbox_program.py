"""python -m harness.sandbox_program: the sandbox as an API server with a cluster, until SIGTERM.

SIGUSR1 stops the cluster's controllers, scheduler and kubelets, SIGUSR2 starts them again.

The same parts that `lws up` runs, but with the certificate, the users and the audit log that a
test's control plane has; and what it holds is in a file, so that a kill loses nothing.
"""

import argparse
import asyncio
import csv
import signal
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import structlog

from lws.runtime.clock import RealClock
from lws.runtime.logs import configure_logs
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.http import AuditLog, HttpServer, HttpWebhooks, ListenOptions
from lws.sandbox.server import Server, User
from lws.sandbox.server.admission import Webhooks
from lws.sandbox.store import Store
from lws.sandbox.store.journal import open_journal

log = structlog.get_logger(__name__)

CONTROLLERS_STOPPED = "the controllers have stopped"
CONTROLLERS_STARTED = "the controllers have started"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tokens", type=Path, required=True, help="as --token-auth-file has it")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--audit-log", type=Path, required=True)
    parser.add_argument("--audited", action="append", default=[], help="users in the audit log")
    parser.add_argument("--max-unavailable-gate", action="store_true")
    return parser.parse_args()


def users_by_token(text: str) -> dict[str, User]:
    """Lines of token, name, number, and groups in quotes."""
    users = {}
    for token, name, number, *groups in csv.reader(text.splitlines()):
        own = tuple(groups[0].split(",")) if groups else ()
        users[token] = User(name, (*own, "system:authenticated"), uid=number)
    return users


async def _run(told: argparse.Namespace) -> None:
    clock = RealClock()
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(told.certificate, told.key)
    options = ListenOptions(
        port=told.port,
        tls=tls,
        tokens=users_by_token(told.tokens.read_text(encoding="utf-8")),
        audit=AuditLog(told.audit_log, clock=clock, users=told.audited),
    )
    async with AsyncExitStack() as opened:
        webhooks = HttpWebhooks()
        opened.push_async_callback(webhooks.close)
        store = Store(journal=open_journal(told.data))
        server = Server(clock=clock, store=store, admission=Webhooks(webhooks))
        await opened.enter_async_context(server)
        cluster = Cluster(
            server.api,
            clock,
            options=ClusterOptions(max_unavailable_gate=told.max_unavailable_gate),
        )
        await opened.enter_async_context(cluster)
        await opened.enter_async_context(HttpServer(server.handler, options))
        while await _next_of(signals, cluster) != signal.SIGTERM:
            pass


async def _next_of(signals: asyncio.Queue[int], cluster: Cluster) -> int:
    """Does what the next signal says; raises if the cluster breaks before one comes."""
    told = asyncio.create_task(signals.get())
    watched = [told, *((asyncio.create_task(cluster.wait()),) if cluster.is_running else ())]
    await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
    if not told.done():
        told.cancel()
        watched[1].result()
        raise RuntimeError("the cluster has ended")
    if told.result() == signal.SIGUSR1:
        await cluster.stop()
        log.info(CONTROLLERS_STOPPED)
    elif told.result() == signal.SIGUSR2:
        await cluster.start()
        log.info(CONTROLLERS_STARTED)
    return told.result()


def main() -> None:
    """Run it; a component that breaks ends the process with a traceback."""
    configure_logs(clock=RealClock(), level="info")
    asyncio.run(_run(_arguments()))


if __name__ == "__main__":
    main()
