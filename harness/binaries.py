"""Where the control plane's programs are: KUBEBUILDER_ASSETS, then what `make controlplane` built.

The cache folder's name is made of the versions in `hack/controlplane/*/go.mod`, as in `build.sh`.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

_BUILD = Path(__file__).resolve().parent.parent / "hack" / "controlplane"
_PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


class MissingError(RuntimeError):
    """A program of the control plane is not on this machine."""


@dataclass(frozen=True)
class Binaries:
    """The paths of the programs, and the folder of kwok's own stages."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kube_scheduler: Path
    kwok: Path
    kubectl: Path
    stages: Path


def module_version(folder: str, module: str) -> str:
    """The version of a Go module that `hack/controlplane/<folder>/go.mod` names."""
    text = (_BUILD / folder / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"^(?:require )?\s*{re.escape(module)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise MissingError(f"hack/controlplane/{folder}/go.mod names no version of {module}")
    return found.group(1)


def cache_home() -> Path:
    """Where everything that is built once is kept."""
    ours = os.environ.get("LWS_CACHE_DIR")
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(ours) if ours else Path(general) / "lws"


def cache_folder() -> Path:
    """The folder that `make controlplane` fills."""
    versions = (
        f"kubernetes-{module_version('kubernetes', 'k8s.io/kubernetes')}"
        f"_etcd-{module_version('etcd', 'go.etcd.io/etcd/server/v3')}"
        f"_kwok-{module_version('kwok', 'sigs.k8s.io/kwok')}"
    )
    return cache_home() / "controlplane" / versions


def find_binaries() -> Binaries:
    """All programs, or a `MissingError` that names those that are missing and says what to run."""
    cache = cache_folder()
    found = {name: _find(name, cache) for name in _PROGRAMS}
    found["kubectl"] = _kubectl(cache)
    found["stages"] = cache / "stages" if (cache / "stages").is_dir() else None
    missing = sorted(name for name, path in found.items() if path is None)
    if missing:
        raise MissingError(f"run `make controlplane` (missing: {', '.join(missing)})")
    return Binaries(**{name.replace("-", "_"): path for name, path in found.items() if path})


def find_kubectl() -> Path:
    """kubectl alone: for what needs no control plane."""
    found = _kubectl(cache_folder())
    if found is None:
        raise MissingError("run `make controlplane` (missing: kubectl)")
    return found


def _kubectl(cache: Path) -> Path | None:
    return _find("kubectl", cache) or _on_path("kubectl")


def _find(name: str, cache: Path) -> Path | None:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    for folder in ([Path(assets)] if assets else []) + [cache]:
        if os.access(folder / name, os.X_OK):
            return folder / name
    return None


def _on_path(name: str) -> Path | None:
    path = shutil.which(name)
    return Path(path) if path else None
