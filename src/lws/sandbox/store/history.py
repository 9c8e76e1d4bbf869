"""The changes of one resource, as far back as they are remembered, and cursors into them."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial

from lws.sandbox.store.changes import Change
from lws.sandbox.store.errors import Compacted


class History:
    """Changes in order of revision. At least `window` of them are kept, at most twice as many."""

    def __init__(self, *, window: int, floor: int) -> None:
        self._window = window
        self._changes: list[Change] = []
        self._dropped = 0
        self._subscribers: dict[Callable[[], None], None] = {}  # a set that keeps its order
        self.floor = floor
        """The revision of the newest change that is forgotten."""

    def append(self, change: Change) -> None:
        """Remember, and wake who waits."""
        self._changes.append(change)
        if len(self._changes) >= 2 * self._window:
            self._drop(self._window)
        self._wake()

    def forget(self, revision: int) -> None:
        """Forget all changes up to this revision, and that there were none."""
        self._drop(bisect_right(self._changes, revision, key=_revision))
        self.floor = max(self.floor, revision)
        self._wake()

    def after(self, revision: int) -> Sequence[Change]:
        """All later changes; `Compacted` if some of them are forgotten."""
        self.require(revision)
        return self._changes[bisect_right(self._changes, revision, key=_revision) :]

    def require(self, revision: int) -> None:
        """`Compacted` if a change after `revision` is forgotten."""
        if revision < self.floor:
            raise Compacted(revision, self.floor)

    def position(self, revision: int) -> int:
        """How many changes there were up to `revision`, forgotten ones too."""
        return self._dropped + bisect_right(self._changes, revision, key=_revision)

    def since(self, position: int, most: int) -> Sequence[Change]:
        """Changes from a position on; `Compacted` if the next one is forgotten."""
        if position < self._dropped:
            raise Compacted(0, self.floor)
        start = position - self._dropped
        return self._changes[start : start + most]

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` whenever something has come or gone; the result ends that."""
        self._subscribers[wake] = None
        return partial(self._subscribers.pop, wake, None)

    def _drop(self, count: int) -> None:
        if count:
            self.floor = self._changes[count - 1].revision
            del self._changes[:count]
            self._dropped += count

    def _wake(self) -> None:
        for wake in list(self._subscribers):
            wake()


class Cursor:
    """Reads a history from a revision on; each change once, in order."""

    def __init__(self, history: History, revision: int) -> None:
        history.require(revision)
        self._history = history
        self._position = history.position(revision)

    def take(self, most: int = 1000) -> Sequence[Change]:
        """What has come since; nothing if nothing has. `Compacted` if it came too long ago."""
        changes = self._history.since(self._position, most)
        self._position += len(changes)
        return changes

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` whenever `take` has something new, or fails; the result ends that."""
        return self._history.subscribe(wake)


def _revision(change: Change) -> int:
    return change.revision
