"""Our CustomResourceDefinitions from the file that `make generate` writes: a program that starts
has no time to put them together."""

from __future__ import annotations

from importlib import resources

import orjson

from lws.api.crds_words import Schema

NAME = "crds.json"


def stored_definitions() -> list[Schema]:
    """What `lws.api.crds.custom_resource_definitions` makes; new copies each time."""
    raw = resources.files("lws.api.data").joinpath(NAME).read_bytes()
    definitions: list[Schema] = orjson.loads(raw)
    return definitions
