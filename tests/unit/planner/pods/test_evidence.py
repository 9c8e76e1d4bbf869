"""What one pod shows: when it began to run."""

import pytest

from lws.api.core import Pod
from lws.base.times import parse_time
from lws.planner.pods.evidence import began, lenient_time
from tests.unit.planner.pods.worlds import EARLY, a_pod, at, container

RESTARTED = container(started=at(62), restarted=1, finished=at(60))
WAITING = container("other", started=None)
CRASHING = container(started=None, restarted=3, finished=at(60))


@pytest.mark.parametrize(
    ("pod", "moment"),
    [
        (a_pod(containers=[container(started=at(5)), container("b", started=at(9))]), at(9)),
        (a_pod(containers=[RESTARTED]), at(60)),
        (a_pod(containers=[CRASHING]), at(60)),
        (a_pod(containers=[]), EARLY),
        (a_pod(phase="Succeeded", containers=[CRASHING]), at(60)),
    ],
)
def test_a_pod_began_to_run_when_the_last_of_its_containers_had_started(
    pod: Pod, moment: str
) -> None:
    assert began(pod) == parse_time(moment)


@pytest.mark.parametrize(
    "pod",
    [
        a_pod(phase="Pending", containers=[RESTARTED, WAITING]),
        a_pod(phase="", containers=[RESTARTED]),
        a_pod(phase="Failed", containers=[]),
        a_pod(phase="Failed", containers=[RESTARTED, WAITING]),
        a_pod(containers=[container(started="soon")]),
        a_pod(phase="Failed", containers=[{"name": "serve"}]),
    ],
)
def test_a_pod_has_not_begun_to_run(pod: Pod) -> None:
    assert began(pod) is None


@pytest.mark.parametrize("text", [None, "", "soon", "2026-08-01T10:00:00"])
def test_a_time_that_is_none_is_survived(text: str | None) -> None:
    assert lenient_time(text) is None
