"""Waiting for something to become true, with a message that says what was not."""

import time
from collections.abc import Callable
from typing import TypeVar

from harness.kube import ApiError

T = TypeVar("T")


class NotYetError(AssertionError):
    """What was waited for did not happen in time."""


def eventually(
    check: Callable[[], T],
    *,
    timeout: float = 30,
    every: float = 0.05,
    what: str = "",
    retry_on: tuple[type[Exception], ...] = (AssertionError, OSError, ApiError),
) -> T:
    """The first true value of `check`; `NotYetError` (an AssertionError) after `timeout` seconds.

    An exception in `retry_on` counts as "not yet", and the last one becomes part of the message.
    """
    deadline = time.monotonic() + timeout
    while True:
        last: object
        try:
            value = check()
            if value:
                return value
            last = value
        except retry_on as problem:
            last = problem
        if time.monotonic() >= deadline:
            wanted = what or getattr(check, "__name__", "the condition")
            raise NotYetError(f"after {timeout:g} s still not: {wanted} (last: {last!r})")
        time.sleep(every)
