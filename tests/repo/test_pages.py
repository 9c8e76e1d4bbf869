"""What pages say of files, commands, flags and fields is so."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from lws.cli.main import main
from lws.manager.configuration import Configuration
from tests.repo.files import ROOT, code_of, pages, text_of

OPERATIONS = Path("docs/operations.md")


def links() -> list[tuple[Path, str]]:
    """Every link of a page to something of this repository; what stands in code is none."""
    return [
        (page, target)
        for page in pages()
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", text_of(page) or ""))
        if not re.match(r"[a-z]+:", target)
    ]


@pytest.mark.parametrize(("page", "target"), links(), ids=str)
def test_a_link_leads_somewhere(page: Path, target: str) -> None:
    name, _, anchor = target.partition("#")
    aim = (ROOT / page.parent / name).resolve() if name else ROOT / page
    assert aim.exists(), f"{page} links to {target}, which is not there"
    assert aim.is_relative_to(ROOT)
    if anchor:
        assert anchor in anchors(aim.read_text(encoding="utf-8"))


def anchors(page: str) -> set[str]:
    """What the headings of a page are called in a link."""
    headings = re.findall(r"^#+ +(.+)$", page, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading).strip() for heading in headings)
    return {heading.lower().replace(" ", "-") for heading in plain}


def test_pages_have_links_and_commands_to_judge() -> None:
    assert len(links()) > 10
    assert len(made()) > 5
    assert len(lines_of_lws()) > 3


def made() -> set[tuple[Path, str]]:
    """Every target of `make` that a page names."""
    return {
        (page, target)
        for page in pages()
        for code in code_of(text_of(page) or "")
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", code)
    }


def targets() -> dict[str, str]:
    """What `make` makes, and what `make help` says of it."""
    makefile = text_of(Path("Makefile")) or ""
    return dict(re.findall(r"^([a-z-]+):(?:[^#\n]*## *(.+))?", makefile, re.MULTILINE))


def test_every_target_of_make_that_a_page_names_is_there() -> None:
    assert {target for _, target in made()} - targets().keys() == set()


def test_every_target_of_make_is_told_by_make_help_and_is_no_file() -> None:
    assert [target for target, words in targets().items() if not words] == []
    phony = re.search(r"^\.PHONY:(.*)$", text_of(Path("Makefile")) or "", re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == targets().keys()


def lines_of_lws() -> list[tuple[Path, str]]:
    """Every `lws …` that a page tells people to type."""
    return [
        (page, code)
        for page in pages()
        for line in code_of(text_of(page) or "")
        for code in re.findall(r"^(?:\.venv/bin/)?lws ([^|&;>]+)", line)
    ]


@pytest.mark.parametrize(("page", "line"), lines_of_lws(), ids=str)
def test_every_command_and_flag_that_a_page_names_is_there(page: Path, line: str) -> None:
    words = [word.rstrip(":,") for word in shlex.split(line)]
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        below = command.get_command(click.Context(command), name)
        assert below is not None, f"{page}: lws has no command {name}"
        command = below
    known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert given - known - {"-h", "--help", "--version"} == set()


def commands(command: click.Command, name: str = "lws") -> Iterator[tuple[str, click.Command]]:
    """A command and all below it."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None, word
            yield from commands(below, f"{name} {word}")


@pytest.mark.parametrize(("name", "command"), list(commands(main)), ids=str)
def test_help_tells_what_a_command_does_and_each_flag(name: str, command: click.Command) -> None:
    with click.Context(command, info_name=name) as context:
        told = command.get_help(context)
    assert command.help, f"{name} has no docstring"
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []
    missing = [flag for option in options for flag in option.opts if flag not in told]
    assert missing == []


def fields() -> set[str]:
    """Every field of the configuration file, by its path."""
    sections = msgspec.structs.fields(Configuration)
    return {
        f"{section.encode_name}.{field.encode_name}"
        for section in sections
        if isinstance(section.type, type) and issubclass(section.type, msgspec.Struct)
        for field in msgspec.structs.fields(section.type)
    }


def told() -> set[str]:
    """Every field in the table of the page; `.name` is of the section named before it."""
    page = (text_of(OPERATIONS) or "").partition("\n## Configuration\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    names: set[str] = set()
    section = ""
    for name in (name for row in rows for name in re.findall(r"`([^`]+)`", row)):
        before, _, last = name.rpartition(".")
        section = before or section
        names.add(f"{section}.{last}")
    return names


def test_every_field_of_the_configuration_is_told_and_no_other() -> None:
    assert told() == fields()
