"""Every rule, at every write."""

from collections import deque
from collections.abc import Iterable

from lws.base.clock import Clock
from lws.client.responses import Response
from lws.sandbox.server.kinds import Kind
from lws.simulation.acts import ACTING, Act
from lws.simulation.judge import groups, ownership, requests, roles
from lws.simulation.judge.books import Books
from lws.simulation.judge.verdicts import Violation
from lws.simulation.judge.wire import Json, is_leader, is_terminating, owner_of, uid_of

LEASE = "b8b2488c.x-k8s.io"
QUIET = ("leases",)
"""Written at rest, too."""


class Judge:
    """An observer of the API server's writes, and of what the judged program sends."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.books = Books()
        self.violations: list[Violation] = []
        self.recent: deque[str] = deque(maxlen=20)
        """The last writes of the program, in words."""
        self.writes = 0
        """Of the program's, without the lease."""
        self.renewals = 0
        """Of the lease, tries too."""
        self.checked = 0
        self._holder = ""

    @property
    def holder(self) -> str:
        """The life that holds the lease; empty: none does."""
        return self._holder

    # What happens

    def on_send(self, act: Act) -> None:
        """A write sets out."""
        plural = act.request.resource.partition("/")[0]
        if plural in QUIET:
            self.renewals += 1
        else:
            self.writes += 1
            self.recent.append(f"{act.sent_at:.3f} {act.life} {act.request}")
        self._judge(requests.sending(act, holder=self._holder))

    def on_answer(self, act: Act, response: Response) -> None:
        """A write was answered."""
        self._judge(requests.answered(act, response))

    def on_write(self, kind: Kind, new: Json | None, old: Json | None) -> None:
        """A write is done."""
        plural, act, now = kind.resource.plural, ACTING.get(), self._clock.monotonic()
        self.checked += 1
        if plural == "leases" and new is not None:
            self._holder = str((new.get("spec") or {}).get("holderIdentity") or "")
        if act is not None:
            self._judge(ownership.written(self.books, act, plural, new, old))
            self._judge(requests.changing(act, old))
            self._judge_kind(act, plural, new, old)
        if plural == "pods" and old is not None and is_leader(old) and not is_terminating(old):
            groups.note_taken(self.books, act, new, old)
        self.books.note(now, plural, new, old)

    def _judge_kind(self, act: Act, plural: str, new: Json | None, old: Json | None) -> None:
        books = self.books
        if plural == "pods" and old is not None and is_leader(old):
            self._judge(groups.leader_deleted(books, act, old))
        if plural == "statefulsets" and new is not None:
            if groups.is_leader_set(books, new):
                self._judge(groups.hand_changed(books, act, new, old))
            elif old is None:
                self._judge(groups.workers_made(books, new))
        if plural == "leaderworkersets" and owner_of(new or old or {"metadata": {}}):
            self._judge(roles.role_changed(books, act, new, old))

    def _judge(self, findings: Iterable[tuple[str, str]]) -> None:
        self.violations += [
            Violation(self._clock.monotonic(), rule, words) for rule, words in findings
        ]

    def find(self, rule: str, words: str) -> None:
        """Seen by somebody else."""
        self._judge([(rule, words)])

    def is_gone(self, plural: str, uid: str) -> bool:
        """Is that life of an object over?"""
        return all(uid_of(one) != uid for one in self.books.all(plural))
