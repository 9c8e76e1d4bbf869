"""A slice in memory: its planner's actions are carried out on documents, as by a server."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec

from lws.api import core, disaggregatedset, leaderworkerset, names
from lws.api.kinds import Kind
from lws.base.ids import RevisionKey
from lws.base.times import format_time
from lws.planner.actions import Action, Create, Delete, Emit, MergePatch, Write
from lws.planner.disaggregatedset.identity import (
    WantedRoles,
    lws_digest,
    read_wanted,
    wanted_key,
)
from lws.planner.disaggregatedset.slices import SlicePlan, plan_slice
from lws.planner.disaggregatedset.snapshot import (
    ForeignObject,
    RoleSet,
    ScalerViews,
    SliceSnapshot,
    place_of,
)

Json = dict[str, Any]
NAMESPACE, NAME, UID = "default", "pd", "ds-uid"
START = 1_785_578_400.0  # 2026-08-01T10:00:00Z


class Refused(Exception):
    """The server's precondition did not hold, or the object is not there."""


def a_role(
    name: str,
    replicas: int | None = 1,
    *,
    image: str = "a",
    surge: int | str = 1,
    unavailable: int | str = 0,
    **more: Any,
) -> Json:
    """One role of a set; `more` are fields beside `name` and `spec`."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    template = {"spec": {"containers": [{"name": "serve", "image": image}]}}
    spec: Json = {
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling},
        "leaderWorkerTemplate": {"size": 1, "workerTemplate": template},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return {"name": name, "spec": spec, **more}


def a_ds(roles: Sequence[Json], *, metadata: Json | None = None, **spec: Any) -> Json:
    """A set as the server has it."""
    meta = {"name": NAME, "namespace": NAMESPACE, "uid": UID, "resourceVersion": "1"}
    return {
        "metadata": {**meta, "generation": 1, **(metadata or {})},
        "spec": {"roles": list(roles), "slices": 1, **spec},
    }


def decoded(ds: Json) -> disaggregatedset.DisaggregatedSet:
    """As the controller reads it."""
    return disaggregatedset.decode(msgspec.json.encode(ds))


class SliceWorld:
    """One slice of one set; time passes by one second a write."""

    def __init__(self, roles: Sequence[Json], *, slice_index: int = 0, **spec: Any) -> None:
        self.ds = a_ds(roles, **spec)
        self.slice_index = slice_index
        self.lws: dict[str, Json] = {}
        self.services: dict[str, Json] = {}
        self.scalers: dict[str, int] = {}
        self.conflicts: frozenset[str] = frozenset()
        self.foreign: frozenset[ForeignObject] = frozenset()
        self.events: list[Emit] = []
        self.version = 1
        self._digests: dict[tuple[str, int], str] = {}
        self._read()

    # A user

    def change(self, roles: Sequence[Json] | None = None, **spec: Any) -> None:
        """Another spec."""
        self.ds["metadata"]["generation"] += 1
        self.ds["spec"] |= spec | ({} if roles is None else {"roles": list(roles)})
        self._read()

    def _read(self) -> None:
        self._ds = decoded(self.ds)
        self._wanted: WantedRoles = read_wanted(self._ds)

    # A cluster

    def make_ready(self, name: str | None = None) -> None:
        """All replicas of one, or of all, get ready."""
        for item in self.lws.values():
            if name in (None, item["metadata"]["name"]):
                self.set_ready(item["metadata"]["name"], item["spec"]["replicas"])

    def set_ready(self, name: str, ready: int) -> None:
        item = self.lws[name]
        self._observe(item, ready=ready)
        self._touch(item)

    def _observe(self, item: Json, *, ready: int) -> None:
        """What the controller of LeaderWorkerSets says of one."""
        arrived = ready == item["spec"]["replicas"]
        old = {one["type"]: one for one in item["status"].get("conditions", [])}
        available: Json = {"type": "Available", "status": "True" if arrived else "False"}
        moment = old.get("Available", {})
        since = (
            moment.get("lastTransitionTime")
            if moment.get("status") == available["status"]
            else None
        )
        available["lastTransitionTime"] = since or format_time(self.now)
        item["status"] = {
            "readyReplicas": ready,
            "replicas": ready,
            "observedGeneration": item["metadata"]["generation"],
            "conditions": [available],
        }

    @property
    def now(self) -> float:
        """Ten writes a second."""
        return START + self.version / 10

    def ready(self) -> Counter[str]:
        """By role, over all revisions."""
        counts: Counter[str] = Counter()
        for item in self.lws.values():
            counts[item["metadata"]["labels"][names.DS_ROLE]] += item["status"]["readyReplicas"]
        return counts

    def replicas(self) -> dict[str, int]:
        """By name."""
        return {name: item["spec"]["replicas"] for name, item in sorted(self.lws.items())}

    # The controller

    @property
    def key(self) -> RevisionKey:
        """Of the wanted revision."""
        templates: dict[RevisionKey, dict[str, set[str]]] = {}
        for held in self._sets():
            if not held.is_ending:
                roles = templates.setdefault(held.place.revision, {})
                roles.setdefault(held.place.role, set()).add(self._digest(held.lws))
        return wanted_key(self._wanted, templates)

    def snapshot(self) -> SliceSnapshot:
        return SliceSnapshot(
            ds=self._ds,
            wanted=self._wanted,
            key=self.key,
            slice_index=self.slice_index,
            sets=tuple(one for one in self._sets() if one.place.slice_index == self.slice_index),
            services=tuple(
                one
                for one in self._services()
                if place_of(one, ds=NAME).slice_index == self.slice_index
            ),
            scalers=ScalerViews(replicas=dict(self.scalers), conflicts=self.conflicts),
            foreign=self.foreign,
            now=self.now,
        )

    def plan(self) -> SlicePlan:
        return plan_slice(self.snapshot())

    def writes(self, chance: random.Random | None = None) -> Iterator[Write]:
        """Carry out one pass, write by write; whoever stops asking has crashed in between.

        By `chance` strands come in any order, and a write fails now and then: its strand ends.
        """
        strands = list(self.plan().strands)
        if chance is not None:
            chance.shuffle(strands)
        for strand in strands:
            for action in strand:
                if (chance is not None and chance.random() < 0.1) or not self._carry_out(action):
                    break
                if isinstance(action, Write):
                    yield action

    def run(self, passes: int = 1) -> None:
        """So many whole passes."""
        for _ in range(passes):
            for _ in self.writes():
                pass

    def settle(self, passes: int = 200) -> int:
        """Passes, and all getting ready, until nothing is planned; how many that took."""
        for number in range(passes):
            self.make_ready()
            before = self.version
            self.run()
            if self.version == before:
                return number
        raise AssertionError(f"not settled: {self.replicas()}")

    def _carry_out(self, action: Action) -> bool:
        try:
            match action:
                case Create():
                    self._create(action)
                case MergePatch():
                    self._patch(action)
                case Delete():
                    self._delete(action)
                case Emit():
                    self.events.append(action)
        except Refused:
            return False
        if isinstance(action, Create | MergePatch | Delete) and action.event is not None:
            self.events.append(action.event)
        return True

    def _of(self, kind: Kind) -> dict[str, Json]:
        return {Kind.LEADER_WORKER_SET: self.lws, Kind.SERVICE: self.services}[kind]

    def _create(self, action: Create) -> None:
        if action.name in self._of(action.kind):
            raise Refused("AlreadyExists")
        item = deepcopy(dict(action.body))
        self.version += 1
        item["metadata"] |= {
            "uid": f"uid-{self.version}",
            "generation": 1,
            "creationTimestamp": format_time(START + self.version),  # no two are alike
        }
        item["status"] = {"readyReplicas": 0, "replicas": 0}
        self._touch(item)
        self._of(action.kind)[action.name] = item

    def _patch(self, action: MergePatch) -> None:
        item = self._found(action)
        generation = item["metadata"]["generation"] + ("spec" in action.body)
        _merge(item, action.body)
        item["metadata"]["generation"] = generation
        self._touch(item)
        if action.kind is Kind.LEADER_WORKER_SET:
            self._observe(
                item, ready=min(item["status"]["readyReplicas"], item["spec"]["replicas"])
            )

    def _delete(self, action: Delete) -> None:
        self._found(action)
        del self._of(action.kind)[action.name]
        self.version += 1

    def _found(self, action: MergePatch | Delete) -> Json:
        item = self._of(action.kind).get(action.name)
        if item is None or item["metadata"]["uid"] != action.uid:
            raise Refused("NotFound")
        wanted = action.resource_version
        if wanted is not None and item["metadata"]["resourceVersion"] != wanted:
            raise Refused("Conflict")
        return item

    def _touch(self, item: Json) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)

    def _services(self) -> list[core.Service]:
        return [core.decode_service(msgspec.json.encode(one)) for one in self.services.values()]

    def _sets(self) -> list[RoleSet]:
        read = [leaderworkerset.decode(msgspec.json.encode(one)) for one in self.lws.values()]
        return [RoleSet(lws, place_of(lws, ds=NAME)) for lws in read]

    def _digest(self, lws: leaderworkerset.LeaderWorkerSet) -> str:
        memo = (lws.metadata.uid, lws.metadata.generation)
        if memo not in self._digests:
            self._digests[memo] = lws_digest(lws)
        return self._digests[memo]


def _merge(target: Json, change: Mapping[str, Any]) -> None:
    """RFC 7386."""
    for key, value in change.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, Mapping):
            inner = target.setdefault(key, {})
            _merge(inner, value)
        else:
            target[key] = value
