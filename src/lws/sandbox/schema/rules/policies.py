"""Network policies."""

import ipaddress

from lws.sandbox.schema.errors import forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import port_number
from lws.sandbox.schema.rules.words import Faults, Object, port, selector

_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_CIDR_WORDS = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def network_policy_rules(obj: Object, old: Object | None) -> Faults:
    """NetworkPolicy."""
    del old
    spec = obj["spec"]
    yield from selector(spec["podSelector"], "spec.podSelector")
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(field) or ()):
            yield from _rule(rule, f"spec.{field}[{index}]", peers)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(_TYPES):
        yield invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(kinds):
        if kind not in _TYPES:
            yield not_supported(f"spec.policyTypes[{index}]", kind, _TYPES)


def _rule(rule: Object, path: str, peers: str) -> Faults:
    for index, one in enumerate(rule.get("ports") or ()):
        yield from _port(one, f"{path}.ports[{index}]")
    for index, one in enumerate(rule.get(peers) or ()):
        yield from _peer(one, f"{path}.{peers}[{index}]")


def _port(one: Object, path: str) -> Faults:
    protocol, first, last = one.get("protocol"), one.get("port"), one.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        yield not_supported(f"{path}.protocol", protocol, _PROTOCOLS)
    if first is not None:
        yield from port(first, f"{path}.port")
    if last is None:
        return
    if first is None:
        words = "may not be specified when `port` is not specified"
        yield invalid(f"{path}.endPort", last, words)
    elif isinstance(first, str):
        words = "may not be specified when `port` is non-numeric"
        yield invalid(f"{path}.endPort", last, words)
    elif last < first:  # the server shows the port, and says that of endPort
        yield invalid(f"{path}.endPort", first, "must be greater than or equal to `port`")
    else:
        for fault in port_number(last):
            yield invalid(f"{path}.endPort", last, fault)


def _peer(peer: Object, path: str) -> Faults:
    selectors = [name for name in ("podSelector", "namespaceSelector") if name in peer]
    for name in selectors:
        yield from selector(peer[name], f"{path}.{name}")
    block = peer.get("ipBlock")
    if block is not None:
        yield from _block(block, f"{path}.ipBlock")
    if not selectors and block is None:
        yield required(path, "must specify a peer")
    elif selectors and block is not None:
        yield forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: Object, path: str) -> Faults:
    cidr = block.get("cidr") or ""
    if not cidr:
        yield required(f"{path}.cidr")
        return
    whole = _network(cidr)
    if whole is None:
        yield invalid(f"{path}.cidr", cidr, _CIDR_WORDS)
    for index, text in enumerate(block.get("except") or ()):
        part = _network(text)
        if part is None:
            yield invalid(f"{path}.except[{index}]", text, _CIDR_WORDS)
        elif whole is not None and not _is_inside(part, whole):
            yield invalid(f"{path}.except[{index}]", text, "must be a strict subset of `cidr`")


def _network(text: str) -> _Network | None:
    if "/" not in text:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_inside(part: _Network, whole: _Network) -> bool:
    return (
        part.version == whole.version
        and part.prefixlen > whole.prefixlen
        and part.network_address in whole
    )
