"""ClusterRoles made of others: their rules are those of all that their selectors choose."""

from collections.abc import Iterator
from typing import Any

from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.sandbox.cluster.context import Context
from lws.sandbox.cluster.objects import name_of
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.server.verbs import Caller, JsonObject

CLUSTER_ROLES = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False
)
_CALLER = Caller(
    user="system:kube-controller-manager", field_manager="clusterrole-aggregation-controller"
)


class RoleAggregation:
    """Looks at all of them whenever one changes: there are few."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._roles = context.caches.of(CLUSTER_ROLES)
        self.worker: Worker[str] = Worker(context.clock, self._look_at, parallel=5)
        self._roles.on_change(self._changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        del old, new
        for role in self._roles:
            if role.get("aggregationRule"):
                self.worker.add(name_of(role))

    async def _look_at(self, name: str) -> None:
        role = self._roles.get("", name)
        if role is None or not role.get("aggregationRule"):
            return
        rules = list(self._gathered(role))
        if rules == (role.get("rules") or []):
            return
        wanted: JsonObject = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name, "uid": role["metadata"]["uid"]},
            "rules": rules,
        }
        await self._api.patch(
            CLUSTER_ROLES,
            wanted,
            patch_type=PatchType.APPLY,
            name=name,
            force=True,
            caller=_CALLER,
        )

    def _gathered(self, role: JsonObject) -> Iterator[dict[str, Any]]:
        """Each rule once; roles by name, for each selector."""
        seen: list[dict[str, Any]] = []
        for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
            for other in sorted(self._chosen(selector), key=name_of):
                if name_of(other) == name_of(role):
                    continue
                for rule in other.get("rules") or ():
                    if rule not in seen:
                        seen.append(rule)
                        yield rule

    def _chosen(self, selector: JsonObject) -> Iterator[JsonObject]:
        required = selector_requirements(selector)
        for role in self._roles:
            if required is not None and matches_labels(
                required, role["metadata"].get("labels") or {}
            ):
                yield role
