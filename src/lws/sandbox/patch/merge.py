"""Merge patch (RFC 7396) as the API server does it.

What surprised us in the real one: a list that takes the place of nothing, of a scalar or of a list
loses the null members of its objects; one that takes the place of an object keeps them.
"""

from typing import Any

from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.values import json_kind

Json = Any


def merge_patch(document: Json, patch: Json) -> Json:
    """The document with the patch's values; a null removes. PatchError (400) if it is no object."""
    if patch is None:
        raise PatchError("Invalid JSON Patch", 400)
    if not isinstance(patch, dict):
        raise PatchError(
            f"error decoding patch: json: cannot unmarshal {json_kind(patch)} into Go value of"
            " type map[string]interface {}",
            400,
        )
    return _merged(document, patch)


def _merged(document: Json, patch: Json) -> Json:
    if not isinstance(document, dict):
        return _without_nulls(patch)
    if not isinstance(patch, dict):
        return patch
    result = dict(document)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif result.get(name) is None:
            result[name] = _without_nulls(value)
        else:
            result[name] = _merged(result[name], value)
    return result


def _without_nulls(value: Json) -> Json:
    """Members that are null go, also of objects in lists; null items of a list stay."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value
