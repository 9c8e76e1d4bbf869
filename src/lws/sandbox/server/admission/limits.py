"""LimitRanges: what containers, pods and claims have at least, at most and by default."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.documents import part
from lws.sandbox.server.operations import NoAdmission, Operation, World
from lws.sandbox.server.quota import Amounts, amounts
from lws.sandbox.server.quota.pods import needed

JsonObject = dict[str, Any]

_RANGES = "/limitranges"
_PODS, _CLAIMS = "/pods", "/persistentvolumeclaims"
_NOTE = "kubernetes.io/limit-ranger"
_CONTAINERS = (("containers", "container"), ("initContainers", "init container"))


class LimitRanger(NoAdmission):
    """Fills in what a new pod's containers do not say, and refuses what is out of bounds."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        """With the defaults of all ranges of the namespace."""
        if obj is None or operation.kind.storage != _PODS:
            return obj
        for limits in self._ranges(operation, old):
            obj = _with_defaults(obj, limits)
        return obj

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """The first range that is not kept refuses, with all that is wrong by it."""
        if obj is None or operation.kind.storage not in (_PODS, _CLAIMS):
            return
        for limits in self._ranges(operation, old):
            problems = list(dict.fromkeys(_problems(operation, obj, limits)))
            if problems:
                text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                raise status.forbidden(operation.kind.subject(operation.name), text)

    def _ranges(
        self, operation: Operation, old: JsonObject | None
    ) -> Iterator[Sequence[JsonObject]]:
        """The limits of each range that has a say: about new pods, and claims also when changed."""
        store, namespace = self._world.store, operation.namespace
        is_asked = old is None or operation.kind.storage == _CLAIMS
        if operation.subresource or not is_asked or not store.count(_RANGES, namespace):
            return
        if old is not None and old["metadata"].get("deletionTimestamp"):
            return
        for _, obj in store.list(_RANGES, namespace=namespace).items:
            yield part(obj, "spec", "limits") or ()


def _with_defaults(pod: JsonObject, limits: Sequence[JsonObject]) -> JsonObject:
    defaults = {
        which: {
            name: amount
            for limit in limits
            if limit.get("type") == "Container"
            for name, amount in (limit.get(field) or {}).items()
        }
        for which, field in (("requests", "defaultRequest"), ("limits", "default"))
    }
    notes: list[str] = []
    spec = dict(pod["spec"])
    for field, word in _CONTAINERS:
        if spec.get(field):
            spec[field] = [_filled(one, defaults, word, notes) for one in spec[field]]
    if not notes:
        return pod
    metadata = pod["metadata"]
    annotations = {
        **(metadata.get("annotations") or {}),
        _NOTE: f"LimitRanger plugin set: {'; '.join(notes)}",
    }
    return {**pod, "spec": spec, "metadata": {**metadata, "annotations": annotations}}


def _filled(
    container: JsonObject,
    defaults: Mapping[str, Mapping[str, str]],
    word: str,
    notes: list[str],
) -> JsonObject:
    resources = dict(container.get("resources") or {})
    for which in ("requests", "limits"):
        said = resources.get(which) or {}
        more = {name: one for name, one in defaults[which].items() if name not in said}
        if more:
            resources[which] = {**said, **more}
            names = ", ".join(sorted(more))
            notes.append(f"{names} {which.removesuffix('s')} for {word} {container['name']}")
    return {**container, "resources": resources}


def _problems(operation: Operation, obj: JsonObject, limits: Sequence[JsonObject]) -> Iterator[str]:
    for limit in limits:
        kind = limit.get("type")
        if operation.kind.storage == _CLAIMS:
            if kind == "PersistentVolumeClaim":
                yield from _claim_problems(limit, obj)
        elif kind == "Container":
            for resources in _resources(obj["spec"]):
                said = (amounts(resources.get(which)) for which in ("requests", "limits"))
                yield from _bound_problems(limit, *said)
        elif kind == "Pod":
            spec = obj["spec"]
            yield from _bound_problems(limit, needed(spec, "requests"), needed(spec, "limits"))


def _resources(spec: JsonObject) -> Iterable[JsonObject]:
    for field, _ in _CONTAINERS:
        for container in spec.get(field) or ():
            yield container.get("resources") or {}


def _claim_problems(limit: JsonObject, claim: JsonObject) -> Iterator[str]:
    asked = amounts(part(claim, "spec", "resources", "requests")).get("storage")
    least = amounts(limit.get("min")).get("storage")
    most = amounts(limit.get("max")).get("storage")
    said = "storage usage per PersistentVolumeClaim is"
    if asked is None:
        return
    if least is not None and asked.nanos < least.nanos:
        yield f"minimum {said} {least}, but request is {asked}"
    if most is not None and asked.nanos > most.nanos:
        yield f"maximum {said} {most}, but request is {asked}"


def _bound_problems(limit: JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = limit["type"]
    for name, least in sorted(amounts(limit.get("min")).items()):
        said = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{said}.  No request is specified"
        elif requests[name].nanos < least.nanos:
            yield f"{said}, but request is {requests[name]}"
        elif name in limits and limits[name].nanos < least.nanos:
            yield f"{said}, but limit is {limits[name]}"
    for name, most in sorted(amounts(limit.get("max")).items()):
        said = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{said}.  No limit is specified"
        elif limits[name].nanos > most.nanos:
            yield f"{said}, but limit is {limits[name]}"
        elif name in requests and requests[name].nanos > most.nanos:
            yield f"{said}, but request is {requests[name]}"
    yield from _ratio_problems(limit, requests, limits)


def _ratio_problems(limit: JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, widest in sorted(amounts(limit.get("maxLimitRequestRatio")).items()):
        said = f"{name} max limit to request ratio per {limit['type']} is {widest}, but"
        request, most = requests.get(name), limits.get(name)
        if request is None or not request.nanos:
            yield f"{said} no request is specified or request is 0"
        elif most is None or not most.nanos:
            yield f"{said} no limit is specified or limit is 0"
        elif most.nanos * 10**9 > widest.nanos * request.nanos:
            yield f"{said} provided ratio is {most.nanos / request.nanos:f}"
