"""What stands in the way of going back to the public controller. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lws.api import leaderworkerset, names
from lws.api.apps import decode_revision
from lws.cli.check.definitions import Unknown, used_fields
from lws.cli.check.findings import Finding, Severity, Subject, Topic
from lws.planner.leaderworkerset.revisions import read_wanted, recorded_template
from lws.planner.leaderworkerset.statefulset import ON_DELETE
from lws.planner.revision import UnreadableRevision, read_revision

Document = Mapping[str, Any]
_TEMPLATE = ("spec", "leaderWorkerTemplate", "maxGroupRestarts")
_SPEC = ("paused", "revisionHistoryLimit", "progressDeadlineSeconds")
_ROLE = ("spec", "roles", "[]")
ADDITIONS = {
    names.KIND: Unknown(names.KIND, (_TEMPLATE, *(("spec", field) for field in _SPEC))),
    names.DS_KIND: Unknown(
        names.DS_KIND,
        ((*_ROLE, *_TEMPLATE), *((*_ROLE, "spec", field) for field in _SPEC)),
    ),
}
"""Fields of ours that the public controller does not know."""


def judge_additions(document: Document, *, kind: str) -> Iterator[Finding]:
    """A set that uses what the other does not know."""
    used = used_fields(document, ADDITIONS[kind])
    if used:
        yield Topic.RETURN.finding(
            Severity.WARNING,
            Subject.of(document, kind),
            "uses fields that the public controller does not know: it would act as if they were "
            "not there",
            fields=tuple(used),
            hint="unset them before you go back",
        )


def judge_strategy(leader: Document) -> Iterator[Finding]:
    """An open healing window."""
    if (leader["spec"].get("updateStrategy") or {}).get("type") == ON_DELETE:
        yield Topic.RETURN.finding(
            Severity.ERROR,
            Subject.of(leader, "StatefulSet"),
            "has the strategy OnDelete, which the public controller does not expect: a group is "
            "being healed out of order",
            hint="wait until it is healed, or end our manager by SIGTERM: it closes the window",
        )


def judge_spelling(lws: Document, revision: Document) -> Iterator[Finding]:
    """The public controller compares bytes: the same template in another spelling is an update."""
    try:
        wanted = read_wanted(leaderworkerset.decode(msgspec.json.encode(lws)))
        recorded = read_revision(decode_revision(msgspec.json.encode(revision)))
    except (msgspec.ValidationError, UnreadableRevision):
        return
    spelled = {"spec": recorded_template(wanted)}
    if recorded.digest == wanted.digest and json.dumps(revision["data"]) != json.dumps(spelled):
        yield Topic.RETURN.finding(
            Severity.ERROR,
            Subject.of(revision, "ControllerRevision"),
            "records the template of the spec in another spelling than the public controller's: "
            f"that would take it for an update, and make the groups of {lws['metadata']['name']} "
            "anew",
            hint="do not go back before the set's next update by this operator",
        )
