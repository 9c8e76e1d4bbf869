"""Jobs."""

from typing import Any

from lws.base.times import parse_time
from lws.sandbox.server.documents import part
from lws.sandbox.server.tables.layout import Cells, age_of, duration_words, name_of
from lws.sandbox.server.tables.words import containers_cells, selector_words

JsonObject = dict[str, Any]

_ORDER = ("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet")


def job(obj: JsonObject, now: float) -> Cells:
    """How far it is."""
    selector = part(obj, "spec", "selector")
    ends = [*containers_cells(obj), selector_words(selector)]
    status = obj.get("status") or {}
    return [
        name_of(obj),
        _state(obj, status),
        _completions(obj.get("spec") or {}, status),
        _duration(status, now),
        age_of(obj, now),
        *ends,
    ]


def _state(obj: JsonObject, status: JsonObject) -> str:
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    for kind in _ORDER:
        if kind in true:
            return kind
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else "Running"


def _completions(spec: JsonObject, status: JsonObject) -> str:
    done, parallel = status.get("succeeded") or 0, spec.get("parallelism") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _duration(status: JsonObject, now: float) -> str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    return duration_words((parse_time(end) if end else now) - parse_time(start))
