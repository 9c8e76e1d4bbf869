"""The list of commands: right, and quick, as it loads none of them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import IO

import click
import pytest
from click.testing import CliRunner

from lws.cli.main import ENTRIES, Entry, load, main

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "vllm" / "leaderworkerset.yaml"
Done = subprocess.CompletedProcess[str]
HEAVY = ("aiohttp", "asyncio", "yaml", "msgspec", "lws.client", "lws.planner", "lws.sandbox")


@pytest.mark.parametrize(("name", "entry"), ENTRIES.items())
def test_each_entry_leads_to_the_command_of_its_name(name: str, entry: Entry) -> None:
    command = load(entry)
    assert command.name == name
    assert command.help


def test_help_lists_each_command_on_a_line_of_its_own() -> None:
    told = CliRunner().invoke(main, ["--help"]).stdout.splitlines()
    listed = {line.split(maxsplit=1)[0]: line for line in told if line.startswith("  ")}
    for name, entry in ENTRIES.items():
        assert listed[name].endswith(f" {entry.words}")
        assert len(listed[name]) <= 80


def test_the_list_of_commands_loads_none_of_them() -> None:
    program = (
        "import sys\nfrom lws.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "", done.stderr


def test_a_command_that_is_none_is_refused() -> None:
    result = CliRunner().invoke(main, ["fly"])
    assert result.exit_code == 2
    assert "No such command 'fly'" in result.stderr


def test_entries_are_commands() -> None:
    with pytest.raises(AssertionError, match="entries name commands"):
        load(Entry("problems", "tell", ""))
    assert isinstance(load(ENTRIES["up"]), click.Command)


def run_lws(*arguments: str, stdout: int | IO[str] = PIPE, **environment: str) -> Done:
    command = [sys.executable, "-m", "lws", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, stdout=stdout, stderr=PIPE, env=env, encoding="latin-1")


STEPS = ("plan", "steps", "--old", "1", "--target", "1")


def test_a_full_disk_is_told_and_is_no_answer_of_a_command() -> None:
    with open("/dev/full", "w") as full:
        done = run_lws(*STEPS, stdout=full)
    assert done.returncode == 74
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_what_a_terminal_cannot_show_is_a_question_mark() -> None:
    done = run_lws(*STEPS, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "0       1 old   0 new ?\xb7" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "-f", "-", "--start", "nan"),
        ("simulate", "-f", "-", "--start", "inf"),
        ("simulate", "-f", "-", "--limit", "nan"),
        ("simulate", "-f", "-", "--limit", "1e300"),
        ("simulate", "-f", "-", "--fail", "\u0663:vllm-0"),
        ("status", "vllm", "--watch", "--timeout", "nan"),
        ("chaos", "slow-start", "nan"),
        ("up", "--ready-after", "nan"),
        ("plan", "steps", "--old", "9" * 20, "--target", "1"),
        ("plan", "steps", "--old", "9" * 5000, "--target", "1"),
    ],
)
def test_a_number_that_cannot_be_meant_is_a_wrong_command_line(arguments: tuple[str, ...]) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    result = CliRunner().invoke(main, list(arguments), input=text)
    assert result.exit_code == 2, result.output
    assert re.search("no number of seconds|not in the range|must be", result.stderr)
