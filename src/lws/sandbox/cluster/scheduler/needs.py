"""What a pod needs of a node, read off it once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.cluster.objects import (
    controller_of,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from lws.sandbox.cluster.scheduler.quantities import milli
from lws.sandbox.server.selectors import Requirement, matches_labels, selector_requirements
from lws.sandbox.server.verbs import JsonObject

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a value in a pod, nothing is bound here
NamespacesOf = Callable[[Mapping[str, Any]], frozenset[str]]
"""The namespaces that a label selector chooses."""


@dataclass(frozen=True, slots=True)
class Term:
    """Pods of some namespaces with some labels, by a topology key."""

    topology_key: str
    namespaces: frozenset[str] | None
    """None: all."""
    requirements: tuple[Requirement, ...] | None
    """None: no pod fulfils them."""

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Is it about a pod with these labels?"""
        if self.requirements is None:
            return False
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return matches_labels(self.requirements, labels)


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One alternative of a node affinity."""

    labels: tuple[Requirement, ...]
    names: tuple[Requirement, ...]

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Does a node fulfil it? One without conditions none does."""
        if not self.labels and not self.names:
            return False
        return matches_labels(self.labels, labels) and matches_labels(
            self.names, {"metadata.name": name}
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread constraint that forbids."""

    term: Term
    max_skew: int
    min_domains: int


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """A pod, as the scheduler sees it."""

    uid: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    owner: str
    priority: int
    requests: Mapping[str, int]
    """In thousandths, the pod itself as one of `pods`."""
    node_selector: Mapping[str, str]
    node_terms: tuple[NodeTerm, ...] | None
    """None: any node."""
    tolerations: Sequence[Mapping[str, Any]]
    affinity: tuple[Term, ...]
    anti_affinity: tuple[Term, ...]
    spreads: tuple[Spread, ...]
    ports: frozenset[tuple[str, str, int]]
    """Host IP, protocol, port."""


def needs_of(pod: JsonObject, namespaces_of: NamespacesOf) -> Needs:
    """Read a pod."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    owner = controller_of(pod)
    together = _required(affinity.get("podAffinity"))
    apart = _required(affinity.get("podAntiAffinity"))
    return Needs(
        uid=uid_of(pod),
        namespace=namespace_of(pod),
        name=name_of(pod),
        labels=labels_of(pod),
        owner=owner["uid"] if owner else "",
        priority=spec.get("priority") or 0,
        requests=requests_of(spec),
        node_selector=spec.get("nodeSelector") or {},
        node_terms=_node_terms(affinity.get("nodeAffinity")),
        tolerations=spec.get("tolerations") or (),
        affinity=tuple(_term(one, pod, namespaces_of) for one in together),
        anti_affinity=tuple(_term(one, pod, namespaces_of) for one in apart),
        spreads=tuple(_spreads(pod)),
        ports=frozenset(_ports(spec)),
    )


def requests_of(spec: JsonObject) -> Mapping[str, int]:
    """The containers' together, or what its start needs if that is more; its own word first."""
    total: dict[str, int] = {}
    for container in spec["containers"]:
        _add(total, _requests(container))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        requests = _requests(container)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, requests)
            requests = {}
        for name in sidecars.keys() | requests.keys():
            needed = sidecars.get(name, 0) + requests.get(name, 0)
            peak[name] = max(peak.get(name, 0), needed)
    _add(total, sidecars)
    total = {
        name: max(total.get(name, 0), peak.get(name, 0)) for name in total.keys() | peak.keys()
    }
    whole = (spec.get("resources") or {}).get("requests") or {}
    total |= {name: milli(str(value)) for name, value in whole.items()}
    _add(total, {name: milli(str(value)) for name, value in (spec.get("overhead") or {}).items()})
    total["pods"] = 1000
    return {name: value for name, value in total.items() if value}


def _requests(container: JsonObject) -> dict[str, int]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: milli(str(value)) for name, value in wanted.items()}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _required(affinity: Mapping[str, Any] | None) -> Iterable[JsonObject]:
    terms: Iterable[JsonObject] = (affinity or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    return terms


def _term(term: JsonObject, pod: JsonObject, namespaces_of: NamespacesOf) -> Term:
    named = frozenset(term.get("namespaces") or ())
    selector = term.get("namespaceSelector")
    namespaces: frozenset[str] | None
    if selector is None:
        namespaces = named or frozenset((namespace_of(pod),))
    elif not selector:
        namespaces = None
    else:
        namespaces = named | namespaces_of(selector)
    return Term(term["topologyKey"], namespaces, selector_requirements(term.get("labelSelector")))


def _spreads(pod: JsonObject) -> Iterable[Spread]:
    for one in pod["spec"].get("topologySpreadConstraints") or ():
        if one.get("whenUnsatisfiable") != "DoNotSchedule":
            continue
        requirements = selector_requirements(one.get("labelSelector"))
        if requirements is not None:
            keys = (key for key in one.get("matchLabelKeys") or () if key in labels_of(pod))
            same = (Requirement(key, "in", frozenset((labels_of(pod)[key],))) for key in keys)
            requirements = (*requirements, *same)
        namespaces = frozenset((namespace_of(pod),))
        term = Term(one["topologyKey"], namespaces, requirements)
        yield Spread(term, one["maxSkew"], one.get("minDomains") or 1)


def _ports(spec: JsonObject) -> Iterable[tuple[str, str, int]]:
    for container in spec["containers"]:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                address = port.get("hostIP") or ANY_ADDRESS
                yield address, port.get("protocol") or "TCP", port["hostPort"]


_NODE_OPERATORS = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "absent",
    "Gt": ">",
    "Lt": "<",
}


def _node_terms(affinity: Mapping[str, Any] | None) -> tuple[NodeTerm, ...] | None:
    required = (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    return tuple(
        NodeTerm(_expressions(one, "matchExpressions"), _expressions(one, "matchFields"))
        for one in required.get("nodeSelectorTerms") or ()
    )


def _expressions(term: JsonObject, field: str) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            one["key"], _NODE_OPERATORS[one["operator"]], frozenset(one.get("values") or ())
        )
        for one in term.get(field) or ()
    )
