"""From an action that would be taken to words: the object, the fields that differ. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from lws.api import names
from lws.api.kinds import Kind
from lws.cli.check.findings import Finding, Severity, Subject, Topic
from lws.cli.everyday.changes import changes
from lws.executor.perform import Failure
from lws.planner.actions import Action, Apply, Create, Delete, Emit, EventType, MergePatch
from lws.planner.meaning import differing_fields

Document = Mapping[str, Any]
_UNDER_WAY = "an update that is under way would go on; if none is, compare the spec with the fields"


def reads_live(action: Action) -> bool:
    """Whether the live object is needed to say what would differ."""
    return isinstance(action, Apply | MergePatch)


def finding_of(action: Action, *, of: Subject, live: Document | None) -> Finding | None:
    """What would be done for the set `of`; None: it goes along with another action."""
    match action:
        case Emit():
            return _event(action, of)
        case Create():
            return _change(action, of, "would be created", hint=_CREATE_HINTS.get(action.kind, ""))
        case Delete():
            return _deletion(action, of)
        case Apply():
            return _applied(action, of, live)
        case MergePatch():
            fields = tuple(_patched(action.body, live or {}))
            what = "its status would be written" if action.subresource else "would be changed"
            return _change(action, of, what, fields=fields)
    return None


def obstacle_of(failure: Failure) -> Finding:
    """Something that is not ours stands where an object would be made."""
    action = failure.action
    return Finding(
        severity=Severity.ERROR,
        topic=Topic.CHANGE,
        about=Subject(action.kind.kind, action.namespace, action.name),
        message="is in the way: an object of this name is wanted here, and this one is another's",
        hint="rename the set, or take the object away",
    )


_CREATE_HINTS = {
    Kind.CONTROLLER_REVISION: "the template of the spec is recorded nowhere: the set is new, or "
    "an update of it has not begun",
    Kind.SERVICE: "without it the pods have no DNS names",
}


def _event(action: Emit, of: Subject) -> Finding | None:
    if action.type is not EventType.WARNING:
        return None
    return Finding(
        severity=Severity.WARNING,
        topic=Topic.CHANGE,
        about=of,
        message=f"would be told of: {action.note}",
        hint=f"event {action.reason}; see docs/operations.md",
    )


def _deletion(action: Delete, of: Subject) -> Finding:
    if action.kind is Kind.POD:
        message = "would be deleted with its group, which is made anew"
        return _change(action, of, message, hint=_UNDER_WAY)
    return _change(action, of, "would be deleted", hint=_UNDER_WAY)


def _applied(action: Apply, of: Subject, live: Document | None) -> Finding:
    if live is None:
        return _change(action, of, "would be created")
    paths = differing_fields(action.body, live, kind=action.kind.kind, manager=names.FIELD_MANAGER)
    if any(path.startswith("spec.template") for path in paths):
        message = "would be given another pod template: its groups would be made anew, in step"
        return _change(action, of, message, fields=tuple(paths), hint=_UNDER_WAY)
    return _change(action, of, "would be applied", fields=tuple(paths), hint=_UNDER_WAY)


def _patched(body: Document, live: Document) -> Iterator[str]:
    """`path: old → new` of each field of a merge patch that would change something."""
    for key, value in body.items():
        stands = live.get(key)
        if isinstance(value, Mapping) and isinstance(stands, Mapping):
            for line in _patched(value, stands):
                yield f"{key}.{line}"
        elif value != stands:
            yield from map(str, changes(stands, value, (key,)))


def _change(
    action: Apply | Create | Delete | MergePatch,
    of: Subject,
    message: str,
    *,
    fields: tuple[str, ...] = (),
    hint: str = "",
) -> Finding:
    about = Subject(action.kind.kind, action.namespace, action.name)
    owned = "" if about == of else f" (of {of})"
    return Finding(
        severity=Severity.WARNING,
        topic=Topic.CHANGE,
        about=about,
        message=f"{message}{owned}",
        fields=fields,
        hint=hint,
    )
