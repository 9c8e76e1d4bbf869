"""Shell completion: the scripts for bash, zsh and fish, and what kubectl asks a plugin for."""

import sys
from collections.abc import Sequence

import click
from click.shell_completion import ShellComplete, get_completion_class

SHELLS = ("bash", "zsh", "fish")
NO_FILES, FILES = ":4", ":0"
"""What kubectl is told at the end: whether files would do in the place of the word."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a script that completes commands, flags, and the names of live sets.

    \b
    bash:  source <(lws completion bash)
    zsh:   source <(lws completion zsh)
    fish:  lws completion fish | source

    kubectl lws is completed by kubectl's own script, which finds kubectl_complete-lws on the PATH.
    """
    from lws.cli.main import main  # knows this command

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    click.echo(_with_commas(kind(main, {}, "lws", "_LWS_COMPLETE").source()))


def _with_commas(script: str) -> str:
    """fish: a line is a kind and a word with its help, which click's script cuts at any comma."""
    return script.replace('string split ","', 'string split --max 1 ","')


def plugin_lines(words: Sequence[str]) -> list[str]:
    """What kubectl is told of the words behind `kubectl lws`, the last of them unfinished."""
    from lws.cli.main import main

    *before, incomplete = words or [""]
    found = ShellComplete(main, {}, "kubectl lws", "").get_completions(list(before), incomplete)
    is_files = any(item.type == "file" for item in found)
    plain = [item for item in found if item.type == "plain"]
    lines = [f"{item.value}\t{item.help}" if item.help else str(item.value) for item in plain]
    return [*lines, FILES if is_files else NO_FILES]


def complete_plugin() -> None:
    """The program `kubectl_complete-lws`."""
    click.echo("\n".join(plugin_lines(sys.argv[1:])))
