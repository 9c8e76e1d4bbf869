"""The `lws` command."""

import click

import lws


@click.group()
@click.version_option(lws.__version__, prog_name="lws")
def main() -> None:
    """Operator for LeaderWorkerSet and DisaggregatedSet."""
