"""One leader at a time, by a Lease.

No clock of another machine is believed. A candidate waits for the lease's whole length from the
moment it *saw* the holder's last renewal; the holder stops at its last good renewal's *sending*
plus the renew deadline, which is shorter. So the holder has stopped before the other may begin.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import structlog

from lws.base.clock import Clock
from lws.base.errors import InvalidInput, LwsError
from lws.base.times import format_micro_time
from lws.client import requests
from lws.client.errors import ClientError, MalformedAnswer, Normal, NotFound
from lws.client.requests import Priority, Request
from lws.client.resources import LEASES
from lws.runtime.clock import Deadline
from lws.runtime.metrics import Metrics

log = structlog.get_logger(__name__)

LEASE_SECONDS_MAX = 2**31 - 1  # an int32 on the wire
CANDIDATE_JITTER = 1.2  # client-go's: candidates ask every 1 to 2.2 retry periods

Lease = dict[str, Any]


class Client(Protocol):
    """The part of the client that an elector uses."""

    async def request_bytes(self, request: Request) -> bytes: ...


class LeadershipLost(LwsError):
    """The lease could not be renewed in time, or is another's; this process must stop acting."""


class LeaderElector:
    """`run` waits for the lease, leads, and ends by LeadershipLost, or without error by `release`.

    Callbacks are plain functions, called on the event loop. `is_leader` is right at any moment,
    also when the loop was too busy to call `on_stopped` yet.
    """

    def __init__(
        self,
        *,
        client: Client,
        clock: Clock,
        name: str,
        namespace: str,
        identity: str,
        lease_seconds: float = 15.0,
        renew_seconds: float = 10.0,
        retry_seconds: float = 2.0,
        on_started: Callable[[], None] | None = None,
        on_stopped: Callable[[], None] | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        check_times(lease_seconds, renew_seconds, retry_seconds)
        self._client = client
        self._clock = clock
        self._name = name
        self._namespace = namespace
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._renew_seconds = renew_seconds
        self._retry_seconds = retry_seconds
        self._on_started = on_started or _nothing
        self._on_stopped = on_stopped or _nothing
        self._metrics = metrics or Metrics()
        self._metrics.leads(name, False)
        self._held: Lease | None = None  # the lease as our last write left it
        self._observed: dict[str, Any] | None = None
        self._observed_at = 0.0
        self._renewed_at = -math.inf
        self._leading = False
        self._elected = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._releasing = False
        self._log = log.bind(lease=name, identity=identity)

    @property
    def is_leader(self) -> bool:
        """May this process act?"""
        return self._leading and self._clock.monotonic() < self._leads_until

    @property
    def holder(self) -> str:
        """Who held the lease when we last looked."""
        return _holder(self._observed or {})

    async def elected(self) -> None:
        """Wait until this process leads for the first time."""
        await self._elected.wait()

    async def run(self) -> None:
        """Wait for the lease, then keep it."""
        if self._releasing:
            return
        self._work = asyncio.create_task(self._acquire_and_keep(), name="leader election")
        try:
            await asyncio.wait((self._work,))
        finally:
            self._work.cancel()
            self._stop_leading()
        if not self._work.cancelled():
            self._work.result()

    async def release(self) -> None:
        """Give the lease up, so that the next leader need not wait; only after all work stopped."""
        self._releasing = True
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait((self._work,))
        if self._held is None:
            return
        self._stop_leading()
        try:
            async with Deadline(self._clock, self._renew_seconds / 2):
                await self._give_up()
        except (ClientError, TimeoutError) as error:
            self._log.warning("lease not released, it will expire", error=str(error))

    @property
    def _leads_until(self) -> float:
        return self._renewed_at + self._renew_seconds

    async def _acquire_and_keep(self) -> None:
        while not await self._attempt():
            spread = 1 + CANDIDATE_JITTER * self._clock.random()
            await self._clock.sleep(self._retry_seconds * spread)
        self._start_leading()
        await self._keep()

    async def _keep(self) -> None:
        while True:
            await self._clock.sleep(self._retry_seconds)
            try:
                async with Deadline(self._clock, self._leads_until - self._clock.monotonic()):
                    while not await self._attempt():
                        self._check_still_ours()
                        await self._clock.sleep(self._retry_seconds)
            except TimeoutError as error:
                self._held = None
                raise LeadershipLost("the lease could not be renewed in time") from error

    def _check_still_ours(self) -> None:
        if self._held is None and self.holder not in ("", self._identity):
            raise LeadershipLost(f"the lease is now held by {self.holder}")

    def _start_leading(self) -> None:
        if not self._clock.monotonic() < self._leads_until:
            raise LeadershipLost("the lease was gained too late to be used")
        self._log.info("leading")
        self._leading = True
        self._metrics.leads(self._name, True)
        self._elected.set()
        self._on_started()

    def _stop_leading(self) -> None:
        if not self._leading:
            return
        self._leading = False
        self._metrics.leads(self._name, False)
        self._log.info("no longer leading")
        self._on_stopped()

    async def _attempt(self) -> bool:
        """Try once to gain or renew the lease; is it ours now?"""
        try:
            async with Deadline(self._clock, self._renew_seconds / 2):
                return await self._gain()
        except Normal as error:
            self._held = None
            self._log.debug("lease changed while we wrote it", error=str(error))
        except (ClientError, TimeoutError) as error:
            self._log.warning("lease not reached", error=str(error))
        return False

    async def _gain(self) -> bool:
        if self._held is not None:
            try:
                return await self._write(self._held)
            except Normal:
                self._held = None  # someone wrote to it: look, then decide
        lease = await self._read()
        if lease is None:
            return await self._write(None)
        self._observe(lease)
        return self._is_free(lease) and await self._write(lease)

    def _observe(self, lease: Lease) -> None:
        """Note when the holder last gave a sign of life, by our own clock."""
        spec = _spec(lease)
        if spec != self._observed:
            self._observed = spec
            self._observed_at = self._clock.monotonic()

    def _is_free(self, lease: Lease) -> bool:
        spec = _spec(lease)
        if _holder(spec) in ("", self._identity):
            return True
        length = spec.get("leaseDurationSeconds")
        seconds = length if isinstance(length, int) and length > 0 else self._lease_seconds
        return self._clock.monotonic() >= self._observed_at + seconds

    async def _read(self) -> Lease | None:
        request = requests.get(LEASES, namespace=self._namespace, name=self._name)
        try:
            return await self._send(request)
        except NotFound:
            return None

    async def _write(self, lease: Lease | None) -> bool:
        """Make the lease ours. What counts is when we sent it, not when the answer came."""
        sent_at = self._clock.monotonic()
        answer = await self._send(self._request_for(self._ours(lease)))
        self._held = answer
        self._observe(answer)
        self._renewed_at = sent_at
        return True

    def _ours(self, lease: Lease | None) -> Lease:
        now = format_micro_time(self._clock.now())
        old = _spec(lease or {})
        spec = {**old, "holderIdentity": self._identity, "renewTime": now}
        spec["leaseDurationSeconds"] = max(1, math.ceil(self._lease_seconds))
        if _holder(old) != self._identity:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = _transitions(old) + (1 if lease else 0)
        return self._with_spec(lease, spec)

    async def _give_up(self) -> None:
        """Leave the lease without a holder; if someone wrote to it meanwhile, look again once."""
        assert self._held is not None
        try:
            await self._send(self._request_for(self._released(self._held)))
        except Normal:
            lease = await self._read()
            if lease is not None and _holder(_spec(lease)) == self._identity:
                await self._send(self._request_for(self._released(lease)))
        self._held = None

    def _released(self, lease: Lease) -> Lease:
        now = format_micro_time(self._clock.now())
        spec = {**_spec(lease), "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now}
        return self._with_spec(lease, spec)

    def _with_spec(self, lease: Lease | None, spec: dict[str, Any]) -> Lease:
        if lease is not None:
            return {**lease, "spec": spec}
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": spec,
        }

    def _request_for(self, lease: Lease) -> Request:
        """Creation without a resourceVersion, else replacement of exactly that version."""
        if "resourceVersion" not in lease["metadata"]:
            return requests.create(LEASES, namespace=self._namespace, body=lease)
        return requests.replace(LEASES, namespace=self._namespace, name=self._name, body=lease)

    async def _send(self, request: Request) -> Lease:
        timely = request.at_priority(Priority.LEASE).within(self._renew_seconds / 2)
        body = await self._client.request_bytes(timely)
        try:
            return msgspec.json.decode(body, type=_LeaseShape).whole(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswer(f"not a lease ({error})") from error


class _MetaShape(msgspec.Struct, rename="camel"):
    resource_version: str


class _LeaseShape(msgspec.Struct):
    """What must be there for us to work with a lease; the rest is kept as it is."""

    metadata: _MetaShape
    spec: dict[str, Any] | None = None

    def whole(self, body: bytes) -> Lease:
        return msgspec.json.decode(body, type=dict[str, Any])


def check_times(lease_seconds: float, renew_seconds: float, retry_seconds: float) -> None:
    """InvalidInput if they do not fit together, or into a Lease."""
    if lease_seconds > LEASE_SECONDS_MAX:
        raise InvalidInput(
            field="leaderElection.leaseDuration", message=f"must be at most {LEASE_SECONDS_MAX} s"
        )
    if lease_seconds <= renew_seconds:
        raise InvalidInput(
            field="leaderElection.leaseDuration", message="must be longer than renewDeadline"
        )
    if retry_seconds <= 0 or renew_seconds <= retry_seconds * CANDIDATE_JITTER:
        raise InvalidInput(
            field="leaderElection.renewDeadline",
            message=f"must be longer than {CANDIDATE_JITTER} times retryPeriod, above zero",
        )


def _spec(lease: Lease) -> dict[str, Any]:
    return lease.get("spec") or {}


def _holder(spec: dict[str, Any]) -> str:
    return str(spec.get("holderIdentity") or "")


def _transitions(spec: dict[str, Any]) -> int:
    count = spec.get("leaseTransitions")
    return count if isinstance(count, int) else 0


def _nothing() -> None:
    return None
