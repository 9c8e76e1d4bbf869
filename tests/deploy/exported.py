"""What the operator exports."""

from functools import cache

from lws.controllers.metrics import DisaggregatedSetMetrics, SetMetrics
from lws.runtime.metrics import Metrics


@cache
def exported() -> dict[str, frozenset[str]]:
    """Every series' name that the process exports, with its labels."""
    metrics = Metrics()
    SetMetrics(metrics)
    DisaggregatedSetMetrics(metrics)
    names: dict[str, frozenset[str]] = {}
    for collector, own in metrics.registry._collector_to_names.items():
        labels = frozenset(collector._labelnames)  # type: ignore[attr-defined]
        for name in own:
            names[name] = labels | ({"le"} if name.endswith("_bucket") else set())
    return names
