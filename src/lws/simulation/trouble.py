"""What happens to pods and nodes by themselves."""

from collections.abc import Awaitable, Callable, Sequence

from lws.api import names
from lws.client import resources
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject, Verbs
from lws.simulation.chance import Chance
from lws.simulation.wishes import NAMESPACE


class Trouble:
    """Each is drawn; `heal` ends what lasts."""

    def __init__(
        self, api: Verbs, cluster: Cluster, chance: Chance, tell: Callable[[str], None]
    ) -> None:
        self._api = api
        self._cluster = cluster
        self._chance = chance
        self._tell = tell
        self._dead: list[str] = []
        self._unready: list[str] = []
        self._kinds: dict[Callable[[], Awaitable[str]], float] = {
            self._restart_container: 4.0,
            self._fail_pod: 1.5,
            self._evict: 1.0,
            self._unready_pod: 2.0,
            self._kill_node: 0.4,
            self._recover: 2.0,
        }

    async def strike(self) -> None:
        """One thing."""
        what = self._chance.weighted(self._kinds)
        try:
            self._tell(await what())
        except (ApiStatus, LookupError) as error:
            self._tell(f"{what.__name__.strip('_')} came to nothing: {error}")

    async def heal(self) -> None:
        """Everything runs again, or can."""
        while self._dead or self._unready:
            await self._recover()

    async def _restart_container(self) -> str:
        pod = self._pod()
        await self._cluster.fail_container(NAMESPACE, pod)
        return f"a container of {pod} ends"

    async def _fail_pod(self) -> str:
        pod = self._pod()
        await self._cluster.fail_pod(NAMESPACE, pod, reason="Error")
        return f"pod {pod} fails"

    async def _evict(self) -> str:
        pod = self._pod()
        await self._cluster.evict(NAMESPACE, pod)
        return f"pod {pod} is evicted"

    async def _unready_pod(self) -> str:
        pod = self._pod()
        await self._cluster.set_ready(NAMESPACE, pod, False)
        self._unready.append(pod)
        return f"pod {pod} is not ready"

    async def _kill_node(self) -> str:
        nodes = [node["metadata"]["name"] for node in self._api.list(resources.NODES).items]
        alive = [name for name in nodes if name not in self._dead]
        if len(alive) <= len(nodes) // 2:
            return "enough nodes are dead"
        name = self._chance.one_of(alive)
        await self._cluster.kill_node(name)
        self._dead.append(name)
        return f"node {name} is silent"

    async def _recover(self) -> str:
        if self._dead and (self._chance.happens(0.5) or not self._unready):
            name = self._dead.pop(0)
            await self._cluster.revive_node(name)
            return f"node {name} is back"
        if not self._unready:
            return "nothing to recover"
        pod = self._unready.pop(0)
        try:
            await self._cluster.set_ready(NAMESPACE, pod, True)
        except (ApiStatus, LookupError):
            return f"pod {pod} has gone"
        return f"pod {pod} is ready again"

    def _pod(self) -> str:
        pods: Sequence[JsonObject] = [
            pod
            for pod in self._api.list(resources.PODS, namespace=NAMESPACE).items
            if names.NAME in (pod["metadata"].get("labels") or {})
        ]
        if not pods:
            raise LookupError("there is no pod")
        return str(self._chance.one_of(pods)["metadata"]["name"])
