"""`lws plan`: what a person types and reads."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner, Result

from lws.cli import main
from lws.cli.plan.preview import of_leaderworkerset, of_numbers
from lws.cli.plan.text import render

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "vllm" / "leaderworkerset.yaml"
TWO_ROLES = ["plan", "steps", "--old", "10,2", "--target", "6,8", "--surge", "2"]
TWO_ROLES += ["--unavailable", "0"]


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=text)


def test_the_steps_of_the_spec_come_out_as_json() -> None:
    answer = json.loads(run(*TWO_ROLES, "-o", "json").stdout)
    assert [(step["old"], step["new"]) for step in answer["steps"]] == [
        ([10, 2], [0, 0]),
        ([8, 2], [0, 0]),
        ([6, 2], [0, 0]),
        ([6, 2], [2, 2]),
        ([4, 1], [2, 2]),
        ([4, 1], [3, 4]),
        ([4, 1], [4, 5]),
        ([2, 1], [4, 5]),
        ([2, 1], [5, 7]),
        ([2, 1], [6, 8]),
        ([0, 0], [6, 8]),
    ]
    assert answer["complete"]
    assert [role["lowestAvailable"] for role in answer["roles"]] == [6, 2]
    assert [role["highestTotal"] for role in answer["roles"]] == [10, 9]


def test_yaml_says_the_same_as_json() -> None:
    assert yaml.safe_load(run(*TWO_ROLES, "-o", "yaml").stdout) == json.loads(
        run(*TWO_ROLES, "-o", "json").stdout
    )


def test_the_picture_is_whole_and_names_its_roles(tmp_path: Path) -> None:
    file = tmp_path / "steps.svg"
    run(*TWO_ROLES, "--roles", "prefill,decode", "--svg", str(file))
    words = {node.text for node in ET.parse(file).iter() if node.text}
    assert {"prefill", "decode", "floor 6", "ceiling 10"} <= words
    assert run(*TWO_ROLES, "--roles", "prefill,decode", "-o", "svg").stdout == file.read_text()


def test_a_name_in_a_picture_cannot_break_it() -> None:
    drawn = run(*TWO_ROLES, "--roles", "<b>,a&b", "-o", "svg").stdout
    assert "&lt;b&gt;" in drawn
    ET.fromstring(drawn)


def test_there_is_no_colour_where_nobody_looks() -> None:
    assert "\x1b[" not in run(*TWO_ROLES).stdout


def test_there_is_colour_where_somebody_does() -> None:
    preview = of_numbers(names=["a"], old=[2], target=[2], surge=[1], unavailable=[0])
    assert "\x1b[" in render(preview, colour=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--old", "1,x", "--target", "1"], "--old: must be whole numbers"),
        (["--old", "-1", "--target", "1"], "--old: must be whole numbers"),
        (["--old", "1,2", "--target", "1,2,3"], "--target: has 3 numbers for 2 roles"),
        (["--old", "1", "--target", "1", "--surge", "1,2"], "--surge: has 2 numbers for 1 roles"),
        (["--old", "1", "--target", "1", "--roles", "a,b"], "--roles: has 2 names for 1 roles"),
    ],
)
def test_wrong_numbers_are_named(arguments: list[str], words: str) -> None:
    result = run("plan", "steps", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_a_manifest_of_a_leaderworkerset_shows_partitions_and_replicas() -> None:
    result = run("plan", "rollout", "-f", str(EXAMPLE))
    assert result.exit_code == 0
    assert "replicas 3, partition 2" in result.stdout
    assert "never fewer than 2 (floor 2)" in result.stdout


def disaggregatedset(**replicas: int) -> str:
    template = {"size": 1, "workerTemplate": {"spec": {"containers": []}}}
    roles = [
        {"name": name, "spec": {"replicas": count, "leaderWorkerTemplate": template}}
        for name, count in replicas.items()
    ]
    return yaml.safe_dump(
        {
            "apiVersion": "disaggregatedset.x-k8s.io/v1",
            "kind": "DisaggregatedSet",
            "metadata": {"name": "chat"},
            "spec": {"roles": roles},
        }
    )


def test_a_role_that_is_added_starts_from_nothing(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(disaggregatedset(prefill=2, decode=2))
    new = disaggregatedset(prefill=2, decode=2, encode=1)
    result = run("plan", "rollout", "-f", "-", "--old-file", str(old), "-o", "json", text=new)
    steps = json.loads(result.stdout)["steps"]
    assert steps[0]["old"] == [2, 2, 0]
    assert steps[-1] == {"step": len(steps) - 1, "old": [0, 0, 0], "new": [2, 2, 1]}


def test_a_role_that_is_removed_drains_with_the_others(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(disaggregatedset(prefill=2, decode=2, encode=1))
    new = disaggregatedset(prefill=2, decode=2)
    result = run("plan", "rollout", "-f", "-", "--old-file", str(old), "-o", "json", text=new)
    answer = json.loads(result.stdout)
    assert [role["name"] for role in answer["roles"]] == ["prefill", "decode", "encode"]
    assert answer["steps"][-1]["old"] == [0, 0, 0]


def leaderworkerset(spec: str) -> str:
    """A manifest; T in its spec is a template of groups of two."""
    template = "{size: 2, workerTemplate: {spec: {containers: [{name: a, image: b}]}}}"
    head = "kind: LeaderWorkerSet\napiVersion: leaderworkerset.x-k8s.io/v1\nmetadata: {name: a}\n"
    return f"{head}spec: {spec.replace(': T', ': ' + template)}"


def test_a_file_that_cannot_be_read_or_written_is_named_once() -> None:
    result = run("plan", "rollout", "-f", "nowhere.yaml")
    assert result.stderr == "error: nowhere.yaml: cannot be read: No such file or directory\n"
    result = run("plan", "steps", "--old", "1", "--target", "1", "--svg", "no/where.svg")
    assert result.stderr == "error: --svg: cannot be written: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not YAML: line"),
        ("kind: Pod", "holds no LeaderWorkerSet and no DisaggregatedSet"),
        ("kind: LeaderWorkerSet\napiVersion: v1", "apiVersion: must be leaderworkerset.x-k8s.io"),
        (
            (
                "kind: LeaderWorkerSet\napiVersion: leaderworkerset.x-k8s.io/v1\n"
                "metadata: {name: a}\nspec: {replicas: many}"
            ),
            "spec.replicas: expected",
        ),
        (leaderworkerset("{replicsa: 2, leaderWorkerTemplate: T}"), "spec.replicsa: there is no"),
        (leaderworkerset("{replicas: -1, leaderWorkerTemplate: T}"), "spec.replicas: Invalid"),
        (
            leaderworkerset(
                "{rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 0, maxUnavailable: 0}},"
                " leaderWorkerTemplate: T}"
            ),
            "maxUnavailable: Invalid value: 0: comes out as 0",
        ),
    ],
)
def test_a_wrong_manifest_is_one_line_that_says_what_is_wrong(text: str, words: str) -> None:
    result = run("plan", "rollout", "-f", "-", text=text)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_wrong_manifest_for_a_live_set_is_refused_before_anybody_is_asked() -> None:
    text = leaderworkerset("{replicas: -1, leaderWorkerTemplate: T}")
    result = run("plan", "rollout", "lws/a", "-f", "-", "--kubeconfig", "nowhere", text=text)
    assert result.exit_code == 2
    assert "spec.replicas: Invalid value: -1" in result.stderr


def test_nothing_to_plan_says_what_to_give() -> None:
    result = run("plan", "rollout")
    assert result.exit_code == 2
    assert "give a manifest, or the NAME of a live set" in result.stderr


def test_a_held_canary_ends_at_its_partition() -> None:
    preview = of_leaderworkerset(title="t", replicas=4, budgets=(0, 1), partition=2)
    assert (preview.steps[-1].old, preview.steps[-1].new) == ((2,), (2,))
    assert preview.lowest == (3,)
