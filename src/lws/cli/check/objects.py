"""What is to be said of one live object by itself: admission, field managers, gang marks. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lws.admission.defaulting import default_disaggregatedset, default_leaderworkerset
from lws.admission.documents import JsonObject
from lws.admission.pods import PodMarker, Rejected, mutate_pod
from lws.admission.validation import Verdict, validate_disaggregatedset, validate_leaderworkerset
from lws.api import names
from lws.api.kinds import Kind
from lws.cli.check.findings import Finding, Severity, Subject, Topic
from lws.cli.everyday.changes import changes
from lws.providers.coscheduling import POD_GROUP
from lws.providers.volcano import GROUP_NAME

Document = Mapping[str, Any]
CONTROLLERS = frozenset({names.FIELD_MANAGER, "kube-controller-manager", "kube-scheduler"})
_CONTENT = ("f:spec", "f:data", "f:revision")

Judge = Callable[[JsonObject, JsonObject | None], Verdict]
_RULES: Mapping[str, tuple[Judge, Callable[[JsonObject], JsonObject]]] = {
    names.KIND: (validate_leaderworkerset, default_leaderworkerset),
    names.DS_KIND: (validate_disaggregatedset, default_disaggregatedset),
}


def judge_set(document: JsonObject, *, kind: str) -> Iterator[Finding]:
    """What our webhooks would say of a set, if it were written as it stands."""
    about = Subject.of(document, kind)
    validate, default = _RULES[kind]
    anew = validate(document, None)
    if not anew.is_allowed:
        yield Topic.ADMISSION.finding(
            Severity.WARNING,
            about,
            "breaks rules for new sets; it is kept, but could not be made anew like this",
            fields=tuple(map(str, anew.errors)),
            hint="mend the fields before you have to create it again",
        )
    refused = validate(document, document)
    if not refused.is_allowed:
        message = "no change to it would be admitted"
        fields = tuple(map(str, refused.errors))
        yield Topic.ADMISSION.finding(
            Severity.ERROR, about, message, fields=fields, hint="mend the fields"
        )
    written = default(document)
    if written != document:
        yield Topic.ADMISSION.finding(
            Severity.INFO,
            about,
            "leaves fields open that the webhook writes out at the next change of it",
            fields=_told(document.get("spec"), written.get("spec"), "spec"),
        )


def judge_pod(document: JsonObject, *, marker: PodMarker | None) -> Iterator[Finding]:
    """Whether a pod carries what it would carry if it were made anew from the same template."""
    about = Subject.of(document, Kind.POD.kind)
    try:
        made = mutate_pod(document, namespace=about.namespace, marker=marker)
    except Rejected as rejected:
        message = f"would not be admitted: {rejected}"
        hint = "look who has changed its labels or annotations"
        yield Topic.ADMISSION.finding(Severity.ERROR, about, message, hint=hint)
        return
    if made != document:
        yield Topic.ADMISSION.finding(
            Severity.INFO,
            about,
            "carries other things than a pod that is made anew would; it stays as it is",
            fields=_told(document, made),
        )


def _told(old: object, new: object, *steps: str) -> tuple[str, ...]:
    return tuple(map(str, changes(old, new, steps)))


def gang_of(pod: Document) -> str | None:
    """The gang scheduler that a pod is marked for."""
    metadata = pod["metadata"]
    if GROUP_NAME in (metadata.get("annotations") or {}):
        return "volcano"
    return "coscheduling" if POD_GROUP in (metadata.get("labels") or {}) else None


def managers_of(document: Document) -> list[str]:
    """`lws (Apply)`, `kube-controller-manager (Update of status)`."""
    return [
        f"{entry.get('manager')} ({_how(entry)})"
        for entry in document["metadata"].get("managedFields") or ()
    ]


def judge_managers(document: Document, *, kind: str) -> Iterator[Finding]:
    """Who else writes what only an operator should write."""
    about = Subject.of(document, kind)
    entries = document["metadata"].get("managedFields") or ()
    for entry in entries:
        fields = entry.get("fieldsV1") or {}
        strange = entry.get("manager") not in CONTROLLERS and not entry.get("subresource")
        if strange and any(part in fields for part in _CONTENT):
            yield Finding(
                severity=Severity.INFO,
                topic=Topic.MANAGER,
                about=about,
                message=f"{entry.get('manager')} ({_how(entry)}) has written to it",
                hint="if a program keeps writing to it, stop it: two writers undo each other",
            )


def judge_application(leader: Document) -> Iterator[Finding]:
    """A leader StatefulSet is applied; without a record of that nothing is ever taken away."""
    entries = leader["metadata"].get("managedFields") or ()
    applied = any(
        entry.get("manager") == names.FIELD_MANAGER and entry.get("operation") == "Apply"
        for entry in entries
    )
    if applied:
        return
    yield Finding(
        severity=Severity.INFO,
        topic=Topic.MANAGER,
        about=Subject.of(leader, Kind.STATEFUL_SET.kind),
        message="no server-side apply by lws is recorded: what stands in its template is taken "
        "for ours until the next update",
    )


def _how(entry: Document) -> str:
    part = entry.get("subresource")
    return f"{entry.get('operation')} of {part}" if part else str(entry.get("operation"))
