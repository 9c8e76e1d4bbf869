"""Random patches of an object: what leads from it to another, in each language of patches."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

Json = dict[str, Any]


def blended(rng: Random, live: Any, wanted: Any) -> Any:
    """The live value with parts of the wanted one, some members removed."""
    if not isinstance(live, dict) or not isinstance(wanted, dict):
        return copy.deepcopy(wanted)
    result = copy.deepcopy(live)
    for name, value in wanted.items():
        if rng.random() < 0.8:
            result[name] = blended(rng, live.get(name), value)
    for name in list(result):
        if name not in wanted and name in _OPTIONAL and rng.random() < 0.15:
            del result[name]
    return result


_OPTIONAL = frozenset(
    {
        *("labels", "annotations", "finalizers", "env", "ports", "tolerations", "data", "volumes"),
        *("text", "number", "map", "set", "items", "free", "nested", "deepMap", "livenessProbe"),
    }
)


def merge_change(rng: Random, wanted: Any) -> Any:
    """A merge patch: the wanted object with some nulls."""
    if not isinstance(wanted, dict):
        return wanted
    result = {name: merge_change(rng, value) for name, value in wanted.items()}
    for name in sorted(_OPTIONAL & {*wanted, *rng.sample(sorted(_OPTIONAL), 2)}):
        if rng.random() < 0.1 and name in wanted:
            result[name] = None
    return result


def operations(rng: Random, live: Json, wanted: Json) -> list[Json]:
    """A JSON patch: additions along the wanted object, removals, tests, copies and moves."""
    result: list[Json] = []
    _additions(rng, live, wanted, "", result)
    for _ in range(rng.randint(0, 2)):
        result.insert(rng.randint(0, len(result)), _stray(rng, live))
    return result


def _additions(rng: Random, live: Any, wanted: Json, path: str, into: list[Json]) -> None:
    for name, value in wanted.items():
        here = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        known = live.get(name) if isinstance(live, dict) else None
        if isinstance(value, dict) and isinstance(known, dict) and rng.random() < 0.8:
            _additions(rng, known, value, here, into)
        elif isinstance(value, list) and isinstance(known, list) and value and rng.random() < 0.5:
            index = rng.choice(["-", "0", "-1", str(len(known)), str(len(known) + 1)])
            into.append({"op": "add", "path": f"{here}/{index}", "value": value[0]})
        else:
            into.append({"op": rng.choice(["add", "replace"]), "path": here, "value": value})


def _stray(rng: Random, live: Json) -> Json:
    path, value = _somewhere(rng, live)
    other, _ = _somewhere(rng, live)
    return rng.choice(
        [
            {"op": "test", "path": path, "value": value},
            {"op": "test", "path": "/spec/none", "value": None},
            {"op": "remove", "path": path},
            {"op": "remove", "path": "/metadata/none"},
            {"op": "copy", "from": path, "path": "/metadata/annotations/copied"},
            {"op": "move", "from": path, "path": other},
            {"op": "replace", "path": path, "value": value},
            {"op": "test", "path": path, "value": {"no": "match"}},
        ]
    )


def _somewhere(rng: Random, live: Any) -> tuple[str, Any]:
    path = "/metadata"
    here = live["metadata"]
    while isinstance(here, (dict, list)) and here and rng.random() < 0.8:
        if isinstance(here, dict):
            name = rng.choice(sorted(here))
            if name in ("managedFields", "uid", "resourceVersion"):
                break
            path, here = f"{path}/{name.replace('~', '~0').replace('/', '~1')}", here[name]
        else:
            index = rng.randrange(len(here))
            path, here = f"{path}/{index}", here[index]
    return path, here


def strategic_change(rng: Random, wanted: Any, keys: dict[str, str], name: str = "") -> Any:
    """A strategic merge patch: the wanted object with directives. `keys`: merge keys of lists."""
    if isinstance(wanted, list):
        return [strategic_change(rng, each, keys) for each in wanted]
    if not isinstance(wanted, dict):
        return wanted
    result: Json = {}
    for member, value in wanted.items():
        result[member] = strategic_change(rng, value, keys, member)
        if isinstance(value, list):
            _add_list_directives(rng, result, member, keys)
        elif rng.random() < 0.05:
            result[member] = None
    if name in ("labels", "securityContext", "updateStrategy", "resources", "emptyDir"):
        if rng.random() < 0.15:
            result["$patch"] = "replace"
        elif rng.random() < 0.1 and name == "updateStrategy":
            result["$retainKeys"] = sorted(wanted)
    return result


def _add_list_directives(rng: Random, result: Json, name: str, keys: dict[str, str]) -> None:
    items = result[name]
    key = keys.get(name)
    if name == "finalizers":
        _add_directives_of_texts(rng, result, items)
    elif key is not None and all(isinstance(each, dict) and key in each for each in items):
        if rng.random() < 0.4:
            names = list(dict.fromkeys(each[key] for each in items))
            if rng.random() < 0.3:
                rng.shuffle(names)
            result[f"$setElementOrder/{name}"] = [{key: each} for each in names]
        if items:
            _add_special_item(rng, items, key)


def _add_directives_of_texts(rng: Random, result: Json, items: list[str]) -> None:
    if rng.random() < 0.4:
        gone = rng.choice(["example.com/a", "example.com/b", "example.com/c"])
        if gone not in items:  # else the real server does one or the other first, by chance
            result["$deleteFromPrimitiveList/finalizers"] = [gone]
    if rng.random() < 0.4:
        result["$setElementOrder/finalizers"] = sorted({*items, "example.com/a"})


def _add_special_item(rng: Random, items: list[Json], key: str) -> None:
    chance = rng.random()
    if chance < 0.25:
        items[0] = {"$patch": "delete", key: items[0][key]}
    elif chance < 0.35:
        items.insert(0, {"$patch": "replace"})
    elif chance < 0.38:
        items[0] = {"$patch": "merge", key: items[0][key]}
    elif chance < 0.41:
        items[0].pop(key)
