"""What a kubelet of `lws up` says of its node."""

import pytest

from lws.client import resources
from lws.manager.up import LocalControlPlane, UpOptions
from lws.runtime.clock import VirtualClock


@pytest.mark.parametrize(
    ("said", "version"), [(None, "v1.36.3"), ({"kubeletVersion": "v1.30.1"}, "v1.30.1")]
)
async def test_a_node_has_a_version_unless_whoever_made_it_said_another(
    said: dict[str, str] | None, version: str
) -> None:
    options = UpOptions(nodes=1, operator=False, listens=False)
    clock = VirtualClock()
    async with LocalControlPlane(options, clock=clock) as plane:
        api = plane.server.api
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}}
        await api.create(resources.NODES, node | ({"status": {"nodeInfo": said}} if said else {}))
        await clock.sleep(1)
        info = api.get(resources.NODES, name="mine")["status"]["nodeInfo"]
        assert info["kubeletVersion"] == version
        assert info["operatingSystem"] == "linux"
