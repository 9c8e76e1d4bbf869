"""What follows from what, remembered; and where a state stands among those that were found."""

from array import array
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from tests.property.rollout.numbering import Numbers

Places = npt.NDArray[np.int64]
Kept = npt.NDArray[np.int32]
"""Places of which there are very many."""


class Table:
    """Rows of numbers by key, each made once by `make`."""

    def __init__(self, make: Callable[[int], Iterable[int]]) -> None:
        self._make = make
        self.clear()

    def __len__(self) -> int:
        return len(self._rows)

    def clear(self) -> None:
        """Forget all."""
        self._rows: dict[int, int] = {}
        self._ends, self._cells = array("q", [0]), array("q")

    def look_up(self, keys: Numbers) -> tuple[Places, Numbers]:
        """All cells of the rows of these keys one after the other, and to which key each belongs,
        by its place in `keys`."""
        asked, back = np.unique(keys, return_inverse=True)
        rows = np.array([self._row(key) for key in asked.tolist()], dtype=np.int64)[back]
        ends = np.frombuffer(self._ends, dtype=np.int64)
        first, count = ends[rows], ends[rows + 1] - ends[rows]
        owners = np.repeat(np.arange(len(keys)), count)
        begun = np.cumsum(count) - count
        cells = np.arange(len(owners)) + np.repeat(first - begun, count)
        found = np.frombuffer(self._cells, dtype=np.int64)[cells] if len(cells) else cells
        return owners, found

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            cells = self._make(key)  # may look up other keys
            row = self._rows[key] = len(self._rows)
            self._cells.extend(cells)
            self._ends.append(len(self._cells))
        return row


class Register:
    """Numbers in the order in which they came, and the place of each."""

    _FREE = -1

    def __init__(self) -> None:
        self.count = 0
        self._numbers = np.empty(1 << 10, dtype=np.int64)
        self._slots = np.full(1 << 12, self._FREE, dtype=np.int32)

    def numbers(self, first: int, end: int) -> Numbers:
        """Those at these places."""
        return self._numbers[first:end]

    def enter(self, numbers: Numbers) -> Places:
        """Their places; those that are new come to the end. Each is given once."""
        self._make_room(self.count + len(numbers))
        places, slots = self._find(numbers)
        is_new = places < 0
        entered = numbers[is_new]
        here = np.arange(self.count, self.count + len(entered))
        self._numbers[here] = entered
        self._settle(here, slots[is_new])
        self.count += len(entered)
        places[is_new] = here
        return places

    def _find(self, numbers: Numbers) -> tuple[Places, Places]:
        """The place of each, or -1 and the free slot where the search for it ended."""
        mask = len(self._slots) - 1
        slots = _scattered(numbers) & mask
        places = np.full(len(numbers), -1, dtype=np.int64)
        open_ = np.arange(len(numbers))
        while len(open_):
            there = self._slots[slots[open_]]
            used = there != self._FREE
            open_, there = open_[used], there[used]
            same = self._numbers[there] == numbers[open_]
            places[open_[same]] = there[same]
            open_ = open_[~same]
            slots[open_] = (slots[open_] + 1) & mask
        return places, slots

    def _settle(self, places: Places, slots: Places) -> None:
        mask = len(self._slots) - 1
        while len(places):
            free = self._slots[slots] == self._FREE
            self._slots[slots[free]] = places[free]  # of several the last one stays
            lost = self._slots[slots] != places
            places, slots = places[lost], (slots[lost] + 1) & mask

    def _make_room(self, count: int) -> None:
        if count > len(self._numbers):
            self._numbers = np.resize(self._numbers, max(count, 2 * len(self._numbers)))
        if 2 * count > len(self._slots):
            size = len(self._slots)
            while 2 * count > size:
                size *= 2
            self._slots = np.full(size, self._FREE, dtype=np.int32)
            standing = self._numbers[: self.count]
            self._settle(np.arange(self.count), _scattered(standing) & (size - 1))


def _scattered(numbers: Numbers) -> Places:
    """Spread over 40 bits, each of which depends on the whole number."""
    mixed = numbers.astype(np.uint64)
    for factor in _FACTORS:
        mixed ^= mixed >> _HALF
        mixed *= factor
    return (mixed >> _REST).astype(np.int64)


_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
_HALF, _REST = np.uint64(32), np.uint64(24)


def endless(degrees: Kept, targets: Kept) -> Places:
    """Of some places those that are on a cycle, or only reached through one. From each so many
    edges lead, to `targets`, which stand one place after the other."""
    waiting = np.bincount(targets, minlength=len(degrees)).astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(degrees)])
    ready = np.flatnonzero(waiting == 0)
    done = np.zeros(len(degrees), dtype=bool)
    while len(ready):
        done[ready] = True
        length = ends[ready + 1] - ends[ready]
        begun = np.cumsum(length) - length
        edges = np.arange(length.sum()) + np.repeat(ends[ready] - begun, length)
        reached, times = np.unique(targets[edges], return_counts=True)
        waiting[reached] -= times
        ready = reached[waiting[reached] == 0]
    return np.flatnonzero(~done)
