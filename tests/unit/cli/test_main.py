"""The list of commands: right, and quick, as it loads none of them."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from lws.cli.main import ENTRIES, Entry, load, main

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
