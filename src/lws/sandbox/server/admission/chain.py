"""The plugins of a server's admission, in Kubernetes' order."""

from collections.abc import Sequence
from typing import Any

from lws.sandbox.server.admission.limits import LimitRanger
from lws.sandbox.server.admission.podsecurity import PodSecurity
from lws.sandbox.server.admission.policies import AdmissionPolicies
from lws.sandbox.server.admission.quota import ResourceQuotas
from lws.sandbox.server.admission.webhooks import Webhooks
from lws.sandbox.server.operations import Admission, Operation, World

JsonObject = dict[str, Any]


class Chain:
    """`operations.Admission` by plugins, one after the other; the first refusal counts.

    A plugin is an Admission, too (`NoAdmission` is a base with nothing to say); it looks first
    whether anybody uses it, since every write of every pod passes here.
    """

    def __init__(self, *, mutating: Sequence[Admission], validating: Sequence[Admission]) -> None:
        self._mutating = tuple(mutating)
        self._validating = tuple(validating)

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        """The object as the last of them leaves it."""
        for plugin in self._mutating:
            obj = await plugin.mutate(operation, obj, old)
        return obj

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Refuses if one of them does."""
        for plugin in self._validating:
            await plugin.validate(operation, obj, old)


def chain_of(world: World, admission: Admission | None) -> Chain:
    """What a server asks about its writes; `admission`: its webhooks, if it has any.

    Mutating: LimitRanger, webhooks. Validating: LimitRanger, PodSecurity, policies, webhooks, and
    ResourceQuota last, since it charges what then must be stored.
    """
    if isinstance(admission, Webhooks):
        admission.attach(world)
    webhooks = () if admission is None else (admission,)
    limits, security = LimitRanger(world), PodSecurity(world)
    return Chain(
        mutating=(limits, *webhooks),
        validating=(
            limits,
            security,
            AdmissionPolicies(world),
            *webhooks,
            ResourceQuotas(world),
        ),
    )
