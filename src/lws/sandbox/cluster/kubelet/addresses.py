"""The addresses of pods: one range for all, each given back with its pod."""

from ipaddress import IPv4Address, IPv4Network

from lws.sandbox.cluster.kubelet.statuses import Address
from lws.sandbox.cluster.objects import status_of, uid_of
from lws.sandbox.server.verbs import JsonObject

_RANGE = IPv4Network("10.0.0.0/14")
_FIRST = 256
NODE_IP = "10.255.0.1"


class Addresses:
    """Which pod has which address."""

    def __init__(self) -> None:
        self._by_uid: dict[str, str] = {}
        self._taken: set[str] = set()
        self._next = _FIRST

    def of(self, pod: JsonObject, node: JsonObject | None) -> Address:
        """The pod's address, and its node's."""
        host = _host_ip(node)
        if pod["spec"].get("hostNetwork"):
            return Address(host, host)
        uid = uid_of(pod)
        if uid not in self._by_uid:
            self._by_uid[uid] = self._free()
        return Address(self._by_uid[uid], host)

    def note(self, pod: JsonObject) -> None:
        """A pod that has an address keeps it."""
        address = status_of(pod).get("podIP")
        if address and not pod["spec"].get("hostNetwork") and uid_of(pod) not in self._by_uid:
            self._by_uid[uid_of(pod)] = address
            self._taken.add(address)

    def give_back(self, pod: JsonObject) -> None:
        """The pod has gone."""
        self._taken.discard(self._by_uid.pop(uid_of(pod), ""))

    def _free(self) -> str:
        size = _RANGE.num_addresses
        for _ in range(size):
            self._next = self._next + 1 if self._next + 1 < size else _FIRST
            address = str(IPv4Address(int(_RANGE.network_address) + self._next))
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise AssertionError("a quarter of a million pods")


def _host_ip(node: JsonObject | None) -> str:
    for entry in status_of(node or {}).get("addresses") or ():
        if entry["type"] == "InternalIP":
            address: str = entry["address"]
            return address
    return NODE_IP
