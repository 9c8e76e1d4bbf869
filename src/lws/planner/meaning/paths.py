"""Paths into an object, as a person reads them and as managedFields has them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Step:
    """`label` is for people, `record` is the key in managedFields."""

    label: str
    record: str


Path = tuple[Step, ...]


@lru_cache(maxsize=4096)  # a few hundred names, for each field of each comparison
def field_step(name: str) -> Step:
    """A field of a struct, or a key of a map."""
    label = f".{name}" if _PLAIN.fullmatch(name) else f"[{name}]"
    return Step(label, f"f:{name}")


def item_step(keys: Mapping[str, object]) -> Step:
    """An item of a list that merges by keys."""
    label = ",".join(f"{name}={value}" for name, value in keys.items())
    return Step(f"[{label}]", f"k:{_compact(keys)}")


def index_step(index: int) -> Step:
    return Step(f"[{index}]", f"i:{index}")


def value_step(value: object) -> Step:
    """A member of a set."""
    return Step(f"[{value}]", f"v:{_compact(value)}")


def written(path: Path) -> str:
    """`spec.template.spec.containers[name=serve].image`."""
    return "".join(step.label for step in path).removeprefix(".")


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
