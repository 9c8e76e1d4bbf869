"""Why the store refuses."""

from lws.base.errors import LwsError


class StoreError(LwsError):
    """The store did nothing."""


class Exists(StoreError):
    """The name is taken."""


class Missing(StoreError):
    """There is no such object."""


class Changed(StoreError):
    """The object is not at the revision that the writer saw."""


class Compacted(StoreError):
    """What was asked for is older than what the store remembers (`oldest` is remembered)."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"revision {asked} is forgotten; the oldest is {oldest}")
        self.asked = asked
        self.oldest = oldest


class FutureRevision(StoreError):
    """The revision has not come yet."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(f"revision {asked} has not come; the newest is {current}")
        self.asked = asked
        self.current = current
