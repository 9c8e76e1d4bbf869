"""Who somebody is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]
Extra = tuple[tuple[str, tuple[str, ...]], ...]
"""More that is known of somebody: names and their values."""

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS_NAME = "system:anonymous"
ACCOUNTS = "system:serviceaccounts"
_ACCOUNT = "system:serviceaccount:"
_ACCOUNT_PARTS = 4


@dataclass(frozen=True, slots=True)
class User:
    """Who a token says that it is."""

    name: str
    groups: tuple[str, ...] = (MASTERS, AUTHENTICATED)
    uid: str = ""
    extra: Extra = field(default=())


ANONYMOUS = User(ANONYMOUS_NAME, (UNAUTHENTICATED,))
"""Whoever says nothing about who he is."""


def account_name(namespace: str, name: str) -> str:
    """What a ServiceAccount is called as a user."""
    return f"{_ACCOUNT}{namespace}:{name}"


def account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of the ServiceAccount that a user is; None if he is none."""
    parts = user.split(":")
    if not user.startswith(_ACCOUNT) or len(parts) != _ACCOUNT_PARTS or not all(parts):
        return None
    return parts[2], parts[3]


def account_groups(namespace: str) -> tuple[str, ...]:
    """The groups that every ServiceAccount of a namespace is in."""
    return (ACCOUNTS, f"{ACCOUNTS}:{namespace}")


def user_info(name: str, groups: Sequence[str], uid: str, extra: Extra) -> JsonObject:
    """A user as reviews and webhooks are told of him."""
    info: JsonObject = {"username": name}
    if uid:
        info["uid"] = uid
    if groups:
        info["groups"] = list(groups)
    if extra:
        info["extra"] = {key: list(values) for key, values in extra}
    return info
