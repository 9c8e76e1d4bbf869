"""What is generated is checked in as it is generated."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lws.api.crds import custom_resource_definitions, file_name

ROOT = Path(__file__).parents[2]
# What the API server allows for all annotations of an object; client-side apply puts the whole
# object into one.
ANNOTATIONS_MAX_BYTES = 262_144


def check(*arguments: str) -> None:
    command = [sys.executable, "scripts/generate.py", "--check", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_generated_files_are_up_to_date() -> None:
    check()


@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_what_go_answers_is_up_to_date() -> None:
    check("--go")


def test_each_crd_has_its_file_and_no_file_is_left_over() -> None:
    files = {path.name: yaml.safe_load(path.read_text()) for path in crd_files()}
    assert files == {file_name(crd): crd for crd in custom_resource_definitions()}


def test_each_kind_has_its_page_of_reference_and_no_page_is_left_over() -> None:
    kinds = {f"{crd['spec']['names']['singular']}.md" for crd in custom_resource_definitions()}
    pages = {path.name for path in (ROOT / "docs" / "reference").iterdir()}
    assert pages == kinds | {"configuration.md"}


def test_each_crd_is_small_enough_for_client_side_apply() -> None:
    for crd in custom_resource_definitions():
        assert len(json.dumps(crd, separators=(",", ":"))) < ANNOTATIONS_MAX_BYTES * 3 // 4


def test_no_crd_file_is_over_a_mebibyte() -> None:
    assert all(path.stat().st_size < 1 << 20 for path in crd_files())


def crd_files() -> list[Path]:
    return sorted((ROOT / "deploy" / "crds").glob("*.yaml"))
