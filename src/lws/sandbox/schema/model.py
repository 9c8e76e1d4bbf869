"""The tree that a kind's schema is: built-in kinds and custom resources alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class _Missing:
    """The type of MISSING."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""No default; None would be one."""


class ListType(StrEnum):
    """How server-side apply sees a list (`x-kubernetes-list-type`)."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Rule:
    """One of `x-kubernetes-validations`."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One node; only what its type needs is set."""

    type: str = ""
    """object, array, string, integer, number, boolean; empty: anything."""
    format: str = ""
    description: str = ""
    properties: Mapping[str, "Schema"] = field(default_factory=dict)
    additional: "Schema | None" = None
    """Schema of a map's values (`additionalProperties`)."""
    items: "Schema | None" = None
    list_type: ListType = ListType.ATOMIC
    list_map_keys: tuple[str, ...] = ()
    is_atomic_map: bool = False
    """`x-kubernetes-map-type: atomic`: apply owns the whole of it."""
    patch_merge_key: str = ""
    """Strategic merge patch: items are matched by this field."""
    patch_strategies: frozenset[str] = frozenset()
    """merge, replace, retainKeys."""
    required: frozenset[str] = frozenset()
    default: Any = MISSING
    enum: tuple[Any, ...] = ()
    nullable: bool = False
    int_or_string: bool = False
    preserves_unknown: bool = False
    is_embedded_resource: bool = False
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    min_properties: int | None = None
    max_properties: int | None = None
    all_of: tuple["Schema", ...] = ()
    any_of: tuple["Schema", ...] = ()
    one_of: tuple["Schema", ...] = ()
    negated: "Schema | None" = None
    rules: tuple[Rule, ...] = ()
