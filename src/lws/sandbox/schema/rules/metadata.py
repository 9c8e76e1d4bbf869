"""Metadata of objects inside objects: templates of pods and of claims."""

from collections.abc import Iterator, Mapping
from typing import Any

from lws.sandbox.schema.errors import FieldError, invalid, too_long
from lws.sandbox.schema.naming import label_value, path_segment, qualified_name

ANNOTATIONS_BYTES_MAX = 256 << 10


def metadata_errors(meta: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    """What is wrong with it; it needs no name."""
    for name in ("name", "generateName"):
        for fault in path_segment(meta.get(name) or ""):
            yield invalid(f"{path}.{name}", meta[name], fault)
    yield from label_errors(meta.get("labels"), f"{path}.labels")
    yield from annotation_errors(meta.get("annotations"), f"{path}.annotations")


def label_errors(labels: Mapping[str, str] | None, path: str) -> Iterator[FieldError]:
    """Keys and values."""
    for key, value in sorted((labels or {}).items()):
        for fault in qualified_name(key):
            yield invalid(path, key, fault)
        for fault in label_value(value):
            yield invalid(path, value, fault)


def annotation_errors(annotations: Mapping[str, str] | None, path: str) -> Iterator[FieldError]:
    """Keys, and the size of all together."""
    total = 0
    for key, value in sorted((annotations or {}).items()):
        total += len(key.encode()) + len(value.encode())
        for fault in qualified_name(key.lower()):
            yield invalid(path, key, fault)
    if total > ANNOTATIONS_BYTES_MAX:
        yield too_long(path, ANNOTATIONS_BYTES_MAX)
