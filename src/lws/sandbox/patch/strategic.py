"""Strategic merge patch as the API server does it.

Lists whose schema says `merge` are merged: of objects by the merge key, of scalars as sets. The
directives: `$patch: replace | delete` in an object or in an item of such a list, `$retainKeys`,
`$deleteFromPrimitiveList/NAME`, `$setElementOrder/NAME`.

What surprised us in the real one:

- `$patch: merge` is refused everywhere, although it is documented.
- New items go in front of what is there, unless another item of the patch comes before them.
- An empty `$setElementOrder` list turns the patch's new items round, the last one first.
- A list of the patch that meets nothing is taken as it is, items with `$patch` left out: duplicates
  stay, and no item needs the merge key.
- `null` for something that is not there is dropped, also deep inside of what is added.
- Most mistakes are answered with 500.
"""

from collections.abc import Sequence
from typing import Any, Final

from lws.sandbox.patch.errors import PatchError
from lws.sandbox.patch.ordering import (
    ORDER,
    PATCH,
    Key,
    check_order,
    identity,
    is_directive,
    merge_key_of,
    ordered,
)
from lws.sandbox.patch.values import json_kind, plain, spelled, type_name
from lws.sandbox.schema import Schema

Json = Any
JsonObject = dict[str, Any]

_RETAIN_KEYS: Final = "$retainKeys"
_DELETE_FROM: Final = "$deleteFromPrimitiveList"
_ANYTHING: Final = Schema()


def strategic_merge_patch(document: JsonObject, patch: Json, schema: Schema) -> JsonObject:
    """The document with the patch's values, lists merged by the schema's merge keys.

    PatchError: 400 for a malformed patch, 422 or 500 for one that does not fit.
    """
    if patch is None:
        patch = {}
    if not isinstance(patch, dict):
        raise PatchError(
            f"json: cannot unmarshal {json_kind(patch)} into Go value of type"
            " map[string]interface {}",
            400,
        )
    return _merged_objects(document, patch, schema)


# Objects


def _merged_objects(original: JsonObject, patch: JsonObject, schema: Schema) -> JsonObject:
    if PATCH in patch:
        return _replaced_object(patch)
    result = _retained(original, patch)
    rest = {name: value for name, value in patch.items() if name != _RETAIN_KEYS}
    _merge_ordered_lists(result, rest, schema)
    for name in sorted(rest):
        _merge_member(result, name, rest[name], schema)
    return result


def _replaced_object(patch: JsonObject) -> JsonObject:
    directive = patch[PATCH]
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != PATCH}
    if directive == "delete":
        return {}
    raise _unknown_directive(directive, patch)


def _unknown_directive(directive: Json, patch: JsonObject) -> PatchError:
    return PatchError(f"unknown patch type: {spelled(directive)} in map: {plain(patch)}", 500)


def _retained(original: JsonObject, patch: JsonObject) -> JsonObject:
    if _RETAIN_KEYS not in patch:
        return dict(original)
    keys = patch[_RETAIN_KEYS]
    if not isinstance(keys, list):
        raise _bad_retain_keys()
    for name, value in patch.items():
        is_directive = name == _RETAIN_KEYS or name.startswith((_DELETE_FROM, ORDER))
        if value is not None and not is_directive and name not in keys:
            raise _bad_retain_keys()
    return {name: value for name, value in original.items() if name in keys}


def _bad_retain_keys() -> PatchError:
    return PatchError("invalid patch format of retainKeys", 400)


def _merge_member(result: JsonObject, name: str, value: Json, schema: Schema) -> None:
    is_deletion = name.startswith(_DELETE_FROM)
    if is_deletion:
        name = _list_name(name, _DELETE_FROM, "invalid patch format of primitive list")
    if value is None:
        result.pop(name, None)
        return
    if name in result and type(result[name]) is type(value):
        inner = _member_schema(schema, name, value)
        if isinstance(value, dict):
            result[name] = _merged_member(result[name], value, inner)
            return
        if isinstance(value, list):
            result[name] = _merged_list(result[name], value, inner, is_deletion=is_deletion)
            return
    elif is_deletion:
        return
    result[name] = _cleaned(value)
    if is_directive(value):
        del result[name]


def _merged_member(original: JsonObject, patch: JsonObject, schema: Schema) -> JsonObject:
    if "replace" in schema.patch_strategies:
        return patch
    return _merged_objects(original, patch, schema)


def _list_name(name: str, prefix: str, complaint: str) -> str:
    found, slash, rest = name.partition("/")
    if not slash or found != prefix:
        raise PatchError(complaint, 400)
    return rest


def _member_schema(schema: Schema, name: str, value: Json) -> Schema:
    inner = schema.properties.get(name) or schema.additional
    if inner is not None:
        return inner
    if schema.properties and isinstance(value, (dict, list)):
        raise PatchError(f'unable to find api field in struct for the json field "{name}"', 500)
    return _ANYTHING


def _cleaned(value: Json) -> Json:
    """What is added: without null members and without whatever has a directive."""
    if isinstance(value, dict):
        return {
            name: _cleaned(each)
            for name, each in value.items()
            if each is not None and not is_directive(each)
        }
    if isinstance(value, list):
        return [_cleaned(each) for each in value if not is_directive(each)]
    return value


# Lists


def _merged_list(
    original: list[Json], patch: list[Json], schema: Schema, *, is_deletion: bool
) -> list[Json]:
    if "merge" not in schema.patch_strategies and not is_deletion:
        return patch
    if not original and not patch:
        return original
    if not isinstance(_item_sample(original, patch), dict):
        return _merged_scalars(original, patch, is_deletion=is_deletion)
    key = schema.patch_merge_key
    if not key:
        raise PatchError("cannot merge lists without merge key for struct", 500)
    kept, additions = _without_special_items(original, patch, key)
    merged = _merged_items(kept, additions, key, schema.items or _ANYTHING)
    return ordered(merged, additions, kept, key)


def _merged_scalars(original: list[Json], patch: list[Json], *, is_deletion: bool) -> list[Json]:
    if is_deletion:
        gone = set(map(identity, patch))
        return [each for each in original if identity(each) not in gone]
    return ordered(_deduplicated([*original, *patch]), patch, original, "")


def _item_sample(*lists: Sequence[Json]) -> Json:
    """Any item; all have to be of one type, and not lists."""
    items = [each for items in lists for each in items]
    if not items:
        raise PatchError("no elements in any of the given slices", 500)
    if isinstance(items[0], list):
        raise PatchError(
            "the server rejected our request due to an error in our request",
            422,
            detail="lists of lists are not supported",
        )
    if any(type(each) is not type(items[0]) for each in items):
        shown = plain(list(lists))
        raise PatchError(f"list element types are not identical: {shown}", 500)
    return items[0]


def _without_special_items(
    original: list[Json], patch: list[Json], key: str
) -> tuple[list[Json], list[Json]]:
    """What stays of the original and what is to be merged into it, after `$patch` in items."""
    plain_items = [each for each in patch if PATCH not in each]
    replaces = False
    for each in patch:
        directive = each.get(PATCH, None)
        if PATCH not in each:
            continue
        if directive == "delete":
            value = merge_key_of(each, key)
            original = [
                old for old in original if key not in old or identity(old[key]) != identity(value)
            ]
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise PatchError("merging lists cannot yet be specified in the patch", 500)
        else:
            raise _unknown_directive(directive, each)
    return (plain_items, []) if replaces else (original, plain_items)


def _merged_items(
    original: list[Json], additions: list[Json], key: str, schema: Schema
) -> list[Json]:
    result = list(original)
    places: dict[Key, int] = {}
    for place, each in enumerate(result):
        if key in each:
            places.setdefault(identity(each[key]), place)
    for each in additions:
        own = identity(merge_key_of(each, key))
        if own in places:
            place = places[own]
            result[place] = _merged_objects(result[place], each, schema)
        else:
            places[own] = len(result)
            result.append(each)
    return result


def _deduplicated(items: list[Json]) -> list[Json]:
    """Each scalar once; the last item moves into the place of each one that goes."""
    result = list(items)
    here = 0
    while here < len(result):
        other = here + 1
        while other < len(result):
            if identity(result[here]) == identity(result[other]):
                result[other] = result[-1]
                result.pop()
            else:
                other += 1
        here += 1
    return result


# Order


def _merge_ordered_lists(result: JsonObject, patch: JsonObject, schema: Schema) -> None:
    """Every list with a `$setElementOrder`; it leaves the patch, its list too."""
    for name in sorted(each for each in patch if each.startswith(ORDER)):
        order = patch.pop(name)
        bad = "invalid patch format of setElementOrder list"
        if not isinstance(order, list):
            raise _bad_type(order)
        field = _list_name(name, ORDER, bad)
        old, change = result.get(field, ...), patch.get(field, ...)
        for given in (old, change):
            if given is not ... and not isinstance(given, list):
                raise _bad_type(given)
        inner = _member_schema(schema, field, order)
        check_order([] if change is ... else change, order, inner.patch_merge_key)
        merged = _merged_for_order(old, change, inner)
        if merged is None:
            continue
        before = [] if old is ... else old
        _item_sample(before, [] if change is ... else change)
        result[field] = ordered(merged, order, before, inner.patch_merge_key)
        patch.pop(field, None)


def _bad_type(value: Json) -> PatchError:
    return PatchError(f"expected a []interface {{}}, but received a {type_name(value)}", 500)


def _merged_for_order(old: Any, change: Any, schema: Schema) -> list[Json] | None:
    if old is ... and change is ...:
        return None
    if change is ...:
        return list(old)
    if old is ...:
        return [_cleaned_directives(each) for each in change if not is_directive(each)]
    return _merged_list(old, change, schema, is_deletion=False)


def _cleaned_directives(value: Json) -> Json:
    """Without whatever has a directive; nulls stay."""
    if isinstance(value, dict):
        return {
            name: _cleaned_directives(each)
            for name, each in value.items()
            if not is_directive(each)
        }
    if isinstance(value, list):
        return [_cleaned_directives(each) for each in value if not is_directive(each)]
    return value
