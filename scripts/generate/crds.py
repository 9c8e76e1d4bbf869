"""deploy/crds: our CustomResourceDefinitions as YAML; and as JSON, for programs that start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import yaml

from lws.api.crds import custom_resource_definitions, file_name

HEADER = "# Generated from lws.api.crds by `make generate`; do not edit.\n"


class _Plain(yaml.SafeDumper):
    """No anchors: not every reader follows them."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the dumper's own signature)
        return True


def crd_files() -> dict[str, str]:
    return {
        file_name(crd): HEADER + yaml.dump(crd, Dumper=_Plain, sort_keys=False, width=100)
        for crd in custom_resource_definitions()
    }


def write_crds(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, body in crd_files().items():
        (target / name).write_text(body)


def write_crds_file(target: Path) -> None:
    target.write_bytes(orjson.dumps(custom_resource_definitions()) + b"\n")
