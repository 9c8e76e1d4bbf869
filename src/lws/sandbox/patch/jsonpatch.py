"""JSON patch (RFC 6902) as the API server does it."""

from typing import Any

Json = Any


def json_patch(document: Json, ops: Json) -> Json:
    """The document after all operations; PatchError if one cannot be done."""
    raise NotImplementedError
