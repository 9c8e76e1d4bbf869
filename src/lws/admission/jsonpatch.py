"""JSON Patch (RFC 6902): the change from one document to another, no larger than it is."""

from typing import Any

Operation = dict[str, Any]
Patch = list[Operation]


def diff(old: object, new: object) -> Patch:
    """Operations that make `new` of `old`. Parts that both share are not even looked into."""
    patch: Patch = []
    _diff(old, new, path="", patch=patch)
    return patch


def apply(patch: Patch, document: object) -> object:
    """The document after the operations `add`, `remove` and `replace`; it is itself unchanged.

    ValueError for another operation or a path that leads nowhere.
    """
    for operation in patch:
        document = _applied(operation, document)
    return document


def is_same(old: object, new: object) -> bool:
    """Equality of JSON, where `1`, `1.0` and `true` are three things."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(is_same(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(is_same, old, new))
    return old == new


def _diff(old: object, new: object, *, path: str, patch: Patch) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        _diff_objects(old, new, path=path, patch=patch)
    elif isinstance(old, list) and isinstance(new, list):
        _diff_lists(old, new, path=path, patch=patch)
    elif not is_same(old, new):
        patch.append({"op": "replace", "path": path, "value": new})


def _diff_objects(old: dict[str, Any], new: dict[str, Any], *, path: str, patch: Patch) -> None:
    for key in old:
        if key not in new:
            patch.append({"op": "remove", "path": f"{path}/{_escaped(key)}"})
    for key, value in new.items():
        if key not in old:
            patch.append({"op": "add", "path": f"{path}/{_escaped(key)}", "value": value})
        elif old[key] is not value:
            _diff(old[key], value, path=f"{path}/{_escaped(key)}", patch=patch)


def _diff_lists(old: list[Any], new: list[Any], *, path: str, patch: Patch) -> None:
    """What the lists have in common at both ends stays; between, items are taken in pairs, and
    what is left over is put in or taken out."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and is_same(old[start], new[start]):
        start += 1
    end = 0
    while end < shorter - start and is_same(old[-1 - end], new[-1 - end]):
        end += 1
    pairs = shorter - end
    for index in range(start, pairs):
        _diff(old[index], new[index], path=f"{path}/{index}", patch=patch)
    for index in range(pairs, len(new) - end):
        patch.append({"op": "add", "path": f"{path}/{index}", "value": new[index]})
    for index in reversed(range(pairs, len(old) - end)):
        patch.append({"op": "remove", "path": f"{path}/{index}"})


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _applied(operation: Operation, document: object) -> object:
    kind, path = operation["op"], operation["path"]
    if kind not in ("add", "remove", "replace"):
        raise ValueError(f"unknown operation: {kind!r}")
    if path == "":
        return operation.get("value")
    if not path.startswith("/"):
        raise ValueError(f"not a JSON pointer: {path!r}")
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]
    return _changed(document, steps, operation=operation)


def _changed(node: object, steps: list[str], *, operation: Operation) -> object:
    """A copy of `node` along the path, everything beside it shared."""
    if isinstance(node, dict):
        return _changed_object(node, steps, operation=operation)
    if isinstance(node, list):
        return _changed_list(node, steps, operation=operation)
    raise ValueError(f"path leads into a scalar: {operation['path']!r}")


def _changed_object(
    node: dict[str, Any], steps: list[str], *, operation: Operation
) -> dict[str, Any]:
    step, *rest = steps
    if step not in node and (rest or operation["op"] != "add"):
        raise ValueError(f"no such field: {operation['path']!r}")
    copy = dict(node)
    if rest:
        copy[step] = _changed(node[step], rest, operation=operation)
    elif operation["op"] == "remove":
        del copy[step]
    else:
        copy[step] = operation["value"]
    return copy


def _changed_list(node: list[Any], steps: list[str], *, operation: Operation) -> list[Any]:
    step, *rest = steps
    is_insert = operation["op"] == "add" and not rest
    last = len(node) if is_insert else len(node) - 1
    index = last if step == "-" and is_insert else _index(step)
    if not 0 <= index <= last:
        raise ValueError(f"no such item: {operation['path']!r}")
    copy = list(node)
    if rest:
        copy[index] = _changed(node[index], rest, operation=operation)
    elif is_insert:
        copy.insert(index, operation["value"])
    elif operation["op"] == "remove":
        del copy[index]
    else:
        copy[index] = operation["value"]
    return copy


def _index(step: str) -> int:
    is_index = step.isascii() and step.isdigit() and (step == "0" or step[0] != "0")
    return int(step) if is_index else -1
