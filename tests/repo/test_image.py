"""The image's definition; it cannot be built where there is no container runtime.

That its command line runs is shown by test_wheel.py, in an environment made the same way.
"""

import fnmatch
import json
import re
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.repo.files import ROOT, text_of, tracked

TEXT = (text_of(Path("Dockerfile")) or "").replace("\\\n", " ")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]
LAST = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM")) :]
SITUATION = {"python_version": "3.13", "python_full_version": "3.13.1", "sys_platform": "linux"}


def value(word: str) -> str:
    """The one instruction of the last stage that begins with the word."""
    (found,) = [line for line in LAST if line.startswith(word + " ")]
    return found.removeprefix(word + " ")


def pins(name: str) -> dict[str, str]:
    """Version by package."""
    text = text_of(Path("requirements") / name) or ""
    found = re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)
    return {canonicalize_name(package): version for package, version in found}


def test_it_is_slim_and_runs_as_nobody_without_a_shell() -> None:
    assert re.fullmatch(r"FROM python:3\.\d+-slim", LAST[0])
    assert all(int(number) > 0 for number in value("USER").split(":"))
    assert json.loads(value("ENTRYPOINT")) == ["/lws/bin/lws"]
    assert json.loads(value("CMD")) == ["run"]
    assert [line for line in LAST if line.startswith("RUN")] == []
    assert value("COPY") == "--from=build /lws /lws"


def test_its_python_is_one_that_the_package_takes() -> None:
    versions = {re.sub(r"^FROM python:([\d.]+)-.*", r"\1", one) for one in LINES if "FROM" in one}
    (version,) = {one for one in versions if re.fullmatch(r"[\d.]+", one)}
    assert version == SITUATION["python_version"]
    assert metadata.metadata("lws")["Requires-Python"] is not None
    assert Version(version) in SpecifierSet(metadata.metadata("lws")["Requires-Python"])


def test_the_deployment_starts_what_the_image_has() -> None:
    base = yaml.safe_load(text_of(Path("deploy/kustomize/base/deployment.yaml")) or "")
    (container,) = base["spec"]["template"]["spec"]["containers"]
    assert container["command"] == json.loads(value("ENTRYPOINT"))
    assert container["args"][: len(json.loads(value("CMD")))] == json.loads(value("CMD"))
    security = base["spec"]["template"]["spec"]["securityContext"]
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == value("USER")


def test_everything_that_is_fetched_is_pinned_by_its_hash() -> None:
    calls = re.findall(r"pip install ([^&\n]+)", TEXT)
    assert len(calls) == 3
    from_index = [call for call in calls if "--no-deps /wheels/" not in call]
    assert all("--require-hashes -r requirements/" in call for call in from_index)
    assert "--no-build-isolation" in TEXT, "else the build would fetch its backend unpinned"


def test_what_is_copied_is_there_and_not_ignored() -> None:
    rules = [line for line in (text_of(Path(".dockerignore")) or "").splitlines() if line]
    kept = [rule[1:] for rule in rules if rule.startswith("!")]
    sources = [
        source
        for line in LINES
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert len(sources) > 4
    for source in sources:
        assert any(path.is_relative_to(source) for path in tracked()), source
        assert any(fnmatch.fnmatch(source, rule) for rule in kept), source


@pytest.mark.parametrize(
    ("file", "roots"), [("runtime.txt", ["lws"]), ("build.txt", ["hatchling"])]
)
def test_the_pins_are_all_that_is_needed_and_fit_together(file: str, roots: list[str]) -> None:
    pinned = pins(file)
    open_names = list(roots)
    met: set[str] = set()
    while open_names:
        name = open_names.pop()
        if name in met:
            continue
        met.add(name)
        for text in metadata.requires(name) or []:
            one = Requirement(text)
            if one.marker is not None and not one.marker.evaluate({**SITUATION, "extra": ""}):
                continue
            needed = canonicalize_name(one.name)
            assert Version(pinned[needed]) in one.specifier, f"{name} needs {text}"
            open_names.append(needed)
    assert len(met) > 4


def test_what_is_shipped_is_what_is_tested() -> None:
    tested, shipped = pins("dev.txt"), pins("runtime.txt")
    assert shipped.items() <= tested.items()
    assert len(shipped) > 10
    hashes = (ROOT / "requirements" / "runtime.txt").read_text().count("--hash=sha256:")
    assert hashes >= len(shipped)
