"""Cells of tables."""

from typing import Any

import pytest

from lws.sandbox.server.tables.jsonpath import values_at
from lws.sandbox.server.tables.layout import duration_words
from lws.sandbox.server.tables.pods import pod_cells

MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 5, "2m5s"),
        (10 * MINUTE, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 30 * MINUTE, "7h30m"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (7 * DAY + 3 * HOUR, "7d3h"),
        (729 * DAY, "729d"),
        (3 * 365 * DAY + 7 * DAY, "3y7d"),
        (9 * 365 * DAY, "9y"),
    ],
)
def test_durations_are_exact_when_short_and_coarse_when_long(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


def _pod(status: dict[str, Any], **metadata: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}
    return {"metadata": {"name": "p", **metadata}, "spec": spec, "status": status}


def _state(**state: Any) -> dict[str, Any]:
    return {"name": "c", "state": state, "ready": "running" in state}


@pytest.mark.parametrize(
    ("status", "ready", "word"),
    [
        ({"phase": "Pending"}, "0/1", "Pending"),
        ({"phase": "Running", "containerStatuses": [_state(running={})]}, "1/1", "Running"),
        (
            {"phase": "Running", "containerStatuses": [_state(waiting={"reason": "Crash"})]},
            "0/1",
            "Crash",
        ),
        (
            {"phase": "Failed", "containerStatuses": [_state(terminated={"exitCode": 137})]},
            "0/1",
            "ExitCode:137",
        ),
        (
            {"phase": "Failed", "containerStatuses": [_state(terminated={"signal": 9})]},
            "0/1",
            "Signal:9",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, "0/1", "Evicted"),
        (
            {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {}}]},
            "0/1",
            "Init:0/1",
        ),
        (
            {
                "phase": "Pending",
                "initContainerStatuses": [
                    {"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
                ],
            },
            "0/1",
            "Init:Error",
        ),
        (
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
            },
            "0/1",
            "SchedulingGated",
        ),
    ],
)
def test_a_pods_state_is_one_word(status: dict[str, Any], ready: str, word: str) -> None:
    assert pod_cells(_pod(status), 0)[1:3] == [ready, word]


def test_a_pod_that_is_deleted_terminates_unless_it_has_ended() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert pod_cells(_pod({"phase": "Running"}, **leaving), 0)[2] == "Terminating"
    assert pod_cells(_pod({"phase": "Failed", "reason": "Evicted"}, **leaving), 0)[2] == "Evicted"


def test_restarts_say_when_the_last_one_was() -> None:
    ended = {"terminated": {"finishedAt": "2026-01-01T00:00:00Z"}}
    container = {**_state(running={}), "restartCount": 2, "lastState": ended}
    pod = _pod({"phase": "Running", "containerStatuses": [container]})
    assert pod_cells(pod, 1767225600 + 90)[3] == "2 (90s ago)"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", [1]),
        (".a.x", []),
        (".list[0].n", ["x"]),
        (".list[-1].n", ["y"]),
        (".list[*].n", ["x", "y"]),
        (".list[9]", []),
        ('.list[?(@.n=="y")].v', [2]),
        (".list[?(@.v==1)].n", ["x"]),
        (r".dotted\.name", ["d"]),
        (".['dotted.name']", ["d"]),
        ("nonsense[", []),
    ],
)
def test_json_paths_of_columns_find_values(path: str, found: list[Any]) -> None:
    obj = {
        "a": {"b": 1},
        "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}],
        "dotted.name": "d",
    }
    assert values_at(obj, path) == found
