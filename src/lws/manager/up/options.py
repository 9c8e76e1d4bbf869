"""What `lws up` was told."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lws.base.errors import InvalidInput
from lws.sandbox.cluster.options import ZONE, NodeSpec
from lws.sandbox.schema.naming import label_value, qualified_name

NODES_MAX = 10_000
CAPACITY: Mapping[str, str] = {
    "cpu": "192",
    "memory": "2Ti",
    "pods": "110",
    "ephemeral-storage": "8Ti",
    "nvidia.com/gpu": "8",
    "google.com/tpu": "8",
}
"""A machine of the kind that serves large models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """Times are in seconds."""

    nodes: int = 10
    topology: Mapping[str, int] = field(default_factory=lambda: {ZONE: 2})
    """Node label to the number of domains that the nodes are spread over."""
    host: str = "127.0.0.1"
    port: int = 0
    data: Path | None = None
    """State is kept in this file; None: it is lost at the end."""
    audit_log: Path | None = None
    """A line for each request that comes over the network is written there."""
    ready_after: float = 1.0
    max_unavailable_gate: bool = False
    listens: bool = True
    """False: nobody outside this process is served."""
    operator: bool = True
    """False: the control plane and the CRDs alone, for an operator of your own."""

    def node_specs(self) -> list[NodeSpec]:
        """The nodes, neighbours in the same domain."""
        return [self._node(number) for number in range(self.nodes)]

    def _node(self, number: int) -> NodeSpec:
        name = f"node-{number}"
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
        }
        for key, domains in self.topology.items():
            labels[key] = _domain(key, number * domains // self.nodes)
        return NodeSpec(name=name, labels=labels, capacity=CAPACITY)


def topology_of(text: str) -> dict[str, int]:
    """`zone=2,example.com/rack=4`; `zone` and `rack` without a prefix are the usual labels.

    InvalidInput says what to write.
    """
    found: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, count = part.partition("=")
        if not name or not _COUNT.fullmatch(count) or not 0 < int(count) <= NODES_MAX:
            message = f"must be such as zone=2,rack=4, not {text!r}"
            raise InvalidInput(field="--topology", message=message)
        key = _SHORT.get(name, name)
        for fault in (*qualified_name(key), *label_value(_domain(key, NODES_MAX))):
            raise InvalidInput(field="--topology", message=f"{name!r} is no node label: {fault}")
        found[key] = int(count)
    return found


def _domain(key: str, number: int) -> str:
    return f"{key.rpartition('/')[2]}-{number}"


_COUNT = re.compile(r"[0-9]{1,9}")
_SHORT = {"zone": ZONE, "region": "topology.kubernetes.io/region", "rack": "topology.lws/rack"}
