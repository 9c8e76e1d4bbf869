"""How bad the way to the API server is, and what becomes of one request on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from lws.client.requests import Request
from lws.simulation.chance import Chance


class Fate(Enum):
    """What becomes of a request."""

    ARRIVES = auto()
    NEVER_SENT = auto()
    """No connection; the server hears nothing."""
    ANSWER_LOST = auto()
    """Done, and the client is told that the connection broke."""
    LATE = auto()
    """The client gives up; the request arrives all the same, up to half a minute later."""
    HANGS = auto()
    """Neither arrives nor fails, until the client's own time limit."""
    SHED = auto()
    """429, with Retry-After."""
    BROKEN = auto()
    """500, 502, 503 or 504, nothing done."""
    CONFLICT = auto()
    """409 of a writer that the client did not see."""
    CRASH_BEFORE = auto()
    """The client dies, its request unsent."""
    CRASH_AFTER = auto()
    """The client dies, its request done and unanswered."""


class StreamEnd(Enum):
    """How a watch ends before its time."""

    RESET = auto()
    CLEAN = auto()
    HALF_A_LINE = auto()
    GONE = auto()
    """An ERROR event: 410, this version is forgotten."""
    SILENT = auto()
    """It stays open and brings nothing more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Shares of requests, and seconds."""

    fates: Mapping[Fate, float]
    latency: float = 0.02
    """At most, each way."""
    slow: float = 0.0
    """Share of requests that take up to two seconds each way."""
    lag: float = 0.05
    """Of watch events, at most."""
    dull: float = 0.0
    """Share of watches whose events lag up to five seconds."""
    stream_seconds: float = 0.0
    """How long a watch lives on average; 0: as long as it may."""
    webhook_down: float = 0.0
    """Share of reviews that no webhook answers."""

    def fate(self, request: Request, chance: Chance) -> Fate:
        """Drawn for one request."""
        fate = chance.weighted(self.fates)
        if fate is Fate.CONFLICT and request.method == "GET":
            return Fate.ARRIVES
        return fate

    def seconds_on_the_way(self, chance: Chance) -> float:
        """One way."""
        if chance.happens(self.slow):
            return chance.between(0.2, 2.0)
        return chance.between(0.0, self.latency)

    def stream_ends(self, chance: Chance) -> tuple[float, StreamEnd] | None:
        """After so many seconds, and how; None: by itself."""
        if not self.stream_seconds:
            return None
        ends = {
            StreamEnd.RESET: 4.0,
            StreamEnd.CLEAN: 3.0,
            StreamEnd.HALF_A_LINE: 2.0,
            StreamEnd.GONE: 2.0,
            StreamEnd.SILENT: 0.5,
        }
        return chance.between(0.1, 2 * self.stream_seconds), chance.weighted(ends)

    def lag_of_stream(self, chance: Chance) -> float:
        """How far each event lags at most."""
        return chance.between(0.5, 5.0) if chance.happens(self.dull) else self.lag


def _fates(share: float, crashes: float) -> dict[Fate, float]:
    """`share` of each kind of fault, and the rest arrives."""
    faults = {
        Fate.NEVER_SENT: share,
        Fate.ANSWER_LOST: share,
        Fate.LATE: share / 2,
        Fate.HANGS: share / 4,
        Fate.SHED: share,
        Fate.BROKEN: share,
        Fate.CONFLICT: share,
        Fate.CRASH_BEFORE: crashes,
        Fate.CRASH_AFTER: crashes,
    }
    return {Fate.ARRIVES: 1 - sum(faults.values()), **faults}


CALM = Weather(fates={Fate.ARRIVES: 1.0})
ROUGH = Weather(
    fates=_fates(0.02, 0.002), slow=0.02, dull=0.1, stream_seconds=60.0, webhook_down=0.02
)
STORM = Weather(
    fates=_fates(0.08, 0.006), slow=0.1, dull=0.3, stream_seconds=10.0, webhook_down=0.2
)
CRASHY = Weather(fates=_fates(0.005, 0.02), stream_seconds=120.0)

WEATHERS: tuple[Weather, ...] = (CALM, ROUGH, ROUGH, STORM, CRASHY)
"""Each as likely as any other."""
