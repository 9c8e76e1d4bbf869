"""Structural schemas of the parts of built-in kinds that our kinds hold, from a generated file."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import orjson

Schema = dict[str, Any]


@cache
def _file() -> bytes:
    return resources.files("lws.api.data").joinpath("schemas.json").read_bytes()


def pod_template() -> Schema:
    """A PodTemplateSpec, whole; a new copy each time."""
    return _schemas()["podTemplate"]


def volume_claim() -> Schema:
    """A PersistentVolumeClaim as it stands in a list of templates; a new copy each time."""
    return _schemas()["volumeClaim"]


def _schemas() -> dict[str, Schema]:
    schemas: dict[str, Schema] = orjson.loads(_file())
    return schemas
