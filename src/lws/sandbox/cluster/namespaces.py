"""What every namespace has from the start: the ServiceAccount `default`."""

from lws.sandbox.cluster.context import CONTROLLERS, NAMESPACES, SERVICE_ACCOUNTS, Context
from lws.sandbox.cluster.objects import is_terminating, name_of, namespace_of
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

_DEFAULT = "default"


class NamespaceController:
    """Makes it in new namespaces, and again where somebody deletes it."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._namespaces = context.caches.of(NAMESPACES)
        self._accounts = context.caches.of(SERVICE_ACCOUNTS)
        self.worker: Worker[str] = Worker(context.clock, self._look_at, parallel=2)
        self._namespaces.on_change(self._namespace_changed)
        self._accounts.on_change(self._account_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _namespace_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is None and new is not None:
            self.worker.add(name_of(new))

    def _account_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None and old is not None and name_of(old) == _DEFAULT:
            self.worker.add(namespace_of(old))

    async def _look_at(self, name: str) -> None:
        namespace = self._namespaces.get("", name)
        if namespace is None or is_terminating(namespace):
            return
        if self._accounts.get(name, _DEFAULT) is not None:
            return
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": _DEFAULT, "namespace": name},
        }
        try:
            await self._api.create(SERVICE_ACCOUNTS, account, namespace=name, caller=CONTROLLERS)
        except ApiStatus as refusal:
            if refusal.code not in (403, 404, 409):  # it is there, or the namespace goes
                raise
