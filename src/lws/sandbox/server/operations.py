"""One request as the parts of the server hand it on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lws.base.clock import Clock
from lws.sandbox.server.authentication.accounts import AccountTokens
from lws.sandbox.server.authorization.authorizer import Authorizer
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.registry import Registry
from lws.sandbox.server.verbs import ADMIN, Caller
from lws.sandbox.store import Key, Store

JsonObject = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Operation:
    """What is asked; `warnings` gathers what the client is told besides the answer."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    caller: Caller = ADMIN
    verb: str = ""
    """CREATE, UPDATE, DELETE or CONNECT, for admission."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """CreateOptions and so on, for admission."""
    warnings: list[str] = field(default_factory=list)
    is_asked: bool = True
    """Does admission see it? No, if it has already seen the part that is written."""
    duplicates: Sequence[str] = ()
    """Fields that the body has twice."""
    is_by_update: bool = False
    """Is an object to be made by an update or an apply, which takes a second right?"""

    @property
    def key(self) -> Key:
        """Where the object is kept."""
        return Key(self.kind.storage, self.namespace, self.name)

    def asked_name(self, obj: Mapping[str, Any]) -> str:
        """The object's name, or what one is made from: as admission's refusals say it."""
        return self.name or str(obj.get("metadata", {}).get("generateName") or "Unknown")

    def warn(self, text: str) -> None:
        """Tell the client once."""
        if text not in self.warnings:
            self.warnings.append(text)


class Admission(Protocol):
    """Who may change or refuse a write."""

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        """The object as it is to be; raises ApiStatus."""
        ...

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Raises ApiStatus if it may not be."""
        ...


class NoAdmission:
    """Lets everything pass."""

    async def mutate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> JsonObject | None:
        """As it is."""
        del operation, old
        return obj

    async def validate(
        self, operation: Operation, obj: JsonObject | None, old: JsonObject | None
    ) -> None:
        """Fine."""
        del operation, obj, old


WriteObserver = Callable[[Kind, JsonObject | None, JsonObject | None], None]


@dataclass(slots=True)
class World:
    """What all parts of one server share."""

    store: Store
    clock: Clock
    registry: Registry
    admission: Admission
    server_address: str = "127.0.0.1"
    users: Mapping[str, Any] = field(default_factory=dict)
    """Who may come in, by bearer token."""
    observers: list[WriteObserver] = field(default_factory=list)
    """Parts of the server that act on writes."""
    authorizer: Authorizer = field(init=False)
    accounts: AccountTokens = field(init=False)

    def __post_init__(self) -> None:
        """Who may do what, and who comes with a token, stands in the store."""
        self.authorizer = Authorizer(self.store)
        self.accounts = AccountTokens(self.store, self.clock)

    def after_write(self, kind: Kind, new: JsonObject | None, old: JsonObject | None) -> None:
        """Tell them of a write that is done."""
        for observer in self.observers:
            observer(kind, new, old)
