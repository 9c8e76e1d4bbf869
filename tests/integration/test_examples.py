"""Every example is applied by the real kubectl and comes up."""

from pathlib import Path

import pytest
import yaml

from harness.kube import Json
from harness.operator import Operator
from harness.plane import Plane
from harness.waiting import eventually

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(EXAMPLES.rglob("*.yaml"))
SETS = {"LeaderWorkerSet": "leaderworkersets", "DisaggregatedSet": "disaggregatedsets"}


def documents(file: Path) -> list[Json]:
    return [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]


def test_there_are_examples_of_both_kinds() -> None:
    kinds = {item["kind"] for file in FILES for item in documents(file)}
    assert kinds >= SETS.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(EXAMPLES)))
def test_an_example_comes_up(
    file: Path, control_plane: Plane, operator: Operator, namespace: str
) -> None:
    assert operator.running
    answer = control_plane.kubectl("apply", "--server-side", "-n", namespace, "-f", str(file))
    assert "serverside-applied" in answer
    for item in documents(file):
        if item["kind"] not in SETS:
            continue

        def is_available(
            kind: str = SETS[item["kind"]], name: str = item["metadata"]["name"]
        ) -> bool:
            found = control_plane.kube.get(kind, name, namespace)
            conditions = found.get("status", {}).get("conditions", [])
            return any(one["type"] == "Available" and one["status"] == "True" for one in conditions)

        eventually(is_available, timeout=90, what=f"{file.name} is available")
