"""Python's cycle collector, kept off objects that make no cycles.

Reading ten thousand objects makes so many allocations that the collector walks all of them again
and again while they come; and later, each full collection would walk them once more.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_paused = 0
_was_enabled = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection inside; what is alive afterwards is never looked at again. May be nested, and
    entered by several tasks at once: the last one out switches it on."""
    global _paused, _was_enabled
    if _paused == 0:
        _was_enabled = gc.isenabled()
        gc.disable()
    _paused += 1
    try:
        yield
        gc.freeze()
    finally:
        _paused -= 1
        if _paused == 0 and _was_enabled:
            gc.enable()
