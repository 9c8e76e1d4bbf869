"""The way back."""

import copy
from typing import Any

from lws.cli.check.findings import MANY, Finding, Findings, Severity, Subject, Topic
from lws.cli.check.returning import judge_additions, judge_spelling, judge_strategy
from tests.golden.worlds import items

WORLD = "lws-plain"


def the(kind: str, world: str = WORLD) -> Any:
    return copy.deepcopy(items(world, kind)[0])


def revision() -> Any:
    return copy.deepcopy(
        next(
            one
            for one in items(WORLD, "controllerrevisions")
            if one["metadata"]["name"].startswith("plain-9fd89658")
        )
    )


def test_what_the_public_controller_wrote_is_no_obstacle() -> None:
    assert list(judge_additions(the("leaderworkersets"), kind="LeaderWorkerSet")) == []
    assert list(judge_strategy(the("statefulsets"))) == []
    assert list(judge_spelling(the("leaderworkersets"), revision())) == []


def test_fields_of_ours_are_told_by_their_paths() -> None:
    lws, ds = the("leaderworkersets"), the("disaggregatedsets", "ds-at-rest")
    lws["spec"]["paused"] = True
    lws["spec"]["leaderWorkerTemplate"]["maxGroupRestarts"] = 3
    (finding,) = judge_additions(lws, kind="LeaderWorkerSet")
    assert finding.fields == ("spec.leaderWorkerTemplate.maxGroupRestarts", "spec.paused")
    ds["spec"]["roles"][1]["spec"]["progressDeadlineSeconds"] = 60
    (finding,) = judge_additions(ds, kind="DisaggregatedSet")
    assert finding.fields == ("spec.roles[].spec.progressDeadlineSeconds",)


def test_an_open_healing_window_is_in_the_way() -> None:
    leader = the("statefulsets")
    leader["spec"]["updateStrategy"] = {"type": "OnDelete"}
    (finding,) = judge_strategy(leader)
    assert finding.severity is Severity.ERROR


def test_another_spelling_of_the_same_template_is_in_the_way() -> None:
    recorded = revision()
    spec = recorded["data"]["spec"]
    spec["leaderWorkerTemplate"] = dict(reversed(spec["leaderWorkerTemplate"].items()))
    (finding,) = judge_spelling(the("leaderworkersets"), recorded)
    assert finding.severity is Severity.ERROR
    assert "plain" in finding.message


def test_another_template_is_an_update_to_both_and_no_matter_of_spelling() -> None:
    lws = the("leaderworkersets")
    lws["spec"]["leaderWorkerTemplate"]["size"] = 7
    assert list(judge_spelling(lws, revision())) == []


def test_what_is_only_to_be_known_is_counted_where_there_is_much_of_it() -> None:
    found = Findings()
    for number in range(MANY + 5):
        about = Subject("Pod", "demo", f"chat-{number}")
        for severity in (Severity.INFO, Severity.WARNING):
            told = Finding(severity=severity, topic=Topic.ADMISSION, about=about, message="odd")
            found.add([told])
    infos = [one for one in found.all() if one.severity is Severity.INFO]
    assert len(infos) == MANY + 1
    assert infos[-1].message == "and 5 more: odd"
    assert len(found.all()) == len(infos) + MANY + 5
