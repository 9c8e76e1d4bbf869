"""From manifests, or a live set, to the numbers that a preview needs."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lws.admission.validation import validate_disaggregatedset, validate_leaderworkerset
from lws.api import disaggregatedset, leaderworkerset, names
from lws.api.crds_file import stored_definitions
from lws.api.disaggregatedset import DisaggregatedSet, Role
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.errors import InvalidInput
from lws.cli.documents import documents_of
from lws.cli.plan.preview import Preview, of_disaggregatedset, of_leaderworkerset
from lws.cli.problems import reason_of
from lws.planner.disaggregatedset.budgets import resolve_budgets
from lws.planner.disaggregatedset.revisions import OldRevision
from lws.planner.disaggregatedset.rolling import Wanted
from lws.planner.disaggregatedset.targets import static_target
from lws.planner.leaderworkerset.values import budgets_of, partition_of, replicas_of
from lws.sandbox.schema.custom.reading import read_crd_schema
from lws.sandbox.schema.unknown import unknown_fields

Document = Mapping[str, Any]
T = TypeVar("T")
KINDS = {names.KIND: names.API_VERSION, names.DS_KIND: names.DS_API_VERSION}


def read_documents(path: str) -> list[Document]:
    """The LeaderWorkerSets and DisaggregatedSets of a file (`-`: standard input)."""
    documents = documents_of(_text(path), field=path)
    sets: list[Document] = [
        one for one in documents if isinstance(one, dict) and _is_known(one.get("kind"))
    ]
    if not sets:
        message = f"holds no {' and no '.join(KINDS)}"
        raise InvalidInput(field=path, message=message)
    for one in sets:
        if one.get("apiVersion") != KINDS[one["kind"]]:
            raise InvalidInput(field=f"{path}: apiVersion", message=f"must be {KINDS[one['kind']]}")
    return sets


def _text(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(field=path, message=f"cannot be read: {reason_of(error)}") from error


def _is_known(kind: object) -> bool:
    return isinstance(kind, str) and kind in KINDS


def preview_of(new: Document, old: Document | None) -> Preview:
    """The update from `old` (None: the same sizes at another revision) to `new`.

    InvalidInput if a cluster would not take the new one.
    """
    _check_pair(new, old)
    require_valid(new)
    if new["kind"] == names.KIND:
        return _leaderworkerset(_lws(new), None if old is None else _lws(old))
    return _disaggregatedset(_ds(new), None if old is None else _ds(old))


def require_valid(document: Document) -> None:
    """InvalidInput with the first fault that the API server or our webhook would find."""
    (_lws if document["kind"] == names.KIND else _ds)(document)  # types come first
    crd = next(
        one for one in stored_definitions() if one["spec"]["names"]["kind"] == document["kind"]
    )
    schema = read_crd_schema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    for field in unknown_fields(document, schema):
        raise InvalidInput(field=field, message="there is no such field; remove it or fix its name")
    judge = (
        validate_leaderworkerset if document["kind"] == names.KIND else validate_disaggregatedset
    )
    for fault in judge(dict(document)).errors:
        raise InvalidInput(field=fault.path, message=fault.explanation)


def _check_pair(new: Document, old: Document | None) -> None:
    if old is not None and old["kind"] != new["kind"]:
        message = f"is a {old['kind']}, the new one is a {new['kind']}"
        raise InvalidInput(field="--old-file", message=message)


def _leaderworkerset(new: LeaderWorkerSet, old: LeaderWorkerSet | None) -> Preview:
    budgets = budgets_of(new)
    notes = [] if old is None else _scaling_note(replicas_of(old), replicas_of(new))
    return of_leaderworkerset(
        title=f"LeaderWorkerSet {new.metadata.name}: {replicas_of(new)} groups, "
        f"maxSurge {budgets.surge}, maxUnavailable {budgets.unavailable}, "
        f"partition {partition_of(new)}",
        replicas=replicas_of(new),
        budgets=(budgets.surge, budgets.unavailable),
        partition=partition_of(new),
        notes=notes,
    )


def _scaling_note(old: int, new: int) -> list[str]:
    if old == new:
        return []
    return [f"the set is scaled from {old} to {new} first; the steps are those after that"]


def _disaggregatedset(new: DisaggregatedSet, old: DisaggregatedSet | None) -> Preview:
    wanted = {role.name: wanted_of(role) for role in new.spec.roles}
    before = old or new
    replicas = {role.name: target_of(role) for role in before.spec.roles}
    revision = OldRevision(name="old", created=0.0, replicas=replicas)
    notes = [
        f"role {role.name} is External: its scaler's replicas are taken to be {target_of(role)}"
        for role in new.spec.roles
        if role.is_external
    ]
    if new.spec.slices > 1:
        notes.append(f"{new.spec.slices} slices, each rolled like this on its own")
    return of_disaggregatedset(
        title=f"DisaggregatedSet {new.metadata.name}",
        wanted=wanted,
        revisions=[revision],
        notes=notes,
    )


def wanted_of(role: Role, *, new: int = 0) -> Wanted:
    """What an update wants of a role; InvalidInput if its budgets are garbage."""
    strategy = role.spec.rollout_strategy
    rolling = None if strategy is None else strategy.rolling_update_configuration
    target = target_of(role)
    try:
        budgets = resolve_budgets(
            target=target,
            max_surge=None if rolling is None else rolling.max_surge,
            max_unavailable=None if rolling is None else rolling.max_unavailable,
        )
    except ValueError as error:
        raise InvalidInput(field=f"roles[{role.name}] budgets", message=str(error)) from error
    return Wanted(target=target, new=new, budgets=budgets)


def target_of(role: Role) -> int:
    """Replicas that a role's manifest asks for."""
    return static_target(role.spec.replicas)


def _lws(document: Document) -> LeaderWorkerSet:
    return _decoded(document, leaderworkerset.decode)


def _ds(document: Document) -> DisaggregatedSet:
    return _decoded(document, disaggregatedset.decode)


def _decoded(document: Document, decode: Callable[[bytes], T]) -> T:
    try:
        return decode(msgspec.json.encode(document))
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$.")
        field = path.removesuffix("`") or document["kind"]
        raise InvalidInput(field=field, message=what[:1].lower() + what[1:]) from error
