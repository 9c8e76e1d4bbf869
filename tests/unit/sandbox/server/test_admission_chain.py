"""The plugins of the admission, one after the other."""

from typing import Any

import pytest

from lws.client.resources import Resource
from lws.sandbox.server import Server, status
from lws.sandbox.server.admission.chain import Chain
from lws.sandbox.server.operations import NoAdmission, Operation

JsonObject = dict[str, Any]


class _Plugin(NoAdmission):
    def __init__(self, name: str, asked: list[str], *, refuses: bool = False) -> None:
        self._name, self._asked, self._refuses = name, asked, refuses

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        del operation, old
        return {**(obj or {}), "seen": [*(obj or {}).get("seen", ()), self._name]}

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        del obj, old
        self._asked.append(self._name)
        if self._refuses:
            raise status.forbidden(operation.kind.subject("x"), f"{self._name} says no")


@pytest.fixture
def operation(server: Server) -> Operation:
    kind = server.world.registry.of(Resource("", "v1", "pods", "Pod"))
    assert kind is not None
    return Operation(kind=kind)


async def test_each_plugin_gets_what_the_one_before_it_made(operation: Operation) -> None:
    plugins = [_Plugin(name, []) for name in "abc"]
    chain = Chain(mutating=plugins, validating=())
    assert await chain.mutate(operation, {}, None) == {"seen": ["a", "b", "c"]}


async def test_none_is_asked_after_one_that_refuses(operation: Operation) -> None:
    asked: list[str] = []
    plugins = [_Plugin("a", asked), _Plugin("b", asked, refuses=True), _Plugin("c", asked)]
    with pytest.raises(status.ApiStatus, match="b says no"):
        await Chain(mutating=(), validating=plugins).validate(operation, {}, None)
    assert asked == ["a", "b"]
