"""One sandbox at a time, and nobody else's process taken for it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from lws.cli import main
from lws.cli.up import running_pid

PROGRAM = [sys.executable, "-c", "print('here', flush=True); input()"]


@contextmanager
def process(*arguments: str) -> Iterator[int]:
    """Its process id, once it runs what it was started for."""
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid
        child.kill()


def written(folder: Path, pid: int) -> Path:
    file = folder / "lws" / "running.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"pid": pid}), encoding="utf-8")
    return file


def test_a_second_sandbox_is_refused_and_the_first_ones_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with process("lws") as first:
        file = written(tmp_path, first)
        assert running_pid(file) == first
        result = CliRunner().invoke(main, ["up"])
    assert result.exit_code == 1
    assert f"running already, process {first}" in result.stderr
    assert "lws down" in result.stderr
    assert file.exists()


def test_a_process_that_is_another_or_gone_is_no_sandbox(tmp_path: Path) -> None:
    with process() as other:
        taken = running_pid(written(tmp_path, other))
    is_ours = b"lws" in os.fsencode(sys.executable)
    assert taken == (other if is_ours else None)
    assert running_pid(tmp_path / "lws" / "running.json") is None


@pytest.mark.parametrize(
    "topology",
    ["a b=2", "/zone=2", "a/b/c=2", f"{'k' * 60}=2", f"zone={'9' * 5000}", "zone=0", "zone"],
)
def test_a_topology_that_no_node_can_have_is_told_by_its_option(topology: str) -> None:
    result = CliRunner().invoke(main, ["up", "--topology", topology])
    assert result.exit_code == 2, result.exception
    assert result.stderr.startswith("error: --topology: ")


def test_a_log_level_that_is_none_is_told_by_the_option_that_was_typed() -> None:
    result = CliRunner().invoke(main, ["up", "--log-level", "loud"])
    assert result.exit_code == 2, result.exception
    assert result.stderr.startswith("error: --log-level: 'loud' is none of ")
