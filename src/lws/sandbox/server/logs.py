"""A container's log: what its kubelet recorded of its life, since no program runs to write one.

The start with the command and environment it would have got, the last change of readiness, the end:
all read off the pod, so a log is the same after a restart of the server.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple

from lws.base.times import parse_time
from lws.sandbox.server import status
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.parameters import Parameters
from lws.sandbox.server.status import Cause, Subject
from lws.sandbox.server.verbs import EventType, WatchOptions
from lws.sandbox.server.watches import StoreWatch

JsonObject = dict[str, Any]

_LISTS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))
_POSITIVE = "must be greater than 0"


class Line(NamedTuple):
    """One line, and when it was written (RFC 3339)."""

    time: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Which container's log, and how much of it; None: all."""

    container: str
    follow: bool
    previous: bool
    timestamps: bool
    since: float | None
    """Seconds since the epoch."""
    tail_lines: int | None
    limit_bytes: int | None


def log_options(query: Parameters, *, now: float) -> LogOptions:
    """Of a query; 422 names what makes no sense."""
    numbers = {name: query.number(name) for name in ("sinceSeconds", "tailLines", "limitBytes")}
    causes = list(_causes(query, numbers))
    if causes:
        raise status.invalid(Subject(kind="PodLogOptions"), causes)
    since = parse_time(query.text("sinceTime")) if query.text("sinceTime") else None
    if numbers["sinceSeconds"] is not None:
        since = now - numbers["sinceSeconds"]
    return LogOptions(
        container=query.text("container"),
        follow=query.flag("follow"),
        previous=query.flag("previous"),
        timestamps=query.flag("timestamps"),
        since=since,
        tail_lines=numbers["tailLines"],
        limit_bytes=numbers["limitBytes"],
    )


def _causes(query: Parameters, numbers: Mapping[str, int | None]) -> Iterator[Cause]:
    for name in ("sinceSeconds", "limitBytes"):
        value = numbers[name]
        if value is not None and value < 1:
            yield _invalid(name, value, _POSITIVE)
    tail = numbers["tailLines"]
    if tail is not None and tail < 0:
        yield _invalid("tailLines", tail, "must be greater than or equal to 0")
    if query.text("sinceTime"):
        if numbers["sinceSeconds"] is not None:
            words = "at most one of `sinceTime` or `sinceSeconds` may be specified"
            yield Cause("FieldValueForbidden", f"Forbidden: {words}", "")
        try:
            parse_time(query.text("sinceTime"))
        except ValueError:
            yield _invalid(
                "sinceTime", query.text("sinceTime"), "must be a time as RFC 3339 has it"
            )


def _invalid(field: str, value: object, words: str) -> Cause:
    shown = f'"{value}"' if isinstance(value, str) else value
    return Cause("FieldValueInvalid", f"Invalid value: {shown}: {words}", field)


def log_of(pod: JsonObject, options: LogOptions) -> bytes:
    """What there is of a log; empty of a pod that no node has."""
    name = _container(pod, options.container)
    if not pod["spec"].get("nodeName"):
        return b""
    return _written(_chosen(_life(pod, name, options), options), options)[: options.limit_bytes]


async def follow(
    world: World, kind: Kind, pod: JsonObject, options: LogOptions
) -> AsyncGenerator[bytes]:
    """The log, and what is added to it until the container ends or its pod is gone."""
    name = _container(pod, options.container)
    if not pod["spec"].get("nodeName"):
        return
    said = _life(pod, name, options)
    room = options.limit_bytes
    new: Sequence[Line] = _chosen(said, options)
    metadata = pod["metadata"]
    begin = WatchOptions(field_selector=f"metadata.name={metadata['name']}")
    watch = StoreWatch(world, kind, metadata["namespace"], begin)
    async with watch, aclosing(_states(watch, metadata["uid"])) as states:
        async for now in states:
            is_same = now is not None and _restarts(now, name) == _restarts(pod, name)
            if now is not None and not options.previous:
                later = _life(now, name, options) if is_same else _ended_life(now, name)
                new = [*new, *(line for line in later if line not in said)]
                said = [*said, *new]
            if new:
                written = _written(new, options)[:room]
                yield written
                room = None if room is None else room - len(written)
                new = ()
            if not is_same or options.previous or room == 0 or not _runs(now or {}, name):
                return


async def _states(watch: StoreWatch, uid: str) -> AsyncGenerator[JsonObject | None]:
    """A pod as it was and becomes; None once it is gone."""
    async for event in watch:
        if event.type is EventType.BOOKMARK:
            continue
        is_there = event.type is not EventType.DELETED and event.type is not EventType.ERROR
        is_it = is_there and event.object["metadata"]["uid"] == uid
        yield event.object if is_it else None


def _container(pod: JsonObject, asked: str) -> str:
    """The container that is meant; 400 if there is none, or several are."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    if asked:
        if any(one["name"] == asked for field, _ in _LISTS for one in spec.get(field) or ()):
            return asked
        raise status.bad_request(f"container {asked} is not valid for pod {name}")
    names = [one["name"] for one in spec["containers"]]
    if len(names) == 1:
        return str(names[0])
    words = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    inits = [one["name"] for one in spec.get("initContainers") or ()]
    if inits:
        words += f" or one of the init containers: [{' '.join(inits)}]"
    raise status.bad_request(words)


def _entry(pod: JsonObject, name: str) -> JsonObject:
    listed = pod.get("status") or {}
    entries = (one for _, field in _LISTS for one in listed.get(field) or ())
    return next((one for one in entries if one["name"] == name), {})


def _restarts(pod: JsonObject, name: str) -> int:
    return int(_entry(pod, name).get("restartCount") or 0)


def _runs(pod: JsonObject, name: str) -> bool:
    return "running" in (_entry(pod, name).get("state") or {})


def _life(pod: JsonObject, name: str, options: LogOptions) -> list[Line]:
    """Of the container as it runs or last ran; 400 if it never did."""
    entry = _entry(pod, name)
    state, last = entry.get("state") or {}, entry.get("lastState") or {}
    where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
    if options.previous:
        if "terminated" not in last:
            raise status.bad_request(f"previous terminated {where} not found")
        return _ended_life(pod, name)
    if "running" in state:
        begun = str(state["running"].get("startedAt") or "")
        return [*_start(pod, name, begun), *_readiness(pod, name, begun)]
    if "terminated" in state:
        return [*_start(pod, name, _begin(pod, state["terminated"])), *_end(state, name)]
    if "terminated" in last:
        return _ended_life(pod, name)
    reason = (state.get("waiting") or {}).get("reason") or "ContainerCreating"
    raise status.bad_request(f"{where} is waiting to start: {reason}")


def _ended_life(pod: JsonObject, name: str) -> list[Line]:
    """Of the container's last life."""
    last = _entry(pod, name).get("lastState") or {}
    if "terminated" not in last:
        return []
    return [*_start(pod, name, _begin(pod, last["terminated"])), *_end(last, name)]


def _begin(pod: JsonObject, terminated: JsonObject) -> str:
    begun = terminated.get("startedAt") or (pod.get("status") or {}).get("startTime")
    return str(begun or terminated.get("finishedAt") or "")


def _start(pod: JsonObject, name: str, begun: str) -> Iterator[Line]:
    spec = next(
        one for field, _ in _LISTS for one in pod["spec"].get(field) or () if one["name"] == name
    )
    node = pod["spec"]["nodeName"]
    yield Line(begun, f"sandbox: container {name} of image {spec.get('image')} started on {node}")
    command = [*(spec.get("command") or ()), *(spec.get("args") or ())]
    would = " ".join(" ".join(command).split()) if command else "the image's own command"
    yield Line(begun, f"sandbox: no program runs here; on a cluster it would be {would}")
    plain = [f"{one['name']}={one['value']}" for one in spec.get("env") or () if one.get("value")]
    if plain:
        yield Line(begun, f"sandbox: environment {' '.join(' '.join(plain).split())}")


def _readiness(pod: JsonObject, name: str, begun: str) -> Iterator[Line]:
    """The last change since it began."""
    if not any(one["name"] == name for one in pod["spec"]["containers"]):
        return
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = next((one for one in conditions if one["type"] == "Ready"), None)
    at = "" if ready is None else ready.get("lastTransitionTime") or ""
    if ready is None or at < begun:
        return
    if ready["status"] == "True":
        yield Line(at, "sandbox: the pod is ready")
    elif ready.get("reason") != "Starting":
        yield Line(at, f"sandbox: the pod is not ready: {ready.get('reason') or 'no reason given'}")


def _end(state: JsonObject, name: str) -> Iterator[Line]:
    terminated = state["terminated"]
    reason = f" ({terminated['reason']})" if terminated.get("reason") else ""
    code = terminated.get("exitCode", 0)
    text = f"sandbox: container {name} ended with exit code {code}{reason}"
    yield Line(str(terminated.get("finishedAt") or ""), text)


def _chosen(lines: Sequence[Line], options: LogOptions) -> list[Line]:
    since = options.since
    kept = [line for line in lines if since is None or parse_time(line.time) >= since]
    tail = options.tail_lines
    return kept if tail is None else kept[len(kept) - min(tail, len(kept)) :]


def _written(lines: Sequence[Line], options: LogOptions) -> bytes:
    if options.timestamps:
        return "".join(f"{line.time} {line.text}\n" for line in lines).encode()
    return "".join(f"{line.text}\n" for line in lines).encode()
