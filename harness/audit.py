"""What a user asked of the API server, counted from its audit log.

The log is written before a request is answered, so a count that is taken after an answer holds it.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [{users}]
- level: None
"""
_DECISION = "authorization.k8s.io/decision"
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True)
class Request:
    """One request, as the log has it. `resource` is the path where no resource was asked for."""

    user: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    is_forbidden: bool = False
    """Whether the user has no right to it; what admission refuses is not that."""

    @property
    def key(self) -> str:
        """Resource and subresource in one word, `pods/status`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass
class Count:
    """Requests between a start and an end; while it is open it grows as the log does."""

    _read: Callable[[int, int | None], list[Request]]
    _from: int
    _to: int | None = None
    _frozen: list[Request] | None = field(default=None, repr=False)

    @property
    def requests(self) -> list[Request]:
        """All requests, in order."""
        if self._frozen is not None:
            return self._frozen
        return self._read(self._from, self._to)

    def close(self, end: int) -> None:
        """Count nothing after this point of the log."""
        self._to = end
        self._frozen = self._read(self._from, end)

    def matching(
        self,
        *,
        verbs: Collection[str] | None = None,
        resource: str | None = None,
        subresource: str | None = None,
        ignore: Collection[str] = (),
    ) -> list[Request]:
        """The requests with these verbs, of this resource; without the resources in `ignore`."""
        return [
            request
            for request in self.requests
            if (verbs is None or request.verb in verbs)
            and (resource is None or request.resource == resource)
            and (subresource is None or request.subresource == subresource)
            and request.resource not in ignore
        ]

    @property
    def total(self) -> int:
        """All requests."""
        return len(self.requests)

    @property
    def writes(self) -> list[Request]:
        """The requests that change something, the lease of the leader left out."""
        return self.matching(verbs=WRITES, ignore={"leases"})

    def by_kind(self) -> Counter[tuple[str, str]]:
        """How many of each (verb, resource[/subresource])."""
        return Counter((request.verb, request.key) for request in self.requests)

    def __str__(self) -> str:
        """A small table."""
        rows = sorted(self.by_kind().items(), key=lambda row: (-row[1], row[0]))
        return "\n".join(f"{count:7d} {verb:<8} {key}" for (verb, key), count in rows)


class AuditLog:
    """Reads the audit log of a control plane."""

    def __init__(self, path: Path) -> None:
        """The file need not exist yet."""
        self.path = path

    def counting(self, *, user: str | None = None) -> "Counting":
        """`with log.counting() as count: …`; only one user's, if named."""
        return Counting(self, user)

    def end(self) -> int:
        """The present length of the log, the mark from which one counts."""
        return self.path.stat().st_size if self.path.exists() else 0

    def requests(self, start: int = 0, end: int | None = None) -> Iterator[Request]:
        """The requests logged between two marks; a watch counts once, when it starts."""
        if not self.path.exists():
            return
        seen: set[str] = set()
        with self.path.open("rb") as log:
            log.seek(start)
            for line in log:
                if (end is not None and log.tell() > end) or not line.endswith(b"\n"):
                    return
                event = json.loads(line)
                if event["auditID"] not in seen:
                    seen.add(event["auditID"])
                    yield _request(event)


class Counting:
    """The context manager of `AuditLog.counting`."""

    def __init__(self, log: AuditLog, user: str | None) -> None:
        """Counts from `__enter__` to `__exit__`."""
        self._log = log
        self._user = user
        self._count: Count | None = None

    def _read(self, start: int, end: int | None) -> list[Request]:
        found = self._log.requests(start, end)
        return [request for request in found if self._user in (None, request.user)]

    def __enter__(self) -> Count:
        """Start to count."""
        self._count = Count(self._read, self._log.end())
        return self._count

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop counting."""
        assert self._count is not None
        self._count.close(self._log.end())


def _request(event: dict[str, Any]) -> Request:
    target = event.get("objectRef", {})
    return Request(
        user=event["user"]["username"],
        verb=event["verb"],
        group=target.get("apiGroup", ""),
        resource=target.get("resource") or event["requestURI"].partition("?")[0],
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        is_forbidden=event.get("annotations", {}).get(_DECISION) == "forbid",
    )
