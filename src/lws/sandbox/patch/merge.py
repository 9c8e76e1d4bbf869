"""Merge patch (RFC 7396) as the API server does it."""

from typing import Any

Json = Any


def merge_patch(document: Json, patch: Json) -> Json:
    """The document with the patch's values; a null removes."""
    raise NotImplementedError
