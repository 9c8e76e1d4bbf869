"""The `lws` command."""

import click

import lws
from lws.cli.everyday import COMMANDS
from lws.cli.plan import plan
from lws.cli.run import run
from lws.cli.simulate import simulate
from lws.cli.up import down, up


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(lws.__version__, prog_name="lws")
def main() -> None:
    """Operator for LeaderWorkerSet and DisaggregatedSet."""


main.add_command(run)
main.add_command(plan)
main.add_command(up)
main.add_command(down)
main.add_command(simulate)
for _command in COMMANDS:
    main.add_command(_command)
