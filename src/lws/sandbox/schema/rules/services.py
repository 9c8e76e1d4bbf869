"""Services."""

import ipaddress

from lws.sandbox.schema.errors import duplicate, forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import dns_label, dns_subdomain, port_number, qualified_name
from lws.sandbox.schema.rules.containers import PROTOCOLS
from lws.sandbox.schema.rules.metadata import label_errors
from lws.sandbox.schema.rules.words import Faults, Object, named, one_of, port

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITY_SECONDS_MAX = 86400


def service_rules(obj: Object, old: Object | None) -> Faults:
    """Service."""
    spec = obj["spec"]
    kind = spec.get("type")
    if not spec.get("ports") and not _is_headless(spec) and kind != "ExternalName":
        yield required("spec.ports")
    yield from _kind_faults(spec, kind)
    yield from _ports(spec)
    yield from label_errors(spec.get("selector"), "spec.selector")
    yield from one_of(spec.get("sessionAffinity"), ("ClientIP", "None"), "spec.sessionAffinity")
    yield from _affinity(spec)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        yield from _address(address, f"spec.externalIPs[{index}]")
    yield from one_of(kind, _TYPES, "spec.type")
    if kind != "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not None:
        words = "may only be used when `type` is 'LoadBalancer'"
        yield forbidden("spec.allocateLoadBalancerNodePorts", words)
    yield from _traffic(spec)
    if old is not None:
        yield from _update(spec, old["spec"])


def _is_headless(spec: Object) -> bool:
    return "None" in (spec.get("clusterIP"), *(spec.get("clusterIPs") or ())[:1])


def _kind_faults(spec: Object, kind: str | None) -> Faults:
    if kind in ("LoadBalancer", "NodePort") and _is_headless(spec):
        words = f"may not be set to 'None' for {kind} services"
        yield invalid("spec.clusterIPs[0]", "None", words)
    if kind != "ExternalName":
        return
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            yield forbidden(f"spec.{field}", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    if name:
        yield from named(dns_subdomain, name, "spec.externalName")
    else:
        yield required("spec.externalName")


def _ports(spec: Object) -> Faults:
    ports = spec.get("ports") or []
    names: set[str] = set()
    for index, one in enumerate(ports):
        path = f"spec.ports[{index}]"
        yield from _port_name(one.get("name") or "", names, path, is_needed=len(ports) > 1)
        for fault in port_number(one.get("port", 0)):
            yield invalid(f"{path}.port", one.get("port", 0), fault)
        yield from one_of(one.get("protocol"), PROTOCOLS, f"{path}.protocol")
        yield from port(one.get("targetPort", 0), f"{path}.targetPort")
        if one.get("appProtocol") is not None:
            yield from named(qualified_name, one["appProtocol"], f"{path}.appProtocol")
        if spec.get("type") == "ClusterIP" and one.get("nodePort"):
            words = "may not be used when `type` is 'ClusterIP'"
            yield forbidden(f"{path}.nodePort", words)
    yield from _same_ports(ports)


def _port_name(name: str, seen: set[str], path: str, *, is_needed: bool) -> Faults:
    if not name:
        if is_needed:
            yield required(f"{path}.name")
        return
    yield from named(dns_label, name, f"{path}.name")
    if name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)


def _same_ports(ports: list[Object]) -> Faults:
    seen: set[tuple[str, int]] = set()
    nodes: set[tuple[str, int]] = set()
    for index, one in enumerate(ports):
        protocol = one.get("protocol") or ""
        if (protocol, one.get("port", 0)) in seen:
            shown = {
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": None,
                "Port": one.get("port", 0),
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield duplicate(f"spec.ports[{index}]", shown)
        seen.add((protocol, one.get("port", 0)))
        if one.get("nodePort"):
            if (protocol, one["nodePort"]) in nodes:
                yield duplicate(f"spec.ports[{index}].nodePort", one["nodePort"])
            nodes.add((protocol, one["nodePort"]))


def _affinity(spec: Object) -> Faults:
    if spec.get("sessionAffinity") != "ClientIP":
        return
    config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    seconds = config.get("timeoutSeconds") or 0
    if not 0 < seconds <= _AFFINITY_SECONDS_MAX:
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        words = f"must be greater than 0 and less than {_AFFINITY_SECONDS_MAX}"
        yield invalid(path, seconds, words)


def _address(address: str, path: str) -> Faults:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        yield invalid(
            path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        )


def _traffic(spec: Object) -> Faults:
    policy = spec.get("externalTrafficPolicy")
    is_external = spec.get("type") in ("NodePort", "LoadBalancer") or (
        spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))
    )
    if policy and not is_external:
        words = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", policy, words)
    elif policy and policy not in ("Cluster", "Local"):
        yield not_supported("spec.externalTrafficPolicy", policy, ("Cluster", "Local"))
    inside = spec.get("internalTrafficPolicy")
    if inside and inside not in ("Cluster", "Local"):
        yield not_supported("spec.internalTrafficPolicy", inside, ("Cluster", "Local"))


def _update(new: Object, old: Object) -> Faults:
    """The first cluster IP stays, unless the type becomes or was ExternalName."""
    if "ExternalName" in (new.get("type"), old.get("type")):
        return
    had, wanted = old.get("clusterIPs") or [], new.get("clusterIPs") or []
    if had and wanted and had[0] != wanted[0]:
        yield invalid("spec.clusterIPs[0]", wanted, "may not change once set")
    elif had and not wanted:
        yield invalid("spec.clusterIPs[0]", None, "primary clusterIP can not be unset")
