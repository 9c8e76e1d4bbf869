"""How long to wait after so many failures. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Doubling from `base` to `cap`; up to the part `jitter` of it is taken off by chance, so that
    what failed together does not come back together."""

    base: float
    cap: float
    jitter: float = 0.5
    factor: float = 2.0

    def delay(self, failures: int, chance: float) -> float:
        """Seconds to wait after `failures` failures before this one; `chance` in [0, 1)."""
        doublings = min(failures, 64)  # beyond, the power overflows and the cap rules anyway
        whole = min(self.cap, self.base * self.factor**doublings)
        return whole * (1 - self.jitter * chance)
