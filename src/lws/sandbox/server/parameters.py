"""What a query asks for, and what is said about a query that makes no sense."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.client.requests import PatchType, Propagation
from lws.sandbox.server import names, status
from lws.sandbox.server.status import ApiStatus, Cause
from lws.sandbox.server.verbs import DeleteOptions, ListOptions, WatchOptions

JsonObject = dict[str, Any]

_MANAGER_BYTES_MAX = 128
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("", "0", "f", "F", "false", "FALSE", "False"))
_PROPAGATIONS = {one.value: one for one in Propagation}


class Parameters:
    """A query, by name; the first value counts."""

    def __init__(self, query: Sequence[tuple[str, str]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in query:
            self._values.setdefault(name, value)
        self._all = query

    def text(self, name: str) -> str:
        """As it is; empty if it is not there."""
        return self._values.get(name, "")

    def all(self, name: str) -> list[str]:
        """Every value of a name."""
        return [value for each, value in self._all if each == name]

    def number(self, name: str) -> int | None:
        """A whole number; 400 if it is none."""
        if name not in self._values:
            return None
        text = self._values[name]
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdecimal()):
            raise status.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
        if not -(2**63) <= int(text) < 2**63:
            raise status.bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
        return int(text)

    def flag(self, name: str) -> bool:
        """Is it there, and not false?"""
        return name in self._values and self._values[name] not in _FALSE - {""}

    def choice(self, name: str) -> bool | None:
        """Yes, no, or nothing said."""
        return self.flag(name) if name in self._values else None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Of create, update and patch."""

    field_manager: str
    dry_run: bool
    field_validation: str
    force: bool | None


def list_options(query: Parameters) -> ListOptions:
    """Of a list; 422 for what does not go together."""
    causes = _list_causes(query)
    if causes:
        raise _invalid("ListOptions", causes)
    query.number("timeoutSeconds")
    return ListOptions(
        label_selector=query.text("labelSelector"),
        field_selector=query.text("fieldSelector"),
        limit=query.number("limit") or 0,
        continue_token=query.text("continue"),
        resource_version=query.text("resourceVersion"),
        resource_version_match=query.text("resourceVersionMatch"),
    )


def _list_causes(query: Parameters) -> list[Cause]:
    if query.choice("sendInitialEvents") is not None:
        return [_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")]
    match, version = query.text("resourceVersionMatch"), query.text("resourceVersion")
    if not match:
        return []
    field, causes = "resourceVersionMatch", []
    if not version:
        causes.append(_forbidden(field, f"{field} is forbidden unless resourceVersion is provided"))
    if query.text("continue"):
        causes.append(_forbidden(field, f"{field} is forbidden when continue is provided"))
    if match not in ("Exact", "NotOlderThan"):
        causes.append(_unsupported(field, match, ("Exact", "NotOlderThan", "")))
    if match == "Exact" and version == "0":
        causes.append(_forbidden(field, f'{field} "exact" is forbidden for resourceVersion "0"'))
    return causes


def watch_options(query: Parameters) -> WatchOptions:
    """Of a watch; 422 for what does not go together."""
    causes = _watch_causes(query)
    if causes:
        raise _invalid("ListOptions", causes)
    query.number("limit")
    version = query.text("resourceVersion")
    if version and not (version.isascii() and version.isdecimal()):
        raise ApiStatus(
            f'resourceVersion: Invalid value: "{version}": strconv.ParseUint: parsing'
            f' "{version}": invalid syntax',
            code=500,
        )
    return WatchOptions(
        label_selector=query.text("labelSelector"),
        field_selector=query.text("fieldSelector"),
        resource_version=version,
        resource_version_match=query.text("resourceVersionMatch"),
        allow_bookmarks=query.flag("allowWatchBookmarks"),
        send_initial_events=query.choice("sendInitialEvents"),
        timeout_seconds=query.number("timeoutSeconds") or None,
    )


def _watch_causes(query: Parameters) -> list[Cause]:
    match, causes = query.text("resourceVersionMatch"), []
    field = "resourceVersionMatch"
    if query.choice("sendInitialEvents") is None:
        if match:
            causes.append(
                _forbidden(
                    field, f"{field} is forbidden for watch unless sendInitialEvents is provided"
                )
            )
    elif not match:
        causes.append(
            _forbidden(field, f"sendInitialEvents requires setting {field} to NotOlderThan")
        )
    if match and match != "NotOlderThan":
        causes.append(_unsupported(field, match, ("NotOlderThan",)))
    return causes


def write_options(
    query: Parameters, kind: str, *, patch_type: PatchType | None = None
) -> WriteOptions:
    """Of a write; `kind` is CreateOptions and so on, for the refusal."""
    manager, validation = query.text("fieldManager"), query.text("fieldValidation")
    force = query.choice("force")
    causes: list[Cause] = []
    if patch_type is PatchType.APPLY and not manager:
        required = "Required value: is required for apply patch"
        causes.append(Cause("FieldValueRequired", required, "fieldManager"))
    elif patch_type not in (None, PatchType.APPLY) and force is not None:
        causes.append(_forbidden("force", "may not be specified for non-apply patch"))
    causes += [*_manager_causes(manager), *_dry_causes(query.all("dryRun"))]
    if validation not in _VALIDATIONS:
        causes.append(_unsupported("fieldValidation", validation, _VALIDATIONS))
    if causes:
        raise _invalid(kind, causes)
    return WriteOptions(manager, bool(query.all("dryRun")), validation or "Warn", force)


def _manager_causes(manager: str) -> list[Cause]:
    if len(manager.encode()) > _MANAGER_BYTES_MAX:
        message = f"Too long: may not be more than {_MANAGER_BYTES_MAX} bytes"
        return [Cause("FieldValueTooLong", message, "fieldManager")]
    for place, character in enumerate(manager):
        if not character.isprintable():
            found = f"invalid character U+{ord(character):04X} (at position {place})"
            problem = f"Invalid value: {names.shown(manager)}: {found}"
            return [Cause("FieldValueInvalid", problem, "fieldManager")]
    return []


def _dry_causes(values: Sequence[str]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    listed = ",".join(names.shown(value) for value in values)
    message = f'Unsupported value: [{listed}]: supported values: "All"'
    return [Cause("FieldValueNotSupported", message, "dryRun")]


def delete_options(query: Parameters, body: Mapping[str, Any] | None) -> tuple[DeleteOptions, bool]:
    """Of a delete, from the body or, without one, the query; and whether it is a dry run."""
    given = dict(body) if body else _options_of_query(query)
    propagation = given.get("propagationPolicy")
    orphan = given.get("orphanDependents")
    causes = list(_propagation_causes(propagation, orphan))
    dry = given.get("dryRun") or []
    causes += _dry_causes([str(one) for one in dry])
    if causes:
        raise _invalid("DeleteOptions", causes)
    if orphan is not None:
        propagation = "Orphan" if orphan else "Background"
    preconditions = given.get("preconditions") or {}
    options = DeleteOptions(
        grace_period_seconds=given.get("gracePeriodSeconds"),
        propagation=_PROPAGATIONS.get(propagation or ""),
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
    )
    return options, bool(dry)


_OPTION_TYPES: Mapping[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "orphanDependents": (bool, "bool"),
    "preconditions": (dict, "v1.Preconditions"),
    "dryRun": (list, "[]string"),
}


def require_option_types(body: Mapping[str, Any]) -> None:
    """400 for DeleteOptions with a wrong type."""
    fields = [(name, body.get(name), *kind) for name, kind in _OPTION_TYPES.items()]
    preconditions = body.get("preconditions")
    if isinstance(preconditions, dict):
        fields += [
            (f"preconditions.{name}", preconditions.get(name), str, "string")
            for name in ("uid", "resourceVersion")
        ]
    for name, value, expected, shown in fields:
        is_bool = isinstance(value, bool) and expected is not bool
        if value is not None and (is_bool or not isinstance(value, expected)):
            raise status.bad_request(
                f"json: cannot unmarshal {_go_type(value)} into Go struct field"
                f" DeleteOptions.{name} of type {shown}"
            )


def _go_type(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def _options_of_query(query: Parameters) -> JsonObject:
    options: JsonObject = {}
    grace = query.number("gracePeriodSeconds")
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if query.text("propagationPolicy"):
        options["propagationPolicy"] = query.text("propagationPolicy")
    if query.choice("orphanDependents") is not None:
        options["orphanDependents"] = query.flag("orphanDependents")
    if query.all("dryRun"):
        options["dryRun"] = query.all("dryRun")
    return options


def _propagation_causes(propagation: Any, orphan: Any) -> list[Cause]:
    field = "propagationPolicy"
    if propagation is not None and orphan is not None:
        message = (
            f"Invalid value: {names.shown(propagation)}: orphanDependents and deletionPropagation"
            " cannot be both set"
        )
        return [Cause("FieldValueInvalid", message, field)]
    if propagation is not None and propagation not in _PROPAGATIONS:
        supported = ("Foreground", "Background", "Orphan", "nil")
        return [_unsupported(field, propagation, supported)]
    return []


def _forbidden(field: str, why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def _unsupported(field: str, value: str, supported: Sequence[str]) -> Cause:
    listed = ", ".join(names.shown(one) for one in supported)
    message = f"Unsupported value: {names.shown(value)}: supported values: {listed}"
    return Cause("FieldValueNotSupported", message, field)


def _invalid(kind: str, causes: Sequence[Cause]) -> ApiStatus:
    return status.invalid(status.Subject("meta.k8s.io", kind), causes)
