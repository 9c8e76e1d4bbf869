"""From failures of a pass to when its key is looked at again."""

from collections.abc import Iterable, Sequence

from lws.client.errors import Conflict
from lws.executor.perform import Failure, Standing
from lws.runtime.controller import Unfinished

FOREIGN_SECONDS = 5.0
"""How soon a place that something foreign takes is tried again."""


def next_look(failures: Sequence[Failure], wishes: Iterable[float | None]) -> float | None:
    """Seconds until the next pass; raises where the key's backoff should decide.

    A write that the API server refuses is no failure of the pass: it is held back by itself and
    told to the user, and the pass comes again when it may be tried. Nor does one that failed delay
    what another strand has a time for.
    """
    waits = [wish for wish in wishes if wish is not None]
    waits += [one.wait_seconds for one in failures if one.standing is Standing.TOLD]
    waits += [FOREIGN_SECONDS for one in failures if one.standing is Standing.FOREIGN]
    soonest = min(waits, default=None)
    for failure in failures:
        if failure.standing in (Standing.STALE, Standing.RETRY):
            error = failure.error or Conflict(failure.message)
            raise error if soonest is None else Unfinished(error, wake_after=soonest)
    return soonest
