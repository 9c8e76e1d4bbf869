"""Actions in words."""

from typing import Any

from lws.api.kinds import Kind
from lws.base.ids import UID
from lws.cli.check.findings import Finding, Severity, Subject, Topic
from lws.cli.check.intents import finding_of
from lws.planner.actions import (
    Action,
    Apply,
    Create,
    Delete,
    Emit,
    EventType,
    MergePatch,
    Reference,
    WakeAfter,
)

SET = Subject("LeaderWorkerSet", "demo", "chat")
PLACE: Any = {"namespace": "demo", "name": "chat"}


def told(action: Action, live: Any = None) -> Finding:
    finding = finding_of(action, of=SET, live=live)
    assert finding is not None
    assert (finding.severity, finding.topic) == (Severity.WARNING, Topic.CHANGE)
    return finding


def test_an_apply_names_the_fields_that_would_change() -> None:
    body = {"metadata": {"labels": {"a": "1"}}, "spec": {"replicas": 3}}
    live: Any = {"metadata": {"labels": {"a": "1"}}, "spec": {"replicas": 2}}
    action = Apply(kind=Kind.STATEFUL_SET, body=body, uid=UID("u"), **PLACE)
    assert told(action, live).fields == ("spec.replicas",)


def test_another_pod_template_is_told_by_what_it_does() -> None:
    body = {"spec": {"template": {"spec": {"hostNetwork": True}}}}
    live: Any = {"metadata": {}, "spec": {"template": {"spec": {}}}}
    action = Apply(kind=Kind.STATEFUL_SET, body=body, uid=UID("u"), **PLACE)
    assert "groups would be made anew" in told(action, live).message


def test_a_patch_tells_old_and_new_and_conditions_by_their_type() -> None:
    old = [{"type": "Available", "status": "True"}]
    new = [{"type": "Available", "status": "False"}]
    action = MergePatch(
        kind=Kind.LEADER_WORKER_SET,
        body={"status": {"replicas": 2, "conditions": new}},
        uid=UID("u"),
        subresource="status",
        **PLACE,
    )
    live: Any = {"metadata": {}, "status": {"replicas": 2, "conditions": old}}
    finding = told(action, live)
    assert finding.message == "its status would be written"
    assert finding.fields == ("status.conditions[Available].status: True → False",)


def test_what_is_not_the_set_itself_is_told_with_its_set() -> None:
    action = Create(kind=Kind.SERVICE, namespace="demo", name="chat-0", body={})
    finding = told(action)
    assert str(finding.about) == "Service demo/chat-0"
    assert finding.message == "would be created (of LeaderWorkerSet demo/chat)"


def test_a_leader_that_would_be_deleted_is_told_with_its_group() -> None:
    action = Delete(kind=Kind.POD, namespace="demo", name="chat-0", uid=UID("u"))
    assert "with its group" in told(action).message


def test_a_warning_is_told_and_other_events_go_with_their_writes() -> None:
    about = Reference(Kind.LEADER_WORKER_SET, "demo", "chat")
    warning = Emit(about, EventType.WARNING, "TemplateChanged", "Update", "the template differs")
    assert "the template differs" in told(warning).message
    normal = Emit(about, EventType.NORMAL, "GroupsUpdating", "Update", "Updating replica 1")
    assert finding_of(normal, of=SET, live=None) is None
    assert finding_of(WakeAfter(1.0), of=SET, live=None) is None
