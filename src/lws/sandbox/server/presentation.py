"""How an answer looks: JSON or YAML; whole objects, their metadata alone, or a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import yaml

from lws.client.responses import Response
from lws.sandbox.server import status
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.tables import Rows, table_rows
from lws.sandbox.server.verbs import EventType, Listing, WatchEvent

JsonObject = dict[str, Any]

JSON, YAML = "application/json", "application/yaml"
_ALL_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_STREAM_TYPES = (
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
)
_META_GROUP = "meta.k8s.io"
_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the client takes, as far as we can give it."""

    media: str = JSON
    form: str = ""
    """Table, PartialObjectMetadata, PartialObjectMetadataList; empty: the objects themselves."""


def accepted_of(accept: str) -> Accepted:
    """The first choice that we have; 406 if there is none."""
    has_unknown_form = False
    for choice in accept.split(",") if accept.strip() else ["*/*"]:
        media, *rest = (piece.strip() for piece in choice.split(";"))
        parameters = dict(piece.partition("=")[::2] for piece in rest)
        if media in ("*/*", "application/*"):
            media = JSON
        if media not in (JSON, YAML):
            continue
        form = parameters.get("as", "")
        is_known = form in _FORMS and parameters.get("g") == _META_GROUP
        if form and not (is_known and parameters.get("v") in ("v1", "v1beta1")):
            has_unknown_form = True
            continue
        return Accepted(media, form)
    if has_unknown_form:
        raise status.not_acceptable(_ALL_TYPES)
    raise ApiStatus(
        "406: Not Acceptable\n\nAvailable representations: "
        + ", ".join(_ALL_TYPES + _STREAM_TYPES),
        code=406,
        reason="NotAcceptable",
        subject=status.Subject(),
    )


def json_response(
    value: object,
    *,
    code: int = 200,
    media: str = JSON,
    warnings: Sequence[str] = (),
    is_pretty: bool = False,
) -> Response:
    """Any JSON as an answer."""
    if media == YAML:
        body = yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=True).encode()
    else:
        indent = orjson.OPT_INDENT_2 if is_pretty else 0
        body = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE | indent)
    headers = {"content-type": media, "cache-control": "no-cache, private"}
    if warnings:
        headers["warning"] = ", ".join(f'299 - "{_escaped(text)}"' for text in warnings)
    return Response(code, headers, body)


def _escaped(text: str) -> str:
    flat = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(one if one.isprintable() else " " for one in flat)


def refusal_response(refusal: ApiStatus, *, warnings: Sequence[str] = ()) -> Response:
    """A refusal as an answer."""
    response = json_response(refusal.to_json(), code=refusal.code, warnings=warnings)
    if not refusal.retry_after:
        return response
    headers = {**response.headers, "retry-after": str(refusal.retry_after)}
    return Response(response.status, headers, response.body)


def object_as(kind: Kind, obj: JsonObject, form: str, *, include: str, now: float) -> JsonObject:
    """One object in the form that the client takes."""
    if form == "PartialObjectMetadata":
        return partial_metadata(obj)
    if form == "Table":
        rows = table_rows(kind, [obj], now=now)
        metadata = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return _table(kind, rows, [obj], metadata, include=include)
    if form:
        raise ApiStatus(
            f"you requested {form}, but the requested object is not a list"
            f" (*{_go_package(kind)}.{kind.resource.kind})",
            code=406,
            reason="NotAcceptable",
        )
    return obj


def list_as(kind: Kind, listing: Listing, form: str, *, include: str, now: float) -> JsonObject:
    """A list in the form that the client takes."""
    metadata = _list_metadata(listing)
    if form == "Table":
        rows = table_rows(kind, listing.items, now=now)
        return _table(kind, rows, listing.items, metadata, include=include)
    if form == "PartialObjectMetadataList":
        return {
            "kind": form,
            "apiVersion": f"{_META_GROUP}/v1",
            "metadata": metadata,
            "items": [partial_metadata(obj) for obj in listing.items],
        }
    if form:
        raise ApiStatus(
            f"you requested {form}, but the requested object is a list"
            f" (*{_go_package(kind)}.{kind.list_kind})",
            code=406,
            reason="NotAcceptable",
        )
    return {
        "kind": kind.list_kind,
        "apiVersion": kind.resource.api_version,
        "metadata": metadata,
        "items": list(_items(kind, listing.items)),
    }


def _go_package(kind: Kind) -> str:
    return kind.resource.group.partition(".")[0] or "core"


def _items(kind: Kind, items: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """In lists of built-in kinds, an item does not say what it is."""
    if kind.is_custom:
        yield from items
        return
    for obj in items:
        yield {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}


def _list_metadata(listing: Listing) -> JsonObject:
    metadata: JsonObject = {"resourceVersion": listing.resource_version}
    if listing.continue_token:
        metadata["continue"] = listing.continue_token
    if listing.remaining:
        metadata["remainingItemCount"] = listing.remaining
    return metadata


def partial_metadata(obj: JsonObject) -> JsonObject:
    """The metadata alone."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"{_META_GROUP}/v1",
        "metadata": obj["metadata"],
    }


_INCLUDED: Mapping[str, Callable[[JsonObject], JsonObject | None]] = {
    "None": lambda _: None,
    "Object": lambda obj: obj,
    "Metadata": partial_metadata,
    "": partial_metadata,
}


def _table(
    kind: Kind,
    rows: Rows,
    objects: Sequence[JsonObject],
    metadata: JsonObject,
    *,
    include: str,
    has_columns: bool = True,
) -> JsonObject:
    included = _INCLUDED.get(include)
    if included is None:
        raise status.bad_request(f"unrecognized includeObject value: {include!r}")
    del kind
    columns = [
        {
            "name": one.name,
            "type": one.type,
            "format": one.format,
            "description": one.description,
            "priority": one.priority,
        }
        for one in rows.columns
    ]
    return {
        "kind": "Table",
        "apiVersion": f"{_META_GROUP}/v1",
        "metadata": metadata,
        "columnDefinitions": columns if has_columns else None,
        "rows": [
            {"cells": cells, "object": included(obj)}
            for cells, obj in zip(rows.cells, objects, strict=True)
        ],
    }


class EventWriter:
    """A watch's events as lines, in the form that the client takes."""

    def __init__(self, kind: Kind, form: str, *, include: str, now: Callable[[], float]) -> None:
        self._kind = kind
        self._form = form
        self._include = include
        self._now = now
        self._has_columns = True

    def line(self, event: WatchEvent) -> bytes:
        """One event."""
        obj = event.object
        if self._form and event.type is not EventType.ERROR:
            obj = self._formed(event)
        return orjson.dumps(
            {"type": event.type.value, "object": obj}, option=orjson.OPT_APPEND_NEWLINE
        )

    def _formed(self, event: WatchEvent) -> JsonObject:
        obj = event.object
        if self._form != "Table":
            return partial_metadata(obj)
        metadata = obj["metadata"]
        shown = {"resourceVersion": metadata["resourceVersion"]}
        if event.type is EventType.BOOKMARK:
            return _table(self._kind, Rows((), ()), (), shown, include="", has_columns=False)
        rows = table_rows(self._kind, [obj], now=self._now())
        has_columns, self._has_columns = self._has_columns, False
        return _table(
            self._kind, rows, [obj], shown, include=self._include, has_columns=has_columns
        )
