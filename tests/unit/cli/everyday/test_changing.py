"""Going back while others write: a status is no reason to give up, a spec is."""

import copy
from typing import Any, cast

import pytest

from lws.base.errors import InvalidInput
from lws.cli.everyday.changing import TRIES, go_back
from lws.client import errors, resources
from lws.client.kubernetes import KubernetesClient, Page
from tests.unit.cli.everyday.test_history import NEW, OLD, patched, revision

OWNER = {"controller": True, "uid": "u1", "kind": "LeaderWorkerSet", "name": "chat"}


class Server:
    """One set and its revisions; `others` write before each of our patches."""

    def __init__(self, *others: dict[str, Any]) -> None:
        self.lws = copy.deepcopy(NEW)
        self.others = list(others)
        self.revisions = [revision(OLD, 1, "aaa"), revision(NEW, 2, "bbb")]
        for number, one in enumerate(self.revisions):
            one["metadata"] |= {"uid": f"r{number}", "ownerReferences": [OWNER]}

    async def get(self, resource: object, **_: object) -> dict[str, Any]:
        assert resource is resources.LEADERWORKERSETS
        return copy.deepcopy(self.lws)

    async def list_all(self, resource: object, **_: object) -> Page:
        assert resource is resources.CONTROLLERREVISIONS
        return Page(copy.deepcopy(self.revisions))

    async def patch(self, _: object, *, body: Any, dry_run: bool, **more: object) -> None:
        if self.others:
            version = int(self.lws["metadata"]["resourceVersion"])
            changed = self.others.pop(0)
            self.lws["metadata"] |= {"resourceVersion": str(version + 1), **changed}
        after = patched(self.lws, body)
        if after["metadata"]["resourceVersion"] != self.lws["metadata"]["resourceVersion"]:
            raise errors.Conflict("changed")
        if not dry_run:
            self.lws = after


async def back(server: Server, *, dry_run: bool = False) -> str:
    client = cast("KubernetesClient", server)
    plan = await go_back(client, "team", name="chat", to=None, dry_run=dry_run)
    return plan.key


async def test_a_status_written_meanwhile_does_not_stop_us() -> None:
    server = Server({}, {})
    assert await back(server) == "aaa"
    assert server.lws["spec"] == OLD["spec"]


async def test_a_spec_written_meanwhile_does() -> None:
    server = Server({"generation": 5})
    with pytest.raises(errors.Conflict):
        await back(server)
    assert server.lws["spec"] == NEW["spec"]


async def test_a_set_made_anew_meanwhile_does() -> None:
    with pytest.raises(errors.Conflict):
        await back(Server({"uid": "u2"}))


async def test_we_give_up_in_the_end() -> None:
    with pytest.raises(errors.Conflict, match="all the time"):
        await back(Server(*[{} for _ in range(TRIES)]))


async def test_a_dry_run_leaves_the_set_as_it_is() -> None:
    server = Server()
    assert await back(server, dry_run=True) == "aaa"
    assert server.lws == NEW


async def test_a_set_with_a_master_is_left_to_it() -> None:
    server = Server()
    owner = {"controller": True, "kind": "DisaggregatedSet", "name": "pair", "uid": "d"}
    server.lws["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(InvalidInput, match="belongs to DisaggregatedSet pair"):
        await back(server)
