"""The roles that give people our kinds, from the file that `make generate` writes.

They go into the cluster's own roles `view`, `edit` and `admin`: deploy/kustomize/base/users.yaml.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import orjson

NAME = "roles.json"


def stored_roles() -> list[dict[str, Any]]:
    """ClusterRoles as they are sent; new copies each time."""
    raw = resources.files("lws.api.data").joinpath(NAME).read_bytes()
    roles: list[dict[str, Any]] = orjson.loads(raw)
    return roles
