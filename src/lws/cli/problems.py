"""How the command line tells of a problem: one line on stderr, what to do on the next."""

import click

EXIT_USAGE = 2
"""What was typed or configured is wrong; as `click` itself has it."""

EXIT_OUTPUT = 74
"""What is to be printed cannot be written (`EX_IOERR` of sysexits): no answer of any command."""


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read or written, without its name, which is said already."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "is not text in UTF-8"


def tell(message: str, *, hint: str | None = None) -> None:
    """`error: …` and, if there is one, `hint: …`, on stderr."""
    click.echo(f"error: {message}", err=True)
    if hint is not None:
        click.echo(f"hint: {hint}", err=True)
