"""JSON patch (RFC 6902) as the API server does it.

What surprised us in the real one:

- Whatever cannot be done, a failed `test` too, is answered with one and the same sentence.
- `replace` of a member that is not there adds it; an operation without `value` writes null.
- `test` takes a missing member for null. It compares the texts of numbers: 1 is not 1.0.
- Array indexes may be negative (-1 is the last; for `add` the place after the last) and may have a
  sign and leading zeroes; `-` is only for `add`, `copy` and `move` into a place.
- What stands before the first `/` of a path is ignored.
- `copy` of a missing member writes null; `move` of one fails.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.values import identical, json_kind

Json = Any
Container = dict[str, Json] | list[Json]

MOST_OPERATIONS: Final = 10_000
MOST_COPIED_BYTES: Final = 3 * 1024 * 1024
_INDEX = re.compile(r"[+-]?[0-9]+")


def json_patch(document: Json, ops: Json) -> Json:
    """The document after all operations.

    PatchError: 400 for something that is no patch, 413 for too many operations, 422 for an
    operation that cannot be done.
    """
    operations = _operations(ops)
    patch = _Patch(document)
    for operation in operations:
        patch.perform(operation)
    return patch.document


def _operations(ops: Json) -> list[dict[str, Json]]:
    whole = "Go value of type []handlers.jsonPatchOp"
    if ops is None:
        return []
    if not isinstance(ops, list):
        raise _malformed(f"json: cannot unmarshal {json_kind(ops)} into {whole}")
    for each in ops:
        _check_shape(each)
    if len(ops) > MOST_OPERATIONS:
        raise PatchError(
            f"Request entity too large: The allowed maximum operations in a JSON patch is"
            f" {MOST_OPERATIONS}, got {len(ops)}",
            413,
        )
    return [each or {} for each in ops]


def _check_shape(operation: Json) -> None:
    if operation is None:
        return
    if not isinstance(operation, dict):
        kind = json_kind(operation)
        raise _malformed(
            f"json: cannot unmarshal {kind} into Go value of type handlers.jsonPatchOp"
        )
    for name in ("op", "path", "from"):
        value = operation.get(name)
        if value is not None and not isinstance(value, str):
            raise _malformed(
                f"json: cannot unmarshal {json_kind(value)} into Go struct field"
                f" jsonPatchOp.{name} of type string"
            )


def _malformed(why: str) -> PatchError:
    return PatchError(f"error decoding patch: {why}", 400)


def _refused(detail: str) -> PatchError:
    return PatchError(
        "the server rejected our request due to an error in our request", 422, detail=detail
    )


class _Patch:
    """A document on its way through the operations; containers are copied before they change."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self._own: set[int] = set()
        self._kept: list[Container] = []  # keeps the ids in _own from being given again
        self._copied_bytes = 0

    def perform(self, operation: dict[str, Json]) -> None:
        kinds: dict[Json, Callable[[dict[str, Json]], None]] = {
            "add": self._add,
            "remove": self._remove,
            "replace": self._replace,
            "move": self._move,
            "copy": self._copy,
            "test": self._test,
        }
        kind = operation.get("op")
        if kind not in kinds:
            raise _refused(f"Unexpected kind: {kind or 'unknown'}")
        kinds[kind](operation)

    # Operations

    def _add(self, operation: dict[str, Json]) -> None:
        self._put(_text(operation, "path"), operation.get("value"))

    def _remove(self, operation: dict[str, Json]) -> None:
        container, key = self._find(_text(operation, "path"), change=True)
        _take(container, key)

    def _replace(self, operation: dict[str, Json]) -> None:
        path, value = _text(operation, "path"), operation.get("value")
        if path == "":
            if not isinstance(value, (dict, list)):
                raise _refused("replace operation value must be object or array")
            self.document = value
            return
        container, key = self._find(path, change=True)
        if isinstance(container, list):
            container[_existing(container, key)] = value
        else:
            container[key] = value

    def _move(self, operation: dict[str, Json]) -> None:
        container, key = self._find(_text(operation, "from"), change=True)
        value = _take(container, key)
        self._put(_text(operation, "path"), value)

    def _copy(self, operation: dict[str, Json]) -> None:
        container, key = self._find(_text(operation, "from"), change=False)
        text = json.dumps(_at(container, key), separators=(",", ":"), ensure_ascii=False)
        self._copied_bytes += len(text.encode())
        path = _text(operation, "path")
        if self._copied_bytes > MOST_COPIED_BYTES:
            raise _refused(
                "Unable to complete the copy, the accumulated size increase of copy is"
                f" {self._copied_bytes}, exceeding the limit {MOST_COPIED_BYTES}"
            )
        self._put(path, json.loads(text))

    def _test(self, operation: dict[str, Json]) -> None:
        path = _text(operation, "path")
        if path == "":
            found = self.document
        else:
            container, key = self._find(path, change=False)
            found = _at(container, key)
        if not identical(found, operation.get("value")):
            raise _refused(f"testing value {path} failed: test failed")

    # Places

    def _put(self, path: str, value: Json) -> None:
        container, key = self._find(path, change=True)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_place(container, key), value)

    def _find(self, path: str, *, change: bool) -> tuple[Container, str]:
        """The container that a path's last part is in, ready to be changed."""
        _, *parts = path.split("/")
        if not parts or not isinstance(self.document, (dict, list)):
            raise _refused(f'doc is missing path: "{path}": missing value')
        here: Container = self.document
        if change:
            here = self.document = self._owned(here)
        for part in map(_unescaped, parts[:-1]):
            try:
                inner = _at(here, part)
            except PatchError:
                inner = None
            if not isinstance(inner, (dict, list)):
                raise _refused(f'doc is missing path: "{path}": missing value')
            if change:
                inner = self._owned(inner)
                _set(here, part, inner)
            here = inner
        return here, _unescaped(parts[-1])

    def _owned(self, container: Container) -> Container:
        if id(container) in self._own:
            return container
        copy = container.copy()
        self._own.add(id(copy))
        self._kept.append(copy)
        return copy


def _text(operation: dict[str, Json], name: str) -> str:
    value = operation.get(name)
    if value is None:
        raise _refused(f"operation missing {name} field: missing value")
    return str(value)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~") if "~" in part else part


def _index(key: str) -> int:
    if not _INDEX.fullmatch(key):
        raise _refused(f"value was not a proper array index: '{key}'")
    return int(key)


def _existing(container: list[Json], key: str) -> int:
    index = _index(key)
    if not -len(container) <= index < len(container):
        raise _refused(f"Unable to access invalid index: {index}: invalid index referenced")
    return index


def _place(container: list[Json], key: str) -> int:
    index, length = _index(key), len(container) + 1
    if not -length <= index < length:
        raise _refused(f"Unable to access invalid index: {index}: invalid index referenced")
    return index + length if index < 0 else index


def _at(container: Container, key: str) -> Json:
    if isinstance(container, list):
        return container[_existing(container, key)]
    return container.get(key)


def _set(container: Container, key: str, value: Json) -> None:
    if isinstance(container, list):
        container[_existing(container, key)] = value
    else:
        container[key] = value


def _take(container: Container, key: str) -> Json:
    if isinstance(container, list):
        return container.pop(_existing(container, key))
    if key not in container:
        raise _refused(f"Unable to remove nonexistent key: {key}: missing value")
    return container.pop(key)
