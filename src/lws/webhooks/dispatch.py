"""From a path and a body to a status code and a body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import orjson
import structlog

from lws.admission.defaulting import default_leaderworkerset
from lws.admission.documents import JsonObject
from lws.admission.jsonpatch import diff
from lws.admission.pods import PodMarker, Rejected, mutate_pod
from lws.admission.validation import (
    Verdict,
    validate_disaggregatedset,
    validate_leaderworkerset,
)
from lws.api import names
from lws.webhooks import paths, review
from lws.webhooks.review import Answer, MalformedReview, Review

_log = structlog.get_logger(__name__)

_Decision = Callable[[Review, PodMarker | None], Answer]


@dataclass(frozen=True, slots=True)
class _Hook:
    group: str
    kind: str
    decide: _Decision


def handle(path: str, body: bytes, *, marker: PodMarker | None = None) -> tuple[int, bytes]:
    """The HTTP status and the JSON body that answer a POST; it never raises.

    `marker` is the gang scheduler's, if one is configured.
    """
    hook = _HOOKS.get(path.partition("?")[0])
    if hook is None:
        return _failure(404, "NotFound", f"no webhook is served at {path}")
    try:
        asked = review.decode(body)
        _check_kind(asked, hook)
        answer = hook.decide(asked, marker) if asked.is_write else Answer()
        return 200, review.encode(asked, answer)
    except MalformedReview as error:
        return _failure(400, "BadRequest", str(error))
    except Exception:  # noqa: BLE001 - a mistake of ours is logged, never shown to a user
        _log.exception("webhook failed", path=path)
        return _failure(500, "InternalError", "the webhook failed; its log says why")


def _check_kind(asked: Review, hook: _Hook) -> None:
    if asked.kind and (asked.group, asked.kind) != (hook.group, hook.kind):
        expected, got = f"{hook.group}/{hook.kind}", f"{asked.group}/{asked.kind}"
        raise MalformedReview(f"this path is for {expected}, not for {got}")


def _default_leaderworkerset(asked: Review, _: PodMarker | None) -> Answer:
    return Answer(patch=diff(asked.new, default_leaderworkerset(asked.new)))


def _validate_leaderworkerset(asked: Review, _: PodMarker | None) -> Answer:
    return _judged(asked, validate_leaderworkerset(asked.new, asked.old))


def _validate_disaggregatedset(asked: Review, _: PodMarker | None) -> Answer:
    return _judged(asked, validate_disaggregatedset(asked.new, asked.old))


def _mutate_pod(asked: Review, marker: PodMarker | None) -> Answer:
    # Nearly all of a pod is immutable: one that exists stays as it is.
    if asked.operation != "CREATE":
        return Answer()
    try:
        mutated = mutate_pod(asked.new, namespace=asked.namespace, marker=marker)
    except Rejected as rejected:
        return Answer(status=review.status(code=403, reason="Forbidden", message=str(rejected)))
    return Answer(patch=diff(asked.new, mutated))


def _allow(_: Review, __: PodMarker | None) -> Answer:
    return Answer()


def _judged(asked: Review, verdict: Verdict) -> Answer:
    status: JsonObject | None = None
    if not verdict.is_allowed:
        status = review.invalid(asked, verdict.errors)
    return Answer(warnings=verdict.warnings, status=status)


def _failure(code: int, reason: str, message: str) -> tuple[int, bytes]:
    status = review.status(code=code, reason=reason, message=message)
    return code, orjson.dumps({"apiVersion": "v1", "kind": "Status", **status})


_HOOKS: Mapping[str, _Hook] = MappingProxyType(
    {
        paths.MUTATE_LEADERWORKERSET: _Hook(names.GROUP, names.KIND, _default_leaderworkerset),
        paths.VALIDATE_LEADERWORKERSET: _Hook(names.GROUP, names.KIND, _validate_leaderworkerset),
        paths.VALIDATE_DISAGGREGATEDSET: _Hook(
            names.DS_GROUP, names.DS_KIND, _validate_disaggregatedset
        ),
        paths.MUTATE_POD: _Hook("", "Pod", _mutate_pod),
        paths.VALIDATE_POD: _Hook("", "Pod", _allow),
    }
)
