"""The programs that judge deploy/: helm and promtool, as `make tools` built them."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.binaries import MissingError, cache_home

_MODULES = Path(__file__).resolve().parent.parent / "hack" / "tools"
_PACKAGES = {"helm": "helm.sh/helm/v3", "promtool": "github.com/prometheus/prometheus"}


def tool(name: str) -> Path:
    """The program; MissingError says what to run if it is not there."""
    versions = "_".join(f"{each}-{_version(each)}" for each in _PACKAGES)
    path = cache_home() / "tools" / versions / name
    if not os.access(path, os.X_OK):
        raise MissingError(f"run `make tools` (missing: {name})")
    return path


def run_tool(
    name: str, *words: str | Path, kubeconfig: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Its exit code, stdout and stderr; no repository and no cluster but that of `kubeconfig`."""
    program = tool(name)
    command = [str(program), *map(str, words)]
    environment = {"HOME": str(program.parent), "KUBECONFIG": str(kubeconfig or os.devnull)}
    if kubeconfig is not None:  # what the server serves is kept with it, not for ever
        environment["KUBECACHEDIR"] = str(kubeconfig.parent / "discovery")
    return subprocess.run(  # noqa: S603  ours
        command, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def must(done: subprocess.CompletedProcess[str]) -> str:
    """What it said on stdout; an error with its complaints if it failed."""
    assert done.returncode == 0, f"{_shown(done.args)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _shown(words: Sequence[str]) -> str:
    return " ".join(words)


def _version(name: str) -> str:
    text = (_MODULES / name / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"^(?:require )?\s*{re.escape(_PACKAGES[name])} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise MissingError(f"hack/tools/{name}/go.mod names no version of {_PACKAGES[name]}")
    return found.group(1)
