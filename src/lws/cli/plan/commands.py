"""`lws plan steps` and `lws plan rollout`."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import yaml

from lws.admission.validation.counts import REPLICAS_MAX
from lws.base.errors import InvalidInput
from lws.cli.plan import svg, text
from lws.cli.plan.manifests import preview_of, read_documents, require_valid
from lws.cli.plan.preview import Preview, of_numbers
from lws.cli.problems import EXIT_USAGE, reason_of, tell
from lws.client.errors import ClientError

# Python refuses to read thousands of them.
_DIGITS_MAX = 100
OUTPUTS = ("text", "json", "yaml", "svg")

_output = click.option(
    "--output", "-o", type=click.Choice(OUTPUTS), default="text", help="What to print."
)
_svg = click.option("--svg", "svg_file", metavar="FILE", help="Draw a picture into this file too.")


@click.group()
def plan() -> None:
    """Show the steps of an update before they happen."""


@plan.command()
@click.option("--old", required=True, metavar="N,…", help="Replicas of each role now.")
@click.option("--target", required=True, metavar="N,…", help="Replicas wanted of each role.")
@click.option("--surge", default="1", show_default=True, metavar="N[,…]", help="One, or a role's.")
@click.option("--unavailable", default="0", show_default=True, metavar="N[,…]", help="Likewise.")
@click.option("--roles", metavar="NAME,…", help="Names of the roles.")
@_output
@_svg
def steps(
    *,
    old: str,
    target: str,
    surge: str,
    unavailable: str,
    roles: str | None,
    output: str,
    svg_file: str | None,
) -> None:
    """The steps of a DisaggregatedSet's update from bare numbers.

    Example: lws plan steps --old 10,2 --target 6,8 --surge 2 --unavailable 0
    """
    try:
        before = _numbers("--old", old)
        wanted = _numbers("--target", target, length=len(before))
        preview = of_numbers(
            names=_names(roles, len(before)),
            old=before,
            target=wanted,
            surge=_numbers("--surge", surge, length=len(before)),
            unavailable=_numbers("--unavailable", unavailable, length=len(before)),
        )
        _show(preview, output, svg_file)
    except InvalidInput as error:
        tell(str(error))
        sys.exit(EXIT_USAGE)


@plan.command()
@click.argument("name", required=False)
@click.option(
    "--filename", "-f", metavar="FILE", help="Manifest of the set as it will be; - is in."
)
@click.option("--old-file", metavar="FILE", help="Manifest of the set as it is.")
@click.option("--namespace", "-n", metavar="NAME", help="Of the live set.")
@click.option("--kubeconfig", metavar="FILE", help="Kubeconfig of the live set's cluster.")
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@_output
@_svg
def rollout(
    *,
    name: str | None,
    filename: str | None,
    old_file: str | None,
    namespace: str | None,
    kubeconfig: str | None,
    context: str | None,
    output: str,
    svg_file: str | None,
) -> None:
    """The steps of an update of a LeaderWorkerSet or DisaggregatedSet.

    With -f alone, the update starts from the same sizes at an older revision; with --old-file from
    that manifest. With NAME (such as lws/vllm or ds/chat) the steps that a live set has before it;
    with NAME and -f those that it would have with the new manifest.
    """
    try:
        if name is None and filename is None:
            raise InvalidInput(field="-f", message="give a manifest, or the NAME of a live set")
        documents = read_documents(filename) if filename else [None]
        for document in documents:
            if name is not None:
                from lws.cli.plan.live import live_preview  # loads the HTTP client

                if document is not None:
                    require_valid(document)
                preview = live_preview(
                    name, document, namespace=namespace, kubeconfig=kubeconfig, context=context
                )
            else:
                assert document is not None, "without a name there is a manifest"
                old = read_documents(old_file)[0] if old_file else None
                preview = preview_of(document, old)
            _show(preview, output, svg_file)
    except InvalidInput as error:
        tell(str(error))
        sys.exit(EXIT_USAGE)
    except ClientError as error:
        tell(str(error))
        sys.exit(1)


def _show(preview: Preview, output: str, svg_file: str | None) -> None:
    if svg_file is not None:
        try:
            Path(svg_file).write_text(svg.render(preview), encoding="utf-8")
        except OSError as error:
            raise InvalidInput(
                field="--svg", message=f"cannot be written: {reason_of(error)}"
            ) from error
    if output == "json":
        click.echo(json.dumps(preview.as_document(), indent=2))
    elif output == "yaml":
        click.echo(yaml.safe_dump(preview.as_document(), sort_keys=False).rstrip())
    elif output == "svg":
        click.echo(svg.render(preview), nl=False)
    else:
        click.echo(text.render(preview, colour=_wants_colour()))


def _wants_colour() -> bool:
    """In a terminal, unless NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _numbers(option: str, value: str, *, length: int | None = None) -> list[int]:
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        message = f"must be whole numbers with commas between, such as 10,2, not {value!r}"
        raise InvalidInput(field=option, message=message)
    if any(len(part) > _DIGITS_MAX or int(part) > REPLICAS_MAX for part in parts):
        raise InvalidInput(field=option, message=f"must be at most {REPLICAS_MAX}")
    numbers = [int(part) for part in parts]
    if length is not None and len(numbers) == 1:
        return numbers * length
    if length is not None and len(numbers) != length:
        message = f"has {len(numbers)} numbers for {length} roles"
        raise InvalidInput(field=option, message=message)
    return numbers


def _names(roles: str | None, count: int) -> Sequence[str]:
    if roles is None:
        return [f"role {number}" for number in range(count)]
    names = [part.strip() for part in roles.split(",")]
    if len(names) != count:
        raise InvalidInput(field="--roles", message=f"has {len(names)} names for {count} roles")
    return names
