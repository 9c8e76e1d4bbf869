"""What the slices have to say in the status of their set; kept between passes, rebuilt by them."""

from collections.abc import Callable, Mapping

from lws.executor.disaggregatedset.families import DisaggregatedKey, SliceKey
from lws.planner.disaggregatedset.snapshot import SliceReport

_NOTHING = SliceReport()


class Reports:
    """By set and slice; `wake_set` is called when what a set's slices say has changed."""

    def __init__(self, wake_set: Callable[[DisaggregatedKey], None]) -> None:
        self._wake_set = wake_set
        self._seen: dict[DisaggregatedKey, set[int]] = {}
        self._telling: dict[DisaggregatedKey, dict[int, SliceReport]] = {}

    def note(self, key: SliceKey, report: SliceReport) -> None:
        """A pass of a slice has ended."""
        ds = DisaggregatedKey(key.namespace, key.ds)
        seen = self._seen.setdefault(ds, set())
        telling = self._telling.setdefault(ds, {})
        is_first = key.slice_index not in seen
        seen.add(key.slice_index)
        before = telling.get(key.slice_index, _NOTHING)
        if report == _NOTHING:
            telling.pop(key.slice_index, None)
        else:
            telling[key.slice_index] = report
        if is_first or report != before:
            self._wake_set(ds)

    def of(self, key: DisaggregatedKey) -> Mapping[int, SliceReport]:
        """Of the slices that have something to say."""
        return self._telling.get(key, {})

    def is_complete(self, key: DisaggregatedKey, *, slices: int) -> bool:
        """Whether every slice has been looked at since this process started to act."""
        return len(self._seen.get(key, ())) >= slices

    def forget_slice(self, key: SliceKey) -> None:
        """The slice is not wanted any more, and nothing is left of it."""
        ds = DisaggregatedKey(key.namespace, key.ds)
        self._seen.get(ds, set()).discard(key.slice_index)
        self._telling.get(ds, {}).pop(key.slice_index, None)

    def forget(self, key: DisaggregatedKey) -> None:
        """The set is gone."""
        self._seen.pop(key, None)
        self._telling.pop(key, None)
