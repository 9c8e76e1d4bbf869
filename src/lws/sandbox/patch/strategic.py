"""Strategic merge patch as the API server does it."""

from typing import Any

from lws.sandbox.schema import Schema

JsonObject = dict[str, Any]


def strategic_merge_patch(document: JsonObject, patch: JsonObject, schema: Schema) -> JsonObject:
    """The document with the patch's values, lists merged by the schema's merge keys."""
    raise NotImplementedError
