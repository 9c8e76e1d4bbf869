"""Carrying out actions: what is sent, what a failure means, what is remembered."""

from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from lws.api.kinds import Kind
from lws.base.ids import UID, ResourceVersion
from lws.client.errors import (
    AlreadyExists,
    Cause,
    ClientError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Unavailable,
)
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import Request
from lws.executor.caches import make_caches
from lws.executor.foreign import ForeignObjects
from lws.executor.perform import Family, Performer, Standing
from lws.planner.actions import (
    Apply,
    Create,
    Delete,
    Emit,
    EventType,
    MergePatch,
    Propagation,
    Reference,
    WakeAfter,
)
from lws.runtime.clock import VirtualClock
from lws.runtime.events import Event, EventRecorder
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics

FAMILY = Family(("set", "ns", "vllm"), ("ns", "vllm"))
OWNED: dict[str, Any] = {"ownerReferences": [{"uid": "set-uid", "controller": True}]}

Answer = dict[str, Any] | ClientError | str
"""Text: what is no answer of an API server."""


class World:
    """A performer, a server that answers as told, and what it was asked."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.asked: list[Request] = []
        self.answers: dict[str, list[Answer]] = {}
        self.told: list[Event] = []
        client = cast(KubernetesClient, self)
        caches = make_caches(client, self.clock, Metrics())
        self.guard = Guard()
        self.foreign = ForeignObjects(client, self.clock)
        self.performer = Performer(
            client=client,
            caches=caches,
            guard=self.guard,
            recorder=cast(EventRecorder, self),
            foreign=self.foreign,
            clock=self.clock,
        )

    def will(self, verb: str, *answers: Answer) -> None:
        self.answers[verb] = list(answers)

    async def request_bytes(self, request: Request) -> bytes:
        self.asked.append(request)
        queue = self.answers.get(request.verb)
        answer = queue.pop(0) if queue else {"kind": "X", "metadata": {"resourceVersion": "7"}}
        if isinstance(answer, ClientError):
            raise answer
        return answer.encode() if isinstance(answer, str) else msgspec.json.encode(answer)

    async def get(self, *_: Any, **__: Any) -> Any:
        answer = self.answers["get"].pop(0)
        if isinstance(answer, ClientError):
            raise answer
        return answer

    def emit(self, event: Event) -> None:
        self.told.append(event)

    def verbs(self) -> list[str]:
        return [request.verb for request in self.asked]

    def body(self, number: int = -1) -> Any:
        return msgspec.json.decode(self.asked[number].body or b"null")


def emit(reason: str = "Made", note: str = "made it") -> Emit:
    about = Reference(Kind.LEADER_WORKER_SET, "ns", "vllm", UID("set-uid"))
    return Emit(about, EventType.NORMAL, reason, "Create", note)


def create(**changes: Any) -> Create:
    values: dict[str, Any] = {
        "kind": Kind.SERVICE,
        "namespace": "ns",
        "name": "vllm",
        "body": {"metadata": {"name": "vllm", **OWNED}},
        "event": emit(),
        "failure": emit("FailedCreate", "Creating service vllm"),
    }
    return Create(**values | changes)


def apply(**changes: Any) -> Apply:
    values: dict[str, Any] = {
        "kind": Kind.STATEFUL_SET,
        "namespace": "ns",
        "name": "vllm",
        "body": {"metadata": {"name": "vllm", **OWNED}, "spec": {"replicas": 1}},
        "uid": UID("sts-uid"),
        "resource_version": ResourceVersion("5"),
    }
    return Apply(**values | changes)


def delete(**changes: Any) -> Delete:
    values: dict[str, Any] = {
        "kind": Kind.POD,
        "namespace": "ns",
        "name": "vllm-0",
        "uid": UID("pod-uid"),
        "propagation": Propagation.FOREGROUND,
    }
    return Delete(**values | changes)


async def test_an_event_is_told_once_its_write_has_succeeded() -> None:
    world = World()
    assert await world.performer.strand(FAMILY, [create(), WakeAfter(3.0), emit("Next")]) is None
    assert world.verbs() == ["create"]
    assert [event.reason for event in world.told] == ["Made", "Next"]


async def test_a_failure_drops_the_rest_of_its_own_strand_only() -> None:
    world = World()
    world.will("create", Unavailable("down"))
    failures = await world.performer.strands(FAMILY, [[create(), emit("Lost")], [emit("Kept")]])
    assert [failure.standing for failure in failures] == [Standing.RETRY]
    assert [event.reason for event in world.told] == ["Kept"]


async def test_an_apply_carries_its_preconditions_and_forces() -> None:
    world = World()
    await world.performer.write(FAMILY, apply())
    assert world.body()["metadata"]["uid"] == "sts-uid"
    assert world.body()["metadata"]["resourceVersion"] == "5"
    assert ("force", "true") in world.asked[0].query
    assert ("fieldManager", "lws") in world.asked[0].query


async def test_a_delete_carries_uid_and_propagation() -> None:
    world = World()
    await world.performer.write(FAMILY, delete(resource_version=ResourceVersion("9")))
    assert world.body()["preconditions"] == {"uid": "pod-uid", "resourceVersion": "9"}
    assert world.body()["propagationPolicy"] == "Foreground"


@pytest.mark.parametrize("error", [NotFound("gone"), Conflict("another life")])
async def test_what_is_gone_already_needs_no_deletion(error: ClientError) -> None:
    world = World()
    world.will("delete", error)
    assert await world.performer.write(FAMILY, delete()) is None


async def test_nothing_is_decided_until_the_cache_shows_what_was_written() -> None:
    world = World()
    await world.performer.write(FAMILY, apply())
    assert not world.guard.is_current(FAMILY.key)
    assert world.guard.is_current(("set", "ns", "other"))


async def test_a_refused_write_is_told_once_and_held_back_for_longer_each_time() -> None:
    world = World()
    world.will("create", *[Forbidden("exceeded quota: pods=3")] * 4)
    waits = []
    for _ in range(4):
        failure = await world.performer.write(FAMILY, create())
        assert failure is not None
        assert failure.standing is Standing.TOLD
        waits.append(failure.wait_seconds)
        held = await world.performer.write(FAMILY, create())
        assert held is not None
        assert held.message == "exceeded quota: pods=3"
        world.clock.advance(failure.wait_seconds)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert world.verbs() == ["create"] * 4
    assert world.told[0].note == "Creating service vllm: exceeded quota: pods=3"


async def test_a_changed_write_is_tried_at_once_after_a_refusal() -> None:
    world = World()
    world.will("create", Invalid("spec.x: wrong"))
    await world.performer.write(FAMILY, create())
    other = create(body={"metadata": {"name": "vllm", "labels": {"a": "b"}, **OWNED}})
    assert await world.performer.write(FAMILY, other) is None


async def test_preconditions_that_move_on_do_not_make_a_refused_apply_another_one() -> None:
    world = World()
    world.will("patch", Invalid("spec.volumeClaimTemplates: immutable"))
    await world.performer.write(FAMILY, apply())
    await world.performer.write(FAMILY, apply(resource_version=ResourceVersion("6")))
    assert world.verbs() == ["patch"]


async def test_an_apply_that_meets_another_life_is_looked_at_again() -> None:
    world = World()
    cause = Cause(field="metadata.uid", message="field is immutable", reason="FieldValueInvalid")
    world.will("patch", Invalid("no", causes=[cause]))
    failure = await world.performer.write(FAMILY, apply())
    assert failure is not None
    assert failure.standing is Standing.STALE


def _found(owner: str | None) -> Answer:
    if owner is None:
        return NotFound("no such object")
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {"metadata": {"ownerReferences": owners}}


@pytest.mark.parametrize(
    ("owner", "standing", "is_noted"),
    [
        ("set-uid", Standing.STALE, False),
        ("stranger", Standing.FOREIGN, True),
        ("", Standing.FOREIGN, True),
        (None, Standing.STALE, False),
    ],
    ids=["ours, not cached yet", "a stranger's", "nobody's", "gone again"],
)
async def test_a_create_that_meets_something_finds_out_whose_it_is(
    owner: str | None, standing: Standing, is_noted: bool
) -> None:
    world = World()
    world.will("create", AlreadyExists("there"))
    world.will("get", _found(owner))
    failure = await world.performer.write(FAMILY, create())
    assert failure is not None
    assert failure.standing is standing
    assert bool(world.foreign.of(("ns", "vllm"))) is is_noted


LABEL = {"leaderworkerset.sigs.k8s.io/name": "vllm"}
LABELLED: dict[str, Any] = {
    "metadata": {"name": "vllm", "labels": {"app": "other", **LABEL}, **OWNED}
}


@pytest.mark.parametrize(
    "action",
    [
        create(kind=Kind.CONTROLLER_REVISION, body=LABELLED),
        create(kind=Kind.STATEFUL_SET, body=LABELLED),
        apply(body=LABELLED, uid=None, resource_version=None),
    ],
    ids=["a revision", "a group's StatefulSet", "the leaders' StatefulSet"],
)
async def test_one_of_ours_that_lost_the_label_of_our_watches_gets_it_again(
    action: Create | Apply,
) -> None:
    """No watch shows it, and none ever would: its set would stand still."""
    world = World()
    world.will("create", AlreadyExists("there"))
    world.will("get", {"metadata": {"uid": "its-uid", "labels": {"app": "vllm"}, **OWNED}})
    failure = await world.performer.write(FAMILY, action)
    assert failure is not None
    assert failure.standing is Standing.STALE
    assert world.body() == {"metadata": {"labels": LABEL, "uid": "its-uid"}}
    assert not world.guard.is_current(FAMILY.key)


@pytest.mark.parametrize(
    ("kind", "owner", "labels"),
    [
        (Kind.STATEFUL_SET, "set-uid", LABEL),
        (Kind.CONTROLLER_REVISION, "set-uid", {"leaderworkerset.sigs.k8s.io/history-of": "vllm"}),
        (Kind.STATEFUL_SET, "stranger", {}),
        (Kind.SERVICE, "set-uid", {}),
    ],
    ids=["not cached yet", "retired", "a stranger's", "a Service"],
)
async def test_nothing_else_that_is_met_is_written(
    kind: Kind, owner: str, labels: dict[str, str]
) -> None:
    world = World()
    world.will("create", AlreadyExists("there"))
    owners = [{"uid": owner, "controller": True}]
    world.will("get", {"metadata": {"ownerReferences": owners, "labels": labels}})
    await world.performer.write(FAMILY, create(kind=kind, body=LABELLED))
    assert world.verbs() == ["create"]


async def test_a_first_apply_looks_before_it_would_merge_into_a_strangers_object() -> None:
    world = World()
    world.will("get", _found("stranger"))
    failure = await world.performer.write(FAMILY, apply(uid=None, resource_version=None))
    assert failure is not None
    assert failure.standing is Standing.FOREIGN
    assert world.verbs() == []


async def test_a_first_apply_goes_on_where_nothing_stands() -> None:
    world = World()
    world.will("get", _found(None))
    assert await world.performer.write(FAMILY, apply(uid=None, resource_version=None)) is None
    assert world.verbs() == ["patch"]


async def test_a_foreign_object_is_forgotten_when_ours_is_made_in_its_place() -> None:
    world = World()
    world.foreign.note(("ns", "vllm"), kind=Kind.SERVICE, name="vllm", owner="set-uid")
    await world.performer.write(FAMILY, create())
    assert world.foreign.of(("ns", "vllm")) == []


async def test_a_foreign_object_is_asked_after_now_and_then() -> None:
    world = World()
    family = ("ns", "vllm")
    world.foreign.note(family, kind=Kind.SERVICE, name="vllm", owner="set-uid")
    await world.foreign.refresh(family)
    assert world.foreign.of(family) == [(Kind.SERVICE, "vllm")]
    world.clock.advance(5)
    world.will("get", _found("stranger"), _found(None))
    await world.foreign.refresh(family)
    assert world.foreign.of(family) == [(Kind.SERVICE, "vllm")]
    world.clock.advance(5)
    await world.foreign.refresh(family)
    assert world.foreign.of(family) == []


def test_a_retired_revision_is_awaited_on_both_watches() -> None:
    world = World()
    caches_of: Callable[[Any], list[Any]] = world.performer._caches_of
    labels = {"leaderworkerset.sigs.k8s.io/history-of": "vllm"}
    patch = MergePatch(
        kind=Kind.CONTROLLER_REVISION,
        namespace="ns",
        name="r",
        body={"metadata": {"labels": labels}},
        uid=UID("u"),
    )
    assert len(caches_of(patch)) == 2
    assert len(caches_of(delete())) == 1


async def test_one_that_has_changed_where_that_saves_it_stands_yet_and_nothing_follows() -> None:
    world = World()
    world.will("delete", Conflict("the object has been modified"))
    saved = delete(resource_version=ResourceVersion("9"), event=emit("ScalingDown"))
    failure = await world.performer.strand(FAMILY, [saved, emit("Completed")])
    assert failure is not None
    assert failure.standing is Standing.STALE
    assert world.told == []


async def test_a_page_of_a_proxy_in_place_of_an_answer_is_trouble_on_the_way() -> None:
    world = World()
    world.will("create", "<html>")
    failure = await world.performer.write(FAMILY, create())
    assert failure is not None
    assert failure.standing is Standing.RETRY


async def test_whoever_tells_of_foreign_objects_is_woken_when_they_come_and_go() -> None:
    world, family = World(), ("ns", "vllm")
    woken: list[tuple[str, str]] = []
    foreign = ForeignObjects(cast(KubernetesClient, world), world.clock, changed=woken.append)
    for _ in range(2):
        foreign.note(family, kind=Kind.SERVICE, name="vllm", owner="set-uid")
    assert woken == [family]
    world.clock.advance(5)
    world.will("get", _found("stranger"), _found(None))
    await foreign.refresh(family)
    assert woken == [family]
    world.clock.advance(5)
    await foreign.refresh(family)
    assert woken == [family, family]


@pytest.mark.parametrize(
    "found",
    [
        NotFound("gone"),
        {"metadata": {"uid": "another"}},
        {"metadata": {"uid": "set-uid", "deletionTimestamp": "2026-08-01T10:00:00Z"}},
    ],
)
@pytest.mark.parametrize("make", [create, apply])
async def test_what_is_collected_at_once_is_not_made_again_for_an_owner_that_is_gone(
    make: Callable[..., Any], found: Answer
) -> None:
    """The cache does not show yet that the owner was deleted, and perhaps lives anew."""
    world = World()
    owner = {"kind": "DisaggregatedSet", "name": "pd", "uid": "set-uid", "controller": True}
    one = make(
        body={"metadata": {"name": "vllm", "ownerReferences": [owner]}},
        **({} if make is create else {"uid": None, "resource_version": None}),
    )
    looks: list[Answer] = [] if make is create else [_found(None)]
    world.will("get", *looks)
    assert await world.performer.write(FAMILY, one) is None
    for _ in range(3):
        world.will("get", *looks, found)
        failure = await world.performer.write(FAMILY, one)
        assert failure is not None
        assert failure.standing is Standing.STALE
        world.clock.advance(30)
    assert len(world.asked) == 1
    world.will("get", *looks, {"metadata": {"uid": "set-uid"}})
    assert await world.performer.write(FAMILY, one) is None
    assert len(world.asked) == 2


async def test_what_was_made_long_ago_is_made_again_without_a_look_at_its_owner() -> None:
    world = World()
    await world.performer.write(FAMILY, create())
    world.clock.advance(60)
    assert await world.performer.write(FAMILY, create()) is None


async def test_another_life_of_the_owner_is_not_doubted() -> None:
    """A group's StatefulSet follows each new leader, in a rollout too."""
    world = World()
    for uid in ("first", "second"):
        owner = {"kind": "Pod", "name": "vllm-0", "uid": uid, "controller": True}
        one = create(body={"metadata": {"name": "vllm-0", "ownerReferences": [owner]}})
        assert await world.performer.write(FAMILY, one) is None
    assert len(world.asked) == 2


async def test_what_nobody_owns_is_made_again_without_a_look() -> None:
    world = World()
    for _ in range(2):
        assert await world.performer.write(FAMILY, create()) is None
    assert len(world.asked) == 2
