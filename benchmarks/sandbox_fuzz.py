"""Hostile traffic for as long as you like: `python -m benchmarks.sandbox_fuzz [--seconds N]`.

A sandbox on a port, and many clients that send what makes no sense, break off, or never read. It
prints the answers by status and the memory before and after, and ends with 1 if the server does not
answer an honest request in the end.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp

from benchmarks.sandbox import memory_mb
from lws.runtime.clock import RealClock
from lws.runtime.logs import configure_logs
from lws.sandbox.http import HttpServer, ListenOptions
from lws.sandbox.server import Server

CLIENTS = 20
ROOT = "/api/v1/namespaces/default"
PATHS = (f"{ROOT}/configmaps", f"{ROOT}/pods", f"{ROOT}/pods/p/status", "/apis", "/api/v1/%2e%2e")
KINDS = ("application/json", "application/yaml", "text/plain", "application/merge-patch+json")
PIECES = (
    '{"metadata":',
    '{"name":"p"}',
    "}",
    "[",
    "null",
    '"spec"',
    ":",
    "&a *a",
    "\\u0000",
    "1e999",
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE")
QUERIES = ("", "?watch=1&timeoutSeconds=1", "?limit=-1", "?continue=%00", "?labelSelector=((")


async def ask(session: aiohttp.ClientSession, url: str, dice: random.Random) -> int:
    """One request without sense; the status."""
    body = "".join(dice.choices(PIECES, k=dice.randrange(12))).encode()
    if dice.random() < 0.05:
        body *= 100_000
    target = url + dice.choice(PATHS) + dice.choice(QUERIES)
    headers = {"Content-Type": dice.choice(KINDS)}
    async with session.request(dice.choice(METHODS), target, data=body, headers=headers) as answer:
        if dice.random() < 0.9:
            await answer.read()
        return answer.status


async def break_off(url: str, dice: random.Random) -> int:
    """A connection that ends in the middle."""
    place = urlsplit(url)
    _, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(dice.randbytes(dice.randrange(200)))
    await asyncio.sleep(dice.random() / 50)
    writer.transport.abort()
    return 0


async def client(url: str, until: float, seed: int, answers: Counter[int]) -> None:
    dice = random.Random(seed)
    async with aiohttp.ClientSession() as session:
        while time.monotonic() < until:
            try:
                is_rude = dice.random() < 0.2
                work = break_off(url, dice) if is_rude else ask(session, url, dice)
                answers[await work] += 1
            except (aiohttp.ClientError, ConnectionError):
                answers[0] += 1


async def fuzz(seconds: float, seed: int) -> int:
    server, answers = Server(clock=RealClock()), Counter[int]()
    async with server, HttpServer(server.handler, ListenOptions()) as http:
        until = time.monotonic() + seconds
        before = memory_mb()
        work = (client(http.url, until, seed + number, answers) for number in range(CLIENTS))
        await asyncio.gather(*work)
        async with aiohttp.ClientSession() as session:
            honest = (await session.get(f"{http.url}{ROOT}/pods")).status
    for code, count in sorted(answers.items()):
        print(f"{count:8} {code or 'broken off'}")
    print(f"{before:.0f} MB before, {memory_mb():.0f} MB after; an honest request gets {honest}")
    return 0 if honest == 200 else 1


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox_fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    configure_logs(clock=RealClock(), level="error")
    return asyncio.run(fuzz(options.seconds, options.seed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
