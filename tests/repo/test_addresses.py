"""No file knows a package registry, nor the machine that it was written on."""

import re

import pytest

from tests.repo.files import text_of, tracked

_HOSTS = (
    r"pypi\.org",
    r"pythonhosted\.org",
    r"npmjs\.(?:org|com)",
    r"yarnpkg\.com",
    r"(?:proxy|sum)\.golang\.org",
    r"goproxy\.(?:io|cn)",
    r"[\w-]+\.pkg\.dev",
    r"crates\.io",
    r"rubygems\.org",
    r"jfrog\.io",
    r"(?<![\w.])(?:[\w-]+\.)?gcr\.io",
    r"ghcr\.io",
    r"quay\.io",
    r"docker\.io",
    r"registry\.k8s\.io",
)
REGISTRY = re.compile("|".join(_HOSTS), re.IGNORECASE)
MACHINE = re.compile(r"(?<![\w.$~}*-])/(?:root|work|home/\w+|Users/\w+)(?![\w-])")


def found(pattern: re.Pattern[str]) -> list[str]:
    """Where it stands: file, line, what."""
    places = []
    for path in tracked():
        for number, line in enumerate((text_of(path) or "").splitlines(), start=1):
            places += [f"{path}:{number}: {match[0]}" for match in pattern.finditer(line)]
    return places


def test_no_file_holds_a_registrys_address() -> None:
    assert found(REGISTRY) == []


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    assert found(MACHINE) == []


@pytest.mark.parametrize("name", ["pypi org", "files pythonhosted org", "x-docker pkg dev"])
def test_a_registry_is_recognised(name: str) -> None:
    assert REGISTRY.search(f"see https://{'.'.join(name.split())}/simple")


@pytest.mark.parametrize("parts", [["root"], ["work", "main"], ["home", "ann", "src"]])
def test_a_path_of_a_machine_is_recognised(parts: list[str]) -> None:
    path = "".join(f"/{part}" for part in parts)
    assert MACHINE.search(f"cd {path}")
    assert MACHINE.search(f'"{path}"')


@pytest.mark.parametrize("text", ["a.b/root", "~/work", "/worker-index", "$HOME/work", "/rooted"])
def test_other_paths_are_let_be(text: str) -> None:
    assert MACHINE.search(text) is None
