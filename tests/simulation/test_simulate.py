"""Whole rollouts in virtual time: the real controllers on the sandbox."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from lws.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def simulated(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["simulate", *arguments, "-o", "json"])
    assert result.exit_code in (0, 3), result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The vLLM example, rolled with a surge of one."""
    return simulated("-f", str(EXAMPLES / "vllm" / "leaderworkerset.yaml"))


def test_a_rollout_with_surge_keeps_every_group_ready(plain: dict[str, Any]) -> None:
    assert plain["complete"]
    assert plain["lowestReady"] == {"vllm": 2}
    assert plain["podsCreated"] == 9  # two groups of three, and one of surge


def test_it_takes_as_long_as_its_pods_take_to_start(plain: dict[str, Any]) -> None:
    assert 180 <= plain["seconds"] <= 190


def test_the_same_rollout_is_the_same_again(plain: dict[str, Any]) -> None:
    again = simulated("-f", str(EXAMPLES / "vllm" / "leaderworkerset.yaml"))
    assert [sample["seconds"] for sample in again["samples"]] == [
        sample["seconds"] for sample in plain["samples"]
    ]


def test_a_group_that_fails_on_the_way_is_recreated_and_the_rollout_ends() -> None:
    file = str(EXAMPLES / "vllm" / "leaderworkerset.yaml")
    answer = simulated("-f", file, "--fail", "30:vllm-0-1")
    assert answer["complete"]
    assert answer["podsCreated"] == 12


def test_roles_are_rolled_in_step_and_none_falls_below_its_floor() -> None:
    file = EXAMPLES / "prefill-decode" / "disaggregatedset.yaml"
    answer = simulated("-f", str(file))
    assert answer["complete"]
    roles = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["roles"]
    wanted = {role["name"]: role["spec"]["replicas"] for role in roles}
    assert answer["lowestReady"] == wanted
    last = answer["samples"][-1]["ready"]
    assert {role: sum(found.values()) for role, found in last.items()} == wanted
    assert all(len(found) == 1 for found in last.values())


def test_a_cluster_without_room_for_the_surge_is_told_and_not_waited_for() -> None:
    file = str(EXAMPLES / "vllm" / "leaderworkerset.yaml")
    result = CliRunner().invoke(main, ["simulate", "-f", file, "--nodes", "6", "--limit", "300"])
    assert result.exit_code == 3
    assert "not complete after 5:00" in result.stdout


def test_bad_failures_are_named() -> None:
    file = str(EXAMPLES / "vllm" / "leaderworkerset.yaml")
    result = CliRunner().invoke(main, ["simulate", "-f", file, "--fail", "soon:vllm-0"])
    assert result.exit_code == 2
    assert "--fail: must be SECONDS:POD" in result.stderr
