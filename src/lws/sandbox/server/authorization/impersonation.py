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
_ON_NODE = "authentication.kubernetes.io/node-name"
"""What is known of a bearer whose token is bound to a node, or to a pod on one."""
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

    @property
    def is_node(self) -> bool:
        """Is it the kubelet of a node?"""
        return self.user.name.startswith(_NODE)

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
        refusals: list[ApiStatus] = []
        for needed in _newer(asker, wanted, asked):
            refused = self._refused(needed)
            if refused is None:
                self._by_older.discard(asker.name)
                user = wanted.acting()
                return replace(user, groups=(_NODES, *user.groups)) if wanted.is_node else user
            refusals.append(refused)
        refused = self._refused(_older(asker, wanted))
        if refused is None:
            self._by_older.add(asker.name)
            return wanted.acting()
        is_older_told = not refusals or asker.name in self._by_older
        raise refused if is_older_told else refusals[0]

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


def _newer(asker: User, wanted: Impersonation, asked: Attributes) -> Iterator[list[Attributes]]:
    """What the newer rights have to allow: all of one of these. None, if there are none for him."""
    user, account = wanted.user, account_of(wanted.user.name)
    if (account is not None or wanted.is_node) and not wanted.is_bare:
        return
    who: dict[str, Any] = {"user": asker.name, "groups": asker.groups}

    def on(mode: str) -> tuple[Attributes, Attributes]:
        base = Attributes(**who, verb=f"impersonate:{mode}", group=_GROUP, version="v1")
        return replace(asked, **who, verb=f"impersonate-on:{mode}:{asked.verb}"), base

    if account is not None:
        done, base = on("serviceaccount")
        namespace, name = account
        yield [done, replace(base, resource="serviceaccounts", namespace=namespace, name=name)]
    elif wanted.is_node:
        node = user.name.removeprefix(_NODE)
        if (_ON_NODE, (node,)) in asker.extra:
            done, base = on("associated-node")
            yield [done, replace(base, resource="nodes", name="*")]
        done, base = on("arbitrary-node")
        yield [done, replace(base, resource="nodes", name=node)]
    else:
        done, base = on("user-info")
        groups = [replace(base, resource="groups", name=group) for group in user.groups]
        yield [done, replace(base, resource="users", name=user.name), *groups, *_rest(base, user)]
