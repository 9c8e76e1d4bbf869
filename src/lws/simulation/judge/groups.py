"""Rules about the groups of a LeaderWorkerSet: how many serve, and why one is replaced.

A group counts as serving before a write only if it did all the while that the writer may not have
heard of, and after it if it did at any moment of that while: news on its way excuses a write.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lws.api import names
from lws.simulation.acts import Act
from lws.simulation.judge.books import Books, Standing
from lws.simulation.judge.wire import (
    Group,
    Json,
    annotations_of,
    budgets,
    group_of,
    is_terminating,
    labels_of,
    owner_of,
    place_of,
    uid_of,
)

NO_RESTARTS = ("None", "Default")


@dataclass(frozen=True, slots=True)
class Hand:
    """What a leader StatefulSet lets its controller do."""

    replicas: int
    partition: int | None
    """None: it replaces nothing by itself."""
    key: str

    @classmethod
    def of(cls, workload: Json) -> "Hand":
        """Of an object."""
        spec = workload["spec"]
        strategy = spec.get("updateStrategy") or {}
        is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
        rolling = strategy.get("rollingUpdate") or {}
        labels = spec["template"]["metadata"].get("labels") or {}
        return cls(
            int(spec.get("replicas", 1)),
            int(rolling.get("partition", 0)) if is_rolling else None,
            labels.get(names.REVISION_KEY, ""),
        )

    def keeps(self, index: int, key: str) -> bool:
        """Does a group of this key stand as far as the StatefulSet goes?"""
        if index >= self.replicas:
            return False
        return self.partition is None or index < self.partition or key == self.key


def is_leader_set(books: Books, workload: Json) -> bool:
    """Is it the leader StatefulSet of a LeaderWorkerSet that is there?"""
    lws = books.get("leaderworkersets", place_of(workload))
    return lws is not None and owner_of(workload) == uid_of(lws)


def hand_changed(books: Books, act: Act, new: Json, old: Json | None) -> Iterator[tuple[str, str]]:
    """A write to a leader StatefulSet: the surge and availability bounds."""
    lws = books.get("leaderworkersets", place_of(new))
    if lws is None or act.is_late or is_terminating(lws):
        return
    start = act.sent_at - act.blind_seconds
    specs = books.specs_since(uid_of(lws), start)
    after = Hand.of(new)
    most = max(int(one.get("replicas", 1)) + _budgets(one)[0] for one in specs)
    standing = 0 if old is None else int(old["spec"].get("replicas", 1))
    if after.replicas > max(most, standing):
        yield "surge", f"{place_of(new)[1]} has {after.replicas} groups, at most {most} may be"
    if old is not None and not _is_scale_down(old, new):
        yield from _floor(books, act, lws, Hand.of(old), after)


def _is_scale_down(old: Json, new: Json) -> bool:
    """Does it take in that a user wants fewer groups?"""
    before, after = (annotations_of(one).get(names.REPLICAS, "") for one in (old, new))
    return not before.isdecimal() or (after.isdecimal() and int(after) < int(before))


def leader_deleted(books: Books, act: Act, leader: Json) -> Iterator[tuple[str, str]]:
    """The operator deletes a leader: for a loss of its group's, or for an update, or not at all."""
    group = group_of(leader)
    if group is None:
        return
    lws = books.get("leaderworkersets", group[:2])
    workload = books.get("statefulsets", group[:2])
    if lws is None or workload is None:
        return
    losses = books.losses[uid_of(leader)]
    hand = Hand.of(workload)
    key = labels_of(leader).get(names.REVISION_KEY, "")
    if losses and _restarts(books, uid_of(lws)):
        return
    if key != hand.key:
        after = Hand(hand.replicas, hand.partition, hand.key)
        if not act.is_late:
            yield from _floor(books, act, lws, hand, after, gone=group[2])
        return
    if not act.is_late:
        yield "no healthy group", f"{place_of(leader)[1]} deleted, of {losses or 'no loss'}"


def _restarts(books: Books, uid: str) -> bool:
    policies = [
        spec["leaderWorkerTemplate"].get("restartPolicy", "RecreateGroupOnPodRestart")
        for spec in books.specs_ever(uid)
    ]
    return any(policy not in NO_RESTARTS for policy in policies)


def _floor(
    books: Books, act: Act, lws: Json, before: Hand, after: Hand, gone: int = -1
) -> Iterator[tuple[str, str]]:
    start = act.sent_at - act.blind_seconds
    specs = books.specs_since(uid_of(lws), start)
    floor = min(int(one.get("replicas", 1)) - _budgets(one)[1] for one in specs)
    ends = [int(one.get("replicas", 1)) + _budgets(one)[0] for one in specs]
    namespace, name = place_of(lws)
    served = kept = 0
    seen: list[str] = []
    for index in range(max(ends)):
        standings = books.standings_since((namespace, name, index), start)
        seen.append(f"{index}: " + " ".join(one.key[:4] + "-+"[one.is_ready] for one in standings))
        is_to_go = index >= min(ends)  # a smaller surge is in force at once (section 3, `cap`)
        if _surely(standings) and before.keeps(index, standings[-1].key) and not is_to_go:
            served += 1
        if index != gone and _perhaps(books, standings, after, index):
            kept += 1
    if kept < min(served, floor):
        words = (
            f"{name}: {kept} groups stay after {act.request} of {served} before, "
            f"{floor} are to ({before} to {after}); blind for {act.blind_seconds:.1f} s: "
            f"{', '.join(seen)}"
        )
        yield "availability", words


def _surely(standings: list[Standing]) -> bool:
    return bool(standings) and all(one.is_ready for one in standings)


def _perhaps(books: Books, standings: list[Standing], hand: Hand, index: int) -> bool:
    return any(
        one.is_ready and one.leader not in books.taken and hand.keeps(index, one.key)
        for one in standings
    )


def _budgets(spec: Json) -> tuple[int, int]:
    return budgets(spec, int(spec.get("replicas", 1)))


def note_taken(books: Books, act: Act | None, new: Json | None, old: Json) -> None:
    """A leader goes: by the operator's hand or by an update that it let go on?"""
    group = group_of(old)
    if group is None or (new is not None and not is_terminating(new)):
        return
    workload = books.get("statefulsets", group[:2])
    key = labels_of(old).get(names.REVISION_KEY, "")
    is_kept = workload is not None and Hand.of(workload).keeps(group[2], key)
    if act is not None or not is_kept:
        books.taken.add(uid_of(old))


def workers_made(books: Books, workers: Json) -> Iterator[tuple[str, str]]:
    """A worker StatefulSet is of its leader's revision."""
    labels = labels_of(workers)
    group: Group | None = group_of(workers)
    if group is None:
        return
    for pod in books.members(group):
        if uid_of(pod) == owner_of(workers):
            key = labels_of(pod).get(names.REVISION_KEY)
            if key != labels.get(names.REVISION_KEY):
                yield "one revision", f"workers of {place_of(pod)[1]} are not of its revision"
