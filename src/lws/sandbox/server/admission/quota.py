"""ResourceQuota: new objects are charged to the quotas of their namespace, or refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.patch import updated
from lws.sandbox.server import status
from lws.sandbox.server.documents import in_order, part
from lws.sandbox.server.intake import resets_of
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import NoAdmission, Operation, World
from lws.sandbox.server.quota import (
    QUOTAS,
    Amounts,
    Evaluator,
    amounts,
    evaluator_of,
    total,
)
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

_MANAGER = "kube-apiserver"


@dataclass(frozen=True, slots=True)
class _Charge:
    """What a quota is to be charged."""

    quota: JsonObject
    used: Amounts


class ResourceQuotas(NoAdmission):
    """Goes by the quotas' status, which the cluster's quota controller begins and corrects.

    A charge stays if the object is then not stored, as on a real server: until the controller
    counts again.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Charges all quotas of the object, or none; between check and charge nobody writes."""
        store, namespace = self._world.store, operation.namespace
        if obj is None or operation.subresource or not store.count(QUOTAS, namespace):
            return
        evaluator = evaluator_of(operation.kind.resource)
        if evaluator is None or not _is_asked(evaluator, operation):
            return
        quotas = [quota for _, quota in store.list(QUOTAS, namespace=namespace).items]
        charges = self._charges(operation, evaluator, quotas, obj, old)
        if not operation.caller.dry_run:
            for charge in charges:
                self._write(charge)

    def _charges(
        self,
        operation: Operation,
        evaluator: Evaluator,
        quotas: Iterable[JsonObject],
        obj: JsonObject,
        old: JsonObject | None,
    ) -> list[_Charge]:
        concerned = [one for one in quotas if _concerns(evaluator, one, obj)]
        for quota in concerned:
            _require_countable(operation, evaluator, quota, obj)
        if not concerned:
            return []
        asked = _asked(evaluator, obj, old, self._world.clock.now())
        charges = (_charge(operation, quota, asked) for quota in concerned)
        return [charge for charge in charges if charge is not None]

    def _write(self, charge: _Charge) -> None:
        kind, old = self._kind(), charge.quota
        used = {name: str(amount) for name, amount in charge.used.items()}
        shown = {**old["status"], "used": {**old["status"]["used"], **used}}
        new = updated(
            old=old,
            new={**old, "status": shown},
            schema=kind.schema,
            manager=_MANAGER,
            api_version=kind.resource.api_version,
            subresource="status",
            now=self._world.clock.now(),
            reset=resets_of(kind, "status"),
        )
        metadata = old["metadata"]
        key = Key(QUOTAS, metadata["namespace"], metadata["name"])
        stored = self._world.store.update(key, in_order(new), expected=old)
        self._world.after_write(kind, stored, old)

    def _kind(self) -> Kind:
        kind = self._world.registry.find_kind("v1", "ResourceQuota")
        assert kind is not None, "quotas are built in"
        return kind


def _is_asked(evaluator: Evaluator, operation: Operation) -> bool:
    return operation.verb == "CREATE" or evaluator.is_asked_about_updates


def _concerns(evaluator: Evaluator, quota: JsonObject, obj: JsonObject) -> bool:
    return bool(_covered(evaluator, quota)) and evaluator.counts(quota, obj)


def _covered(evaluator: Evaluator, quota: JsonObject) -> Sequence[str]:
    """Resources of the quota that count objects like this; a quota not yet counted has none."""
    return [name for name in part(quota, "status", "hard") or () if evaluator.covers(name)]


def _require_countable(
    operation: Operation, evaluator: Evaluator, quota: JsonObject, obj: JsonObject
) -> None:
    name, covered = quota["metadata"]["name"], _covered(evaluator, quota)
    missing = evaluator.missing(obj, covered)
    if missing:
        raise _refusal(operation, f"failed quota: {name}: must specify {missing}")
    used = part(quota, "status", "used") or {}
    if not all(one in used for one in covered):
        words = ",".join(sorted(covered))
        raise _refusal(operation, f"status unknown for quota: {name}, resources: {words}")


def _asked(evaluator: Evaluator, obj: JsonObject, old: JsonObject | None, now: float) -> Amounts:
    """What the object uses more than the old one."""
    before = evaluator.usage(old, now) if old is not None else {}
    more = {
        name: amount.minus(before[name]) if name in before else amount
        for name, amount in evaluator.usage(obj, now).items()
    }
    return {name: amount for name, amount in more.items() if amount.nanos > 0}


def _charge(operation: Operation, quota: JsonObject, asked: Amounts) -> _Charge | None:
    hard, used = quota["status"]["hard"], quota["status"]["used"]
    asked = {name: amount for name, amount in asked.items() if name in hard}
    if not asked:
        return None
    limits = amounts(hard)
    after = total(({name: amounts(used)[name] for name in asked}, asked))
    beyond = sorted(name for name in asked if after[name].nanos > limits[name].nanos)
    if beyond:
        raise _refusal(
            operation,
            f"exceeded quota: {quota['metadata']['name']}, requested: {_shown(asked, beyond)},"
            f" used: {_shown(used, beyond)}, limited: {_shown(hard, beyond)}",
        )
    return _Charge(quota, after)


def _shown(values: Any, names: Iterable[str]) -> str:
    return ",".join(f"{name}={values[name]}" for name in names)


def _refusal(operation: Operation, why: str) -> status.ApiStatus:
    return status.forbidden(operation.kind.subject(operation.name), why)
