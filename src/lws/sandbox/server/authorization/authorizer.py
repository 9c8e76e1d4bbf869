"""Decisions by the roles and bindings that are in the store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.server.authentication.users import MASTERS, account_name
from lws.sandbox.server.authorization.attributes import Attributes, refusal
from lws.sandbox.server.authorization.rules import Rule, allows
from lws.sandbox.store import Key, Store

JsonObject = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
ROLES, CLUSTER_ROLES = f"{RBAC}/roles", f"{RBAC}/clusterroles"
BINDINGS, CLUSTER_BINDINGS = f"{RBAC}/rolebindings", f"{RBAC}/clusterrolebindings"
OPEN_PATHS = ("/healthz", "/livez", "/readyz")
"""Where everybody may look, whatever the roles say."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether, and why; a refusal has a reason only if something is broken."""

    is_allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Grant:
    """A binding that concerns somebody, and the words for him."""

    binding: JsonObject
    subject: str

    @property
    def words(self) -> str:
        metadata, role = self.binding["metadata"], self.binding["roleRef"]
        namespace = metadata.get("namespace")
        kind = "RoleBinding" if namespace else "ClusterRoleBinding"
        named = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
        return f'{kind} "{named}" of {role["kind"]} "{role["name"]}" to {self.subject}'


_Grants = dict[tuple[str, str], list[_Grant]]
"""By kind (User or Group) and name of who is meant."""


class Authorizer:
    """Knows who may do what. Bindings are indexed when the first question after a change comes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._grants: dict[str, _Grants] | None = None
        for resource in (BINDINGS, CLUSTER_BINDINGS):
            store.cursor(resource, store.revision).subscribe(self._forget)

    def decide(self, asked: Attributes) -> Decision:
        """May this be done?"""
        if MASTERS in asked.groups:
            return Decision(True)
        faults: list[str] = []
        for grant in self._grants_of(asked.user, asked.groups, asked.namespace):
            if any(allows(rule, asked) for rule in self._rules(grant.binding, faults)):
                return Decision(True, f"RBAC: allowed by {grant.words}")
        return Decision(False, f"RBAC: {gathered(faults)}" if faults else "")

    def require(self, asked: Attributes) -> None:
        """403 if it may not be done."""
        decision = self.decide(asked)
        if not decision.is_allowed:
            raise refusal(asked, decision.reason)

    def admit(self, asked: Attributes) -> None:
        """403 if a request may not come in; who looks at the server's health needs no role."""
        if asked.path not in OPEN_PATHS:
            self.require(asked)

    def rules_of(
        self, user: str, groups: Sequence[str], namespace: str
    ) -> tuple[list[Rule], list[str]]:
        """All that somebody may do there; and which roles are not to be found."""
        faults: list[str] = []
        grants = self._grants_of(user, groups, namespace)
        return [rule for one in grants for rule in self._rules(one.binding, faults)], faults

    # Inside

    def _rules(self, binding: JsonObject, faults: list[str]) -> Sequence[Rule]:
        ref = binding["roleRef"]
        role = self.role(ref, binding["metadata"].get("namespace", ""))
        if role is None:
            faults.append(f'{ref["kind"].lower()}.{RBAC} "{ref["name"]}" not found')
            return ()
        return role.get("rules") or ()

    def role(self, ref: Mapping[str, str], namespace: str) -> JsonObject | None:
        """The role that a binding in a namespace refers to; None if there is none."""
        if ref["kind"] == "ClusterRole":
            return self._store.get(Key(CLUSTER_ROLES, "", ref["name"]))
        return self._store.get(Key(ROLES, namespace, ref["name"]))

    def _grants_of(self, user: str, groups: Sequence[str], namespace: str) -> Iterator[_Grant]:
        """Those of the whole cluster first; each binding once, for the first who is meant."""
        if self._grants is None:
            self._grants = self._indexed()
        for place in dict.fromkeys(("", namespace)):
            grants = self._grants.get(place, {})
            seen = set()
            for subject in (("User", user), *(("Group", one) for one in groups)):
                for grant in grants.get(subject, ()):
                    if id(grant.binding) not in seen:
                        seen.add(id(grant.binding))
                        yield grant

    def _forget(self) -> None:
        self._grants = None

    def _indexed(self) -> dict[str, _Grants]:
        index: dict[str, _Grants] = {}
        for resource in (CLUSTER_BINDINGS, BINDINGS):
            for (namespace, _), binding in self._store.list(resource).items:
                grants = index.setdefault(namespace, {})
                for subject in binding.get("subjects") or ():
                    who, words = _meant(subject, namespace)
                    grants.setdefault(who, []).append(_Grant(binding, words))
        return index


def _meant(subject: Mapping[str, str], namespace: str) -> tuple[tuple[str, str], str]:
    """Who a subject is, and how a decision names him."""
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind == "ServiceAccount":
        own = subject.get("namespace") or namespace
        return ("User", account_name(own, name)), f'ServiceAccount "{name}/{own}"'
    return (kind, name), f'{kind} "{name}"'


def gathered(faults: Sequence[str]) -> str:
    """Several faults as one, as Go prints them."""
    once = list(dict.fromkeys(faults))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"
