"""How fast we ask: a token bucket, first come first served, the lease before all."""

from lws.base.clock import Clock
from lws.client.requests import Priority


class RateLimiter:
    """`qps` requests a second, `burst` at once after a pause; no limit if `qps` is 0.

    Who comes takes a token at once, and waits until it exists: so the order of waiting is the
    order of coming, and nobody need be woken.
    """

    def __init__(self, *, qps: float, burst: int, clock: Clock) -> None:
        assert qps <= 0 or burst >= 1, "a bucket that holds nothing lets nothing through"
        self._qps = qps
        self._burst = float(burst)
        self._clock = clock
        self._tokens = float(burst)
        self._filled_at = clock.monotonic()

    async def admit(self, priority: Priority) -> None:
        """Returns when it is this request's turn. The lease's turn is always now; its token is
        paid for by those who come after."""
        if self._qps <= 0:
            return
        self._fill()
        self._tokens -= 1
        if priority is Priority.LEASE or self._tokens >= 0:
            return
        try:
            await self._clock.sleep(-self._tokens / self._qps)
        except BaseException:
            self._tokens = min(self._burst, self._tokens + 1)  # not used after all
            raise

    def _fill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps)
        self._filled_at = now
