"""What the process counts, under the names that controller-runtime's dashboards use.

`lws_…` are names that controller-runtime has no word for. One `Metrics` a process; parts of the
runtime that are given none count into one of their own that nobody reads.
"""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PASS_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
QUEUE_SECONDS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300)
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

HTTP_METHODS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """Of one work queue."""

    adds: Counter
    retries: Counter
    queue_seconds: Histogram
    work_seconds: Histogram
    depth: Gauge

    def watch_depth(self, depth: Callable[[], float]) -> None:
        """Ask for the depth when metrics are read, not at every change."""
        self.depth.set_function(depth)


class ControllerMetrics:
    """Of one controller."""

    def __init__(self, metrics: "Metrics", controller: str) -> None:
        self._total = metrics.reconcile_total
        self._controller = controller
        self.errors = metrics.reconcile_errors.labels(controller)
        self.seconds = metrics.reconcile_seconds.labels(controller)
        self.panics = metrics.reconcile_panics.labels(controller)
        self.active = metrics.active_workers.labels(controller)
        self.deferred = metrics.deferred.labels(controller)
        for result in ("success", "requeue_after", "requeue", "error"):
            self.result(result)  # present from the start, so that a rate can be taken

    def result(self, result: str) -> Counter:
        """The count of passes with this result."""
        return self._total.labels(self._controller, result)


@dataclass(frozen=True, slots=True)
class InformerMetrics:
    """Of one informer."""

    lists: Counter
    watches: Counter
    events: Counter
    malformed: Counter
    handler_errors: Counter
    objects: Gauge
    lag: Gauge


class Metrics:
    """All metric families, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._add_controllers()
        self._add_queues()
        self._add_informers()
        self._add_client()

    def _add_controllers(self) -> None:
        name = "controller_runtime"
        self.reconcile_total = self._counter(
            f"{name}_reconcile", "Passes by result", "controller", "result"
        )
        self.reconcile_errors = self._counter(
            f"{name}_reconcile_errors", "Passes that failed", "controller"
        )
        self.reconcile_panics = self._counter(
            f"{name}_reconcile_panics", "Passes that failed by a mistake of ours", "controller"
        )
        self.reconcile_seconds = self._histogram(
            f"{name}_reconcile_time_seconds", "Length of a pass", PASS_SECONDS, "controller"
        )
        self.active_workers = self._gauge(
            f"{name}_active_workers", "Passes in flight", "controller"
        )
        self.deferred = self._counter(
            "lws_reconcile_deferred",
            "Passes put off because the cache had not yet seen our last write",
            "controller",
        )

    def _add_queues(self) -> None:
        self._queue_depth = self._gauge("workqueue_depth", "Keys ready and waiting", "name")
        self._queue_adds = self._counter("workqueue_adds", "Keys added", "name")
        self._queue_retries = self._counter("workqueue_retries", "Keys added for a retry", "name")
        self._queue_seconds = self._histogram(
            "workqueue_queue_duration_seconds",
            "From the moment a key is wanted to the start of its pass",
            QUEUE_SECONDS,
            "name",
        )
        self._work_seconds = self._histogram(
            "workqueue_work_duration_seconds", "Length of a key's pass", PASS_SECONDS, "name"
        )

    def _add_informers(self) -> None:
        name = "lws_informer"
        self._lists = self._counter(f"{name}_lists", "Whole lists read", "resource")
        self._watches = self._counter(f"{name}_watches", "Watches begun", "resource")
        self._events = self._counter(f"{name}_events", "Watch events, no bookmarks", "resource")
        self._malformed = self._counter(
            f"{name}_malformed", "Objects that could not be read, and were left out", "resource"
        )
        self._handler_errors = self._counter(
            f"{name}_handler_errors", "Handlers that failed on a change", "resource"
        )
        self._objects = self._gauge(f"{name}_objects", "Objects in the cache", "resource")
        self._lag = self._gauge(
            f"{name}_silence_seconds",
            "Since the watch last said anything; the server speaks about once a minute",
            "resource",
        )

    def _add_client(self) -> None:
        self._requests = self._counter(
            "rest_client_requests", "Requests to the API server", "code", "method", "host"
        )
        self._request_seconds = self._histogram(
            "rest_client_request_duration_seconds",
            "Time to an answer; of a watch, to its first byte",
            REQUEST_SECONDS,
            "verb",
            "host",
        )
        self._leader = self._gauge(
            "leader_election_master_status", "1 where this process leads", "name"
        )
        self.certificate_expiry = self._gauge(
            "lws_serving_certificate_expiry_timestamp_seconds",
            "When the served certificate ends, in seconds since 1970; 0 before there is one",
        )
        self.events_written = self._counter("lws_events_written", "Events and series written")
        self.events_dropped = self._counter("lws_events_dropped", "Events given up", "why")

    def queue(self, name: str) -> QueueMetrics:
        """Of the work queue of that name."""
        return QueueMetrics(
            adds=self._queue_adds.labels(name),
            retries=self._queue_retries.labels(name),
            queue_seconds=self._queue_seconds.labels(name),
            work_seconds=self._work_seconds.labels(name),
            depth=self._queue_depth.labels(name),
        )

    def controller(self, name: str) -> ControllerMetrics:
        """Of the controller of that name."""
        return ControllerMetrics(self, name)

    def informer(self, resource: str) -> InformerMetrics:
        """Of the informer of that resource."""
        return InformerMetrics(
            lists=self._lists.labels(resource),
            watches=self._watches.labels(resource),
            events=self._events.labels(resource),
            malformed=self._malformed.labels(resource),
            handler_errors=self._handler_errors.labels(resource),
            objects=self._objects.labels(resource),
            lag=self._lag.labels(resource),
        )

    def requests(self, host: str) -> "RequestMetrics":
        """An observer of the transport to that host."""
        return RequestMetrics(self._requests, self._request_seconds, host)

    def leads(self, name: str, leading: bool) -> None:
        """This process leads, or does not, by the lease of that name."""
        self._leader.labels(name).set(float(leading))

    def counter(self, name: str, help_text: str, *labels: str) -> Counter:
        """A family that the runtime knows nothing about."""
        return self._counter(name, help_text, *labels)

    def gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        """A family that the runtime knows nothing about."""
        return self._gauge(name, help_text, *labels)

    def histogram(
        self, name: str, help_text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        """A family that the runtime knows nothing about."""
        return self._histogram(name, help_text, buckets, *labels)

    def value(self, name: str, /, **labels: str) -> float:
        """What one series holds now, 0 if there is none; for tests and for status lines."""
        return self.registry.get_sample_value(name, labels) or 0.0

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, registry=self.registry)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(name, help_text, labels, registry=self.registry)

    def _histogram(
        self, name: str, help_text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(name, help_text, labels, registry=self.registry, buckets=buckets)


class RequestMetrics:
    """Counts the answers of one host, as the client's Observer."""

    def __init__(self, total: Counter, seconds: Histogram, host: str) -> None:
        self._total = total
        self._seconds = seconds
        self._host = host
        self._children: dict[tuple[str, str], tuple[Counter, Histogram]] = {}

    def on_response(self, *, verb: str, resource: str, code: str, seconds: float) -> None:
        """One answer; controller-runtime's dashboards do not tell resources apart."""
        del resource
        children = self._children.get((verb, code))
        if children is None:
            method = HTTP_METHODS.get(verb, "GET")
            total = self._total.labels(code, method, self._host)
            children = total, self._seconds.labels(verb, self._host)
            self._children[verb, code] = children
        children[0].inc()
        children[1].observe(seconds)
