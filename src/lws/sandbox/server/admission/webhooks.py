"""All webhooks of a server: mutating ones one after the other, validating ones together."""

import asyncio
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.admission import matching, reviews
from lws.sandbox.server.admission.calling import WebhookCallError, WebhookClient
from lws.sandbox.server.admission.conditions import conditions_hold
from lws.sandbox.server.admission.matching import Hook
from lws.sandbox.server.admission.reviews import Verdict
from lws.sandbox.server.bodies import with_defaults
from lws.sandbox.server.documents import copied
from lws.sandbox.server.metadata import new_uid
from lws.sandbox.server.operations import Operation, World

JsonObject = dict[str, Any]


class Webhooks:
    """`operations.Admission` by the webhook configurations in the store."""

    def __init__(self, client: WebhookClient) -> None:
        self._client = client
        self._world: World | None = None

    def attach(self, world: World) -> None:
        """Belongs to this server from now on."""
        self._world = world

    @property
    def world(self) -> World:
        """The server's."""
        assert self._world is not None, "attach first"
        return self._world

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        """The object as the mutating webhooks want it."""
        if not matching.is_asked_about(operation):
            return obj
        hooks = list(matching.hooks_of(self.world, matching.MUTATING))
        earlier: list[Hook] = []
        again: list[Hook] = []
        for hook in hooks:
            if not self._concerns(hook, operation, obj, old):
                continue
            before, obj = obj, await self._mutated(hook, operation, obj, old)
            if obj is not before:  # those before it may want to see that
                again += earlier
                earlier = []
            if hook.is_reinvocable:
                earlier.append(hook)
        for hook in again:
            if self._concerns(hook, operation, obj, old):
                obj = await self._mutated(hook, operation, obj, old)
        return obj

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Refuses if a validating webhook does."""
        if not matching.is_asked_about(operation):
            return
        hooks = [
            hook
            for hook in matching.hooks_of(self.world, matching.VALIDATING)
            if self._concerns(hook, operation, obj, old)
        ]
        if not hooks:
            return
        asked = (self._validated(hook, operation, obj, old) for hook in hooks)
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answer, BaseException):
                raise answer

    def _concerns(
        self, hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> bool:
        if not matching.concerns(self.world, hook, operation, obj, old):
            return False
        if not conditions_hold(hook, operation, obj, old):
            return False
        if operation.caller.dry_run and hook.has_side_effects:
            raise status.bad_request(f'admission webhook "{hook.name}" does not support dry run')
        return True

    async def _mutated(
        self, hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        verdict = await self._ask(hook, operation, obj, old, is_mutating=True)
        if verdict is None:
            return obj
        new = reviews.patched(obj, verdict, hook.name)
        if new is obj or new is None:
            return obj
        return with_defaults(operation.kind, copied(new))

    async def _validated(
        self, hook: Hook, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        await self._ask(hook, operation, obj, old, is_mutating=False)

    async def _ask(
        self,
        hook: Hook,
        operation: Operation,
        obj: JsonObject | None,
        old: JsonObject | None,
        *,
        is_mutating: bool,
    ) -> Verdict | None:
        """The verdict, if it is a yes; None if nobody answers and that does not matter."""
        uid = new_uid(self.world.clock)
        body = reviews.question(operation, obj, old, uid=uid)
        try:
            answer = await self._client.call(
                matching.target_of(self.world, hook), body, timeout_seconds=hook.timeout_seconds
            )
            verdict = reviews.verdict_of(answer, uid=uid, is_mutating=is_mutating)
        except WebhookCallError as error:
            if hook.ignores_failures:
                return None
            raise status.internal(f'failed calling webhook "{hook.name}": {error}') from error
        for text in verdict.warnings:
            operation.warn(text)
        if not verdict.is_allowed:
            raise reviews.denial(hook.name, verdict.result)
        return verdict
