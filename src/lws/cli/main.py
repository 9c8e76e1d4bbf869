"""The `lws` command. What a command needs is loaded when it is typed, and no sooner."""

import sys
from collections.abc import Mapping
from errno import EDQUOT, EFBIG, EIO, ENOSPC
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

import lws
from lws.cli.problems import EXIT_OUTPUT, reason_of, tell

_CANNOT_WRITE = (ENOSPC, EDQUOT, EFBIG, EIO)


class Entry(NamedTuple):
    """Where a command is, and what the list of commands says of it."""

    module: str
    name: str
    words: str


ENTRIES: Mapping[str, Entry] = {
    "run": Entry("run", "run", "Run the controllers and webhooks until a signal ends them."),
    "completion": Entry("completion", "completion", "Print a script that completes what is typed."),
    "plan": Entry("plan", "plan", "Show the steps of an update before they happen."),
    "check": Entry("check", "check", "Look before you change something; nothing is written."),
    "up": Entry("up", "up", "Run an API server, a cluster and the operator, in memory."),
    "down": Entry("up", "down", "Stop the sandbox that `lws up` runs."),
    "chaos": Entry("chaos", "chaos", "Make trouble in the sandbox: containers, pods, nodes."),
    "simulate": Entry(
        "simulate", "simulate", "Roll out a manifest on a cluster in memory, in virtual time."
    ),
    "get": Entry("everyday.looking", "get", "List LeaderWorkerSets and DisaggregatedSets."),
    "tree": Entry(
        "everyday.looking", "tree", "Show a set group by group, and why pods are not ready."
    ),
    "status": Entry(
        "everyday.looking", "status", "Say whether a set is available, by the exit code too."
    ),
    "logs": Entry("everyday.logs", "logs", "Show the logs of a set's pods side by side."),
    "history": Entry(
        "everyday.looking", "history", "Show the recorded revisions, and what changed between them."
    ),
    "diff": Entry(
        "everyday.diff", "diff", "Say what an apply would change: groups, and which fields."
    ),
    "undo": Entry("everyday.changing", "undo", "Put a recorded template back into the spec."),
    "pause": Entry("everyday.changing", "pause", "Let a running update take no further group."),
    "resume": Entry("everyday.changing", "resume", "Let a paused update go on."),
    "restart": Entry("everyday.changing", "restart", "Make groups anew, with their leader pods."),
}


class Commands(click.Group):
    """The commands of `ENTRIES`."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click has it, but that no output is an accident, whatever the terminal and the disk:
        a character that the terminal has not is a question mark."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno not in _CANNOT_WRITE:
                raise
            tell(f"the output cannot be written: {reason_of(error)}")
            sys.exit(EXIT_OUTPUT)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own words)
        """Their names."""
        return sorted(ENTRIES)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        """One of them, loaded."""
        entry = ENTRIES.get(cmd_name)
        return None if entry is None else load(entry)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands with their words, without loading any."""
        found = [
            CompletionItem(name, help=ENTRIES[name].words)
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, ENTRIES[name].words) for name in self.list_commands(ctx)])


def load(entry: Entry) -> click.Command:
    """The command itself."""
    found = getattr(import_module(f"lws.cli.{entry.module}"), entry.name)
    assert isinstance(found, click.Command), "entries name commands"
    return found


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(lws.__version__, prog_name="lws")
def main() -> None:
    """Operator for LeaderWorkerSet and DisaggregatedSet."""
