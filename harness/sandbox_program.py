"""python -m harness.sandbox_program: the sandbox as an API server with a cluster, until SIGTERM.

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

from lws.runtime.clock import RealClock
from lws.runtime.logs import configure_logs
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.http import AuditLog, HttpServer, HttpWebhooks, ListenOptions
from lws.sandbox.server import Server, User
from lws.sandbox.server.admission import Webhooks
from lws.sandbox.store import Store
from lws.sandbox.store.journal import open_journal


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
    for token, name, _, *groups in csv.reader(text.splitlines()):
        own = tuple(groups[0].split(",")) if groups else ()
        users[token] = User(name, (*own, "system:authenticated"))
    return users


async def _run(told: argparse.Namespace) -> None:
    clock = RealClock()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
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
        broken = asyncio.create_task(cluster.wait())
        ending = asyncio.create_task(ended.wait())
        await asyncio.wait((broken, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if broken.done():
            broken.result()


def main() -> None:
    """Run it; a component that breaks ends the process with a traceback."""
    configure_logs(clock=RealClock(), level="info")
    asyncio.run(_run(_arguments()))


if __name__ == "__main__":
    main()
