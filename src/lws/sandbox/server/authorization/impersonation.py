"""Asking in somebody else's name: who is meant, and whether one may.

Two kinds of rights allow it. The newer ones are for one sort of user each, and for what is done as
that user: `impersonate:user-info` on him, and `impersonate-on:user-info:list` on pods, say. The
older one, `impersonate`, is for everything. Whoever has neither is told of the newer ones, unless
it was the older one that let him through the last time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from lws.sandbox.server import status
from lws.sandbox.server.authentication.users import (
    ANONYMOUS_NAME,
    AUTHENTICATED,
    UNAUTHENTICATED,
    User,
    account_groups,
    account_of,
)
from lws.sandbox.server.authorization.attributes import Attributes, refusal
from lws.sandbox.server.authorization.authorizer import Authorizer
from lws.sandbox.server.status import ApiStatus

_EXTRA = "impersonate-extra-"
_NODE = "system:node:"
_NODES = "system:nodes"
_GROUP = "authentication.k8s.io"


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Whom a request names, as its headers say."""

    user: User
    """Without the groups that follow from the name."""

    @property
    def is_bare(self) -> bool:
        """Is nothing said but the name?"""
        return not (self.user.groups or self.user.uid or self.user.extra)

    def acting(self) -> User:
        """Who asks from now on."""
        user, account = self.user, account_of(self.user.name)
        groups = list(user.groups)
        if account is not None and not groups:
            groups += account_groups(account[0])
        return replace(user, groups=tuple(_with_everybody(user.name, groups)))


def _with_everybody(name: str, groups: list[str]) -> list[str]:
    everybody = UNAUTHENTICATED if name == ANONYMOUS_NAME else AUTHENTICATED
    is_said = AUTHENTICATED in groups or UNAUTHENTICATED in groups
    return groups if is_said else [*groups, everybody]


def impersonation_of(headers: Iterable[tuple[str, str]]) -> Impersonation | None:
    """Whom the headers name; None if nobody, 400 if only parts of him."""
    name, uid = "", ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for header, value in headers:
        match header.lower():
            case "impersonate-user":
                name = name or value
            case "impersonate-uid":
                uid = uid or value
            case "impersonate-group":
                groups.append(value)
            case other if other.startswith(_EXTRA):
                extra.setdefault(unquote(other.removeprefix(_EXTRA)), []).append(value)
    if not name and (uid or groups or extra):
        raise _nameless(uid, groups, extra)
    listed = tuple((key, tuple(values)) for key, values in extra.items())
    return Impersonation(User(name, tuple(groups), uid, listed)) if name else None


def _nameless(uid: str, groups: list[str], extra: dict[str, list[str]]) -> ApiStatus:
    """In the words of Go, which shows the whole value."""
    more = ", ".join(f'"{key}":{_strings(values)}' for key, values in extra.items())
    shown = f"{{{more}}}" if extra else "(nil)"
    return status.bad_request(
        f'requested &user.DefaultInfo{{Name:"", UID:"{uid}", Groups:[]string{_strings(groups)},'
        f" Extra:map[string][]string{shown}}} without impersonating a user name"
    )


def _strings(values: list[str]) -> str:
    listed = ", ".join(f'"{one}"' for one in values)
    return f"{{{listed}}}" if values else "(nil)"


class Impersonations:
    """Lets those through who may."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._by_older: set[str] = set()
        """Users whom the older right let through the last time."""

    def admit(self, asker: User, wanted: Impersonation, asked: Attributes) -> User:
        """Who asks from now on; 403 if he may not. `asked` is what is to be done."""
        constrained = _constrained(asker, wanted, asked)
        refused = self._refused(constrained) if constrained else None
        if constrained and refused is None:
            self._by_older.discard(asker.name)
            user = wanted.acting()
            is_node = wanted.user.name.startswith(_NODE)
            return replace(user, groups=(_NODES, *user.groups)) if is_node else user
        refused_by_older = self._refused(_older(asker, wanted))
        if refused_by_older is None:
            self._by_older.add(asker.name)
            return wanted.acting()
        is_older_told = refused is None or asker.name in self._by_older
        raise refused_by_older if is_older_told else refused  # type: ignore[misc]

    def _refused(self, needed: Iterable[Attributes]) -> ApiStatus | None:
        """The refusal of the first thing that may not be done."""
        for one in needed:
            decision = self._authorizer.decide(one)
            if not decision.is_allowed:
                return refusal(one, decision.reason)
        return None


def _older(asker: User, wanted: Impersonation) -> Iterator[Attributes]:
    base = Attributes(user=asker.name, groups=asker.groups, verb="impersonate", version="v1")
    user, account = wanted.user, account_of(wanted.user.name)
    if account is not None:
        yield replace(base, resource="serviceaccounts", namespace=account[0], name=account[1])
    else:
        yield replace(base, resource="users", name=user.name)
    for group in user.groups:
        yield replace(base, resource="groups", name=group)
    yield from _rest(replace(base, group=_GROUP), user)


def _rest(base: Attributes, user: User) -> Iterator[Attributes]:
    if user.uid:
        yield replace(base, resource="uids", name=user.uid)
    for key, values in user.extra:
        for value in values:
            yield replace(base, resource="userextras", subresource=key, name=value)


def _constrained(asker: User, wanted: Impersonation, asked: Attributes) -> list[Attributes]:
    """What the newer rights have to allow; nothing, if there are none for such a user."""
    user, account = wanted.user, account_of(wanted.user.name)
    is_node = user.name.startswith(_NODE)
    if (account is not None or is_node) and not wanted.is_bare:
        return []
    mode = "user-info"
    if account is not None:
        mode = "serviceaccount"
    elif is_node:
        mode = "arbitrary-node"
    who: dict[str, Any] = {"user": asker.name, "groups": asker.groups}
    needed = [replace(asked, **who, verb=f"impersonate-on:{mode}:{asked.verb}")]
    base = Attributes(**who, verb=f"impersonate:{mode}", group=_GROUP, version="v1")
    if account is not None:
        named = replace(base, resource="serviceaccounts", namespace=account[0], name=account[1])
    elif is_node:
        named = replace(base, resource="nodes", name=user.name.removeprefix(_NODE))
    else:
        named = replace(base, resource="users", name=user.name)
    needed.append(named)
    needed += [replace(base, resource="groups", name=group) for group in user.groups]
    return [*needed, *_rest(base, user)]
