"""Records what happens to objects of a namespace; checks an invariant after every change."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlencode

from harness.kube import ApiError, Json, Kube
from harness.waiting import eventually

Invariant = Callable[[Mapping[str, Json]], str | None]
"""From the live objects by name to what is wrong with them, or None."""


@dataclass(frozen=True)
class Change:
    """One event of the watch."""

    at: float  # time.monotonic() when it reached us
    kind: str  # ADDED, MODIFIED, DELETED
    name: str
    uid: str
    item: Json


@dataclass(frozen=True)
class Violation:
    """The invariant did not hold after this change."""

    change: Change
    problem: str
    live: Mapping[str, Json]


class _LostHistoryError(Exception):
    """The server no longer has the changes since our version: list anew."""


class Recorder:
    """Watches from `__enter__` on, in a thread of its own; rides out a restart of the server.

    Every change is seen, as long as the server keeps the history (410 means a new list, and then
    what was missed is told as the difference, in `gaps`).
    """

    def __init__(
        self,
        kube: Kube,
        namespace: str,
        *,
        resource: str = "pods",
        selector: str | None = None,
        invariant: Invariant | None = None,
    ) -> None:
        """Pods, unless another resource is named."""
        self._kube = kube
        self._namespace = namespace
        self._resource = resource
        self._selector = selector
        self._invariant = invariant
        self._lock = threading.Condition()
        self._live: dict[str, Json] = {}
        self._version = ""
        self._connection: http.client.HTTPSConnection | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {resource}", daemon=True)
        self._failure: BaseException | None = None
        self.changes: list[Change] = []
        self.violations: list[Violation] = []
        self.gaps = 0

    # What was seen

    def created(self, name: str | None = None) -> int:
        """How many objects (of this name) were created since the start."""
        return self._count("ADDED", name)

    def deleted(self, name: str | None = None) -> int:
        """How many objects (of this name) are gone since the start."""
        return self._count("DELETED", name)

    def creations(self) -> Counter[str]:
        """Creations by name."""
        with self._lock:
            return Counter(change.name for change in self.changes if change.kind == "ADDED")

    def deletions(self) -> Counter[str]:
        """Deletions by name."""
        with self._lock:
            return Counter(change.name for change in self.changes if change.kind == "DELETED")

    def uids(self, name: str) -> list[str]:
        """The identities that had this name, in order, the first from before the start maybe."""
        with self._lock:
            return list(dict.fromkeys(c.uid for c in self.changes if c.name == name))

    def live(self) -> dict[str, Json]:
        """The objects that exist, by name."""
        with self._lock:
            return dict(self._live)

    def wait_for(
        self, predicate: Callable[[Mapping[str, Json]], object], *, timeout: float = 30
    ) -> dict[str, Json]:
        """The live objects as soon as the predicate is true of them."""
        with self._lock:
            if not self._lock.wait_for(lambda: bool(predicate(self._live)), timeout):
                names = {name: item["metadata"]["uid"] for name, item in self._live.items()}
                raise AssertionError(f"not within {timeout:g} s; live: {names}")
            return dict(self._live)

    def catch_up(self, timeout: float = 10) -> None:
        """Return when everything that the server has now was seen."""

        def is_level() -> bool:
            there = {item["metadata"]["name"]: _identity(item) for item in self._list()["items"]}
            return there == {name: _identity(item) for name, item in self.live().items()}

        eventually(is_level, timeout=timeout, what="the recorder has seen all changes")

    def require_clean(self) -> None:
        """An AssertionError that shows the first violations of the invariant, if there are any."""
        self.catch_up()
        shown = [f"after {v.change.kind} {v.change.name}: {v.problem}" for v in self.violations]
        assert not shown, f"{len(shown)} violations, first: " + "; ".join(shown[:3])

    def _count(self, kind: str, name: str | None) -> int:
        with self._lock:
            return sum(c.kind == kind and name in (None, c.name) for c in self.changes)

    # How it is seen

    def __enter__(self) -> "Recorder":
        """List, then watch from there."""
        whole = self._list()
        self._live = {item["metadata"]["name"]: item for item in whole["items"]}
        self._version = whole["metadata"]["resourceVersion"]
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching; an error of the thread is raised here."""
        self._stopped.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)  # past the TLS layer
        self._thread.join(10)
        if self._failure is not None and error is None:
            raise RuntimeError("the recorder's thread failed") from self._failure

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                self._watch_once()
        except BaseException as problem:  # noqa: BLE001 - shown by __exit__
            self._failure = problem

    def _watch_once(self) -> None:
        try:
            for event in self._events():
                self._take(event)
        except _LostHistoryError:
            self._relist()
        except (OSError, http.client.HTTPException, ApiError, ValueError):
            # The server went away, or we were stopped while reading; ask again a little later.
            self._stopped.wait(0.2)

    def _events(self) -> Iterator[Json]:
        query = {"watch": "true", "resourceVersion": self._version, "allowWatchBookmarks": "true"}
        if self._selector:
            query["labelSelector"] = self._selector
        path = self._kube.resource(self._resource).path(self._namespace)
        connection = self._kube.connect(timeout=None)
        self._connection = connection
        try:
            connection.request(
                "GET", f"{path}?{urlencode(query)}", headers=dict(self._kube.headers)
            )
            if self._stopped.is_set():  # a stop before there was a socket to shut down
                return
            response = connection.getresponse()
            if response.status == 410:
                raise _LostHistoryError
            if response.status != 200:
                raise OSError(f"watch answered {response.status}")
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def _take(self, event: Json) -> None:
        item = event["object"]
        if event["type"] == "ERROR":
            if item.get("code") == 410:
                raise _LostHistoryError
            raise OSError(f"watch said {item.get('message')}")
        self._version = item["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            self._record(event["type"], item)

    def _record(self, kind: str, item: Json) -> None:
        meta = item["metadata"]
        change = Change(time.monotonic(), kind, meta["name"], meta["uid"], item)
        with self._lock:
            if kind == "DELETED":
                self._live.pop(change.name, None)
            else:
                self._live[change.name] = item
            self.changes.append(change)
            problem = self._invariant(self._live) if self._invariant else None
            if problem is not None:
                self.violations.append(Violation(change, problem, dict(self._live)))
            self._lock.notify_all()

    def _relist(self) -> None:
        whole = self._list()
        self.gaps += 1
        fresh = {item["metadata"]["name"]: item for item in whole["items"]}
        for name, old in list(self._live.items()):
            if name not in fresh or fresh[name]["metadata"]["uid"] != old["metadata"]["uid"]:
                self._record("DELETED", old)
        for name, item in fresh.items():
            if name not in self._live:
                self._record("ADDED", item)
            elif _identity(item) != _identity(self._live[name]):
                self._record("MODIFIED", item)
        self._version = whole["metadata"]["resourceVersion"]

    def _list(self) -> Json:
        return self._kube.list_of(self._resource, self._namespace, selector=self._selector)


def _identity(item: Json) -> tuple[str, str]:
    meta = item["metadata"]
    return meta["uid"], meta["resourceVersion"]
