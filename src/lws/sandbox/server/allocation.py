"""Addresses of services: taken from one range, given back with the service."""

from ipaddress import IPv4Address, IPv4Network
from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.status import Cause, invalid

JsonObject = dict[str, Any]

SERVICE_RANGE = IPv4Network("10.96.0.0/16")
_NODE_PORTS = range(30000, 32768)
_SERVICES = "/services"
_ON_NODES = frozenset(("LoadBalancer", "NodePort"))
_ADDRESS = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
_OUTSIDE = ("externalTrafficPolicy",)
_BALANCED = ("allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort")
_FIELDS_OF_TYPE = {
    "ClusterIP": _ADDRESS,
    "NodePort": (*_ADDRESS, *_OUTSIDE),
    "LoadBalancer": (*_ADDRESS, *_OUTSIDE, *_BALANCED),
    "ExternalName": (),
}


def allocate(world: World, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
    """Gives a service that needs them its cluster IP and node ports."""
    if kind.storage != _SERVICES:
        return
    spec = new.setdefault("spec", {})
    if old is not None:
        _give_back(spec, old["spec"])
    if spec.get("type") == "ExternalName":
        return
    _give_address(world, kind, new, old)
    if _has_node_ports(spec):
        _give_node_ports(world, kind, new, old)


def _has_node_ports(spec: JsonObject) -> bool:
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return spec.get("type") == "NodePort"


def _give_back(spec: JsonObject, old: JsonObject) -> None:
    """What only the old type has, as far as the writer left it as it was."""
    before, now = _FIELDS_OF_TYPE[old["type"]], _FIELDS_OF_TYPE.get(spec.get("type", ""), ())
    for field in before:
        if field not in now and spec.get(field) == old.get(field):
            spec.pop(field, None)
    was_on_nodes, is_on_nodes = (one.get("type") in _ON_NODES for one in (old, spec))
    if was_on_nodes and not is_on_nodes and _node_ports(spec) == _node_ports(old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)


def _node_ports(spec: JsonObject) -> list[int]:
    return [port.get("nodePort", 0) for port in spec.get("ports") or ()]


def _give_address(world: World, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
    spec = new["spec"]
    asked = spec.get("clusterIP") or part(old or {}, "spec", "clusterIP")
    if asked is None:
        asked = (spec.get("clusterIPs") or [""])[0]
    if asked and asked != "None" and asked != part(old or {}, "spec", "clusterIP"):
        _require_free(world, kind, new, asked)
    address = asked or _free_address(world)
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def _taken(world: World) -> set[str]:
    return {obj["spec"].get("clusterIP", "") for _, obj in world.store.list(_SERVICES).items}


def _require_free(world: World, kind: Kind, new: JsonObject, address: str) -> None:
    problem = ""
    if IPv4Address(address) not in SERVICE_RANGE:
        problem = (
            f"failed to allocate IP {address}: the provided network does not match the current"
            " range"
        )
    elif address in _taken(world):
        problem = f"failed to allocate IP {address}: provided IP is already allocated"
    if problem:
        field = "spec.clusterIPs"
        cause = Cause("FieldValueInvalid", f'Invalid value: ["{address}"]: {problem}', field)
        raise invalid(kind.kind_subject(new["metadata"].get("name", "")), [cause])


def _free_address(world: World) -> str:
    taken = _taken(world)
    most = SERVICE_RANGE.num_addresses - 2
    start = int(world.clock.random() * most)
    for step in range(most):
        address = str(SERVICE_RANGE[1 + (start + step) % most])
        if address not in taken:
            return address
    raise AssertionError("65534 services")


def _give_node_ports(world: World, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
    ours = old["metadata"]["uid"] if old else ""
    taken = {
        port.get("nodePort")
        for _, obj in world.store.list(_SERVICES).items
        if obj["metadata"]["uid"] != ours
        for port in obj["spec"].get("ports") or ()
    }
    for index, port in enumerate(new["spec"].get("ports") or ()):
        if not port.get("nodePort"):
            port["nodePort"] = next(one for one in _NODE_PORTS if one not in taken)
        elif port["nodePort"] in taken:
            message = f"Invalid value: {port['nodePort']}: provided port is already allocated"
            cause = Cause("FieldValueInvalid", message, f"spec.ports[{index}].nodePort")
            raise invalid(kind.kind_subject(new["metadata"].get("name", "")), [cause])
        taken.add(port["nodePort"])
