"""How lists and maps of the built-in kinds merge in server-side apply, from a generated file.

A list is atomic (one value, replaced whole) unless it is told otherwise here: its items are told
apart by some of their fields, or it is a set. A map or a struct merges field by field unless it is
"atomic" here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import orjson

Merge = str | tuple[str, ...]
ATOMIC = "atomic"
SET = "set"


@cache
def _table() -> dict[str, dict[str, Merge]]:
    raw = resources.files("lws.api.data").joinpath("mergekeys.json").read_bytes()
    return {
        struct: {
            name: tuple(rule) if isinstance(rule, list) else rule for name, rule in each.items()
        }
        for struct, each in orjson.loads(raw).items()
    }


def merges_of(struct: str) -> Mapping[str, Merge]:
    """By field: the fields that tell items apart, or ATOMIC, or SET."""
    return _table().get(struct, {})
