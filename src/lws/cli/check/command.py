"""`lws check cluster`."""

import sys
from typing import TYPE_CHECKING

import click

from lws.base.errors import InvalidInput
from lws.cli.check.findings import Report
from lws.cli.everyday import tables
from lws.cli.everyday.cluster import Cluster, what_to_do
from lws.cli.problems import EXIT_USAGE, tell
from lws.client import errors
from lws.runtime.clock import RealClock

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient


@click.group()
def check() -> None:
    """Look before you change something; nothing is written."""


@check.command()
@click.option(
    "--namespace", "-n", "namespaces", multiple=True, metavar="NAME", help="One or more; else all."
)
@click.option(
    "--operator-namespace",
    default="lws-system",
    show_default=True,
    metavar="NAME",
    help="Where this operator would run.",
)
@click.option(
    "--gang-provider", metavar="NAME", help="Gang scheduler that it would be configured with."
)
@click.option("--back", is_flag=True, help="Look at the way back to the public controller too.")
@click.option("--kubeconfig", metavar="FILE", help="Else $KUBECONFIG or ~/.kube/config.")
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(("table", "json", "yaml")),
    default="table",
    help="What to print.",
)
def cluster(
    *,
    namespaces: tuple[str, ...],
    operator_namespace: str,
    gang_provider: str | None,
    back: bool,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """What would change if this operator took a cluster over; nothing is written.

    Exit code 0: nothing is in the way and nothing would change; 1: something is, or would; 2: the
    command is wrong, or the cluster does not answer.
    """
    try:
        report = _ask(
            Cluster(None, kubeconfig, context),
            namespaces=namespaces,
            operator_namespace=operator_namespace,
            provider=gang_provider,
            back=back,
        )
    except InvalidInput as error:
        tell(str(error))
        sys.exit(EXIT_USAGE)
    except errors.KubeconfigError as error:
        tell(str(error), hint="name a file with --kubeconfig, or set KUBECONFIG")
        sys.exit(EXIT_USAGE)
    except errors.ClientError as error:
        tell(str(error), hint=what_to_do(error))
        sys.exit(EXIT_USAGE)
    _show(report, output)
    sys.exit(0 if report.is_clear else 1)


def _ask(
    cluster: Cluster,
    *,
    namespaces: tuple[str, ...],
    operator_namespace: str,
    provider: str | None,
    back: bool,
) -> Report:
    from lws.cli.check.cluster import Asked, check_cluster  # loads the controllers

    asked = Asked(
        namespaces=tuple(dict.fromkeys(namespaces)),
        operator_namespace=operator_namespace,
        provider=provider,
        back=back,
    )

    async def ask(client: "KubernetesClient", _: str) -> Report:
        return await check_cluster(client, RealClock(), asked)

    return cluster.ask(ask)


def _show(report: Report, output: str) -> None:
    if output in ("json", "yaml"):
        tables.show_document(report.as_document(), output)
        return
    from lws.cli.check.output import lines

    click.echo("\n".join(lines(report, colour=tables.wants_colour())))
