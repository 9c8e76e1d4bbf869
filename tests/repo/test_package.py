"""The package's version and entry points."""

import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import lws
from lws.providers import PodGroupKind, find_provider
from tests.repo.files import ROOT, text_of, tracked

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PROVIDERS: dict[str, str] = PROJECT["entry-points"]["lws.scheduler_providers"]
VERSION_IN = Path("src/lws/__init__.py")
HELD_EQUAL = {
    Path("deploy/chart/Chart.yaml"),
    Path("deploy/kustomize/base/deployment.yaml"),
    Path("deploy/manifests.yaml"),
}
"""They need it in words; tests/deploy holds them equal."""


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT
    version = re.compile(rf"(?<![\w.]){re.escape(lws.__version__)}(?![\w.])")
    ours = ("src", "deploy", "scripts", "Dockerfile", "Makefile", "pyproject.toml", "README.md")
    paths = [path for path in tracked() if path.parts[0] in ours and path.suffix != ".json"]
    paths = [path for path in paths if path not in HELD_EQUAL]
    assert [path for path in paths if version.search(text_of(path) or "")] == [VERSION_IN]


def test_the_changes_of_this_version_are_told() -> None:
    newest = re.search(r"^## (\S+)", text_of(Path("CHANGELOG.md")) or "", re.MULTILINE)
    assert newest is not None
    assert newest[1] == lws.__version__


@pytest.mark.parametrize(("name", "value"), list(PROJECT["scripts"].items()))
def test_a_script_can_be_called(name: str, value: str) -> None:
    assert callable(EntryPoint(name, value, "console_scripts").load())


@pytest.mark.parametrize(("name", "value"), list(PROVIDERS.items()))
def test_a_provider_is_one_and_is_found_by_its_name(name: str, value: str) -> None:
    kind = EntryPoint(name, value, "lws.scheduler_providers").load()
    found = find_provider(name)
    assert type(found) is kind
    assert isinstance(found.kind, PodGroupKind)
