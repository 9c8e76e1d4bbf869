"""What users do to a cluster, with their own sets and with what belongs to them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lws.api import names
from lws.client import resources
from lws.client.requests import PatchType, Propagation
from lws.client.resources import Resource
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, DeleteOptions, Verbs
from lws.simulation.chance import Chance
from lws.simulation.wishes import (
    NAMESPACE,
    Manifest,
    changed_roles,
    changed_set,
    new_roles,
    new_set,
)

USER = Caller(user="user", field_manager="kubectl")
SETS = ("alpha", "beta")
ROLES = ("chat",)
OWNED = (
    resources.PODS,
    resources.PODS,
    resources.STATEFULSETS,
    resources.SERVICES,
    resources.CONTROLLERREVISIONS,
)
KINDS = {names.KIND: resources.LEADERWORKERSETS, names.DS_KIND: resources.DISAGGREGATEDSETS}
FOREIGN_LABEL = "simulation/foreign"


class Users:
    """Each act is drawn; what is refused is as if it had not been tried."""

    def __init__(self, api: Verbs, chance: Chance, tell: Callable[[str], None]) -> None:
        self._api = api
        self._chance = chance
        self._tell = tell
        self._wishes: dict[str, Manifest] = {}
        self._acts: dict[Callable[[], Awaitable[str]], float] = {
            self._create: 3.0,
            self._change: 8.0,
            self._delete_set: 0.7,
            self._delete_owned: 3.0,
            self._edit_owned: 1.5,
            self._foreign: 0.7,
            self._malformed: 0.5,
        }

    async def begin(self) -> None:
        """Something to start with."""
        for _ in range(2):
            await self._try(self._create)

    async def act(self) -> None:
        """One thing."""
        await self._try(self._chance.weighted(self._acts))

    async def _try(self, what: Callable[[], Awaitable[str]]) -> None:
        try:
            self._tell(await what())
        except ApiStatus as refusal:
            self._tell(f"{what.__name__.strip('_')} refused: {refusal.message[:120]}")

    # Their own sets

    async def _create(self) -> str:
        absent = [name for name in (*SETS, *ROLES) if name not in self._wishes]
        if not absent:
            return await self._change()
        name = self._chance.one_of(absent)
        make = new_roles if name in ROLES else new_set
        manifest = make(self._chance, name)
        await self._create_object(KINDS[manifest["kind"]], manifest)
        self._wishes[name] = manifest
        return f"create {name}: {_summary(manifest)}"

    async def _change(self) -> str:
        if not self._wishes:
            return await self._create()
        name = self._chance.one_of(list(self._wishes))
        old = self._wishes[name]
        changed = (changed_roles if name in ROLES else changed_set)(self._chance, old)
        await self._replace_spec(KINDS[changed["kind"]], name, changed["spec"])
        self._wishes[name] = changed
        return f"change {name}: {_summary(changed)}"

    async def _delete_set(self) -> str:
        if not self._wishes:
            return "nothing to delete"
        name = self._chance.one_of(list(self._wishes))
        propagation = self._chance.one_of((Propagation.BACKGROUND, Propagation.FOREGROUND))
        manifest = self._wishes.pop(name)
        await self._delete(KINDS[manifest["kind"]], name, propagation)
        return f"delete {name} ({propagation.value})"

    async def settle(self) -> None:
        """Leave nothing half wished: no pause, no foreign object in the way."""
        for name, manifest in self._wishes.items():
            manifest["spec"].pop("paused", None)
            for role in manifest["spec"].get("roles", ()):
                role["spec"].pop("paused", None)
            await self._quietly(self._replace_spec(KINDS[manifest["kind"]], name, manifest["spec"]))
        for resource in (resources.SERVICES, resources.STATEFULSETS, resources.PODS):
            for obj in self._list(resource):
                if FOREIGN_LABEL in (obj["metadata"].get("labels") or {}):
                    await self._quietly(self._delete(resource, obj["metadata"]["name"]))

    async def delete_all(self) -> None:
        """Every set."""
        for name in list(self._wishes):
            manifest = self._wishes.pop(name)
            await self._quietly(self._delete(KINDS[manifest["kind"]], name))

    # What belongs to the sets

    async def _delete_owned(self) -> str:
        resource = self._chance.one_of(OWNED)
        found = [obj for obj in self._list(resource) if _is_ours(obj)]
        if not found:
            return f"no {resource.plural} to delete"
        name = self._chance.one_of(found)["metadata"]["name"]
        seconds = None if self._chance.happens(0.7) else 0
        options = DeleteOptions(grace_period_seconds=seconds)
        await self._api.delete(
            resource, name=name, namespace=NAMESPACE, options=options, caller=USER
        )
        return f"delete {resource.plural}/{name}{'' if seconds is None else ' at once'}"

    async def _edit_owned(self) -> str:
        found = [obj for obj in self._list(resources.STATEFULSETS) if _is_ours(obj)]
        if not found:
            return "no statefulset to edit"
        name = self._chance.one_of(found)["metadata"]["name"]
        patch: dict[str, Any] = self._chance.one_of(
            (
                {"spec": {"replicas": self._chance.integer(0, 5)}},
                {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}},
                {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}},
                {"metadata": {"annotations": {names.REPLICAS: "many", names.PARTITION: "x"}}},
                {"metadata": {"labels": {names.REVISION_KEY: "nonsense"}}},
            )
        )
        await self._merge(resources.STATEFULSETS, name, patch)
        return f"edit statefulsets/{name}: {patch}"

    # What is nobody's

    async def _foreign(self) -> str:
        """Something stands where one of ours would be."""
        name = self._chance.one_of(SETS)
        name = name if self._chance.happens(0.5) else f"{name}-{self._chance.integer(0, 3)}"
        metadata = {"name": name, "namespace": NAMESPACE, "labels": {FOREIGN_LABEL: "yes"}}
        await self._create_object(
            resources.SERVICES,
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": metadata,
                "spec": {"ports": [{"port": 80}], "selector": {"app": "other"}},
            },
        )
        return f"foreign services/{name}"

    async def _malformed(self) -> str:
        """A pod that carries our labels, and no sense."""
        name = f"stray-{self._chance.integer(0, 1)}"
        labels = {
            FOREIGN_LABEL: "yes",
            names.NAME: self._chance.one_of((*SETS, "nobody")),
            names.GROUP_INDEX: self._chance.one_of(("0", "-1", "many")),
            names.WORKER_INDEX: self._chance.one_of(("1", "x")),
        }
        metadata = {
            "name": name,
            "namespace": NAMESPACE,
            "labels": labels,
            "annotations": {names.SIZE: self._chance.one_of(("2", "banana"))},
        }
        spec = {"containers": [{"name": "serve", "image": "stray:1"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        await self._create_object(resources.PODS, pod)
        return f"stray pod {name} {labels}"

    # How

    def _list(self, resource: Resource) -> Sequence[Manifest]:
        return self._api.list(resource, namespace=NAMESPACE).items

    async def _create_object(self, resource: Resource, obj: Manifest) -> None:
        await self._api.create(resource, obj, namespace=NAMESPACE, caller=USER)

    async def _replace_spec(self, resource: Resource, name: str, spec: Manifest) -> None:
        live = self._api.get(resource, name=name, namespace=NAMESPACE)
        await self._api.update(
            resource, {**live, "spec": spec}, name=name, namespace=NAMESPACE, caller=USER
        )

    async def _merge(self, resource: Resource, name: str, patch: Manifest) -> None:
        await self._api.patch(
            resource,
            patch,
            patch_type=PatchType.MERGE,
            name=name,
            namespace=NAMESPACE,
            caller=USER,
        )

    async def _delete(
        self, resource: Resource, name: str, propagation: Propagation | None = None
    ) -> None:
        await self._api.delete(
            resource,
            name=name,
            namespace=NAMESPACE,
            options=DeleteOptions(propagation=propagation),
            caller=USER,
        )

    async def _quietly(self, work: Awaitable[None]) -> None:
        try:
            await work
        except ApiStatus as refusal:
            self._tell(f"refused: {refusal.message[:120]}")


def _is_ours(obj: Manifest) -> bool:
    labels = obj["metadata"].get("labels") or {}
    return FOREIGN_LABEL not in labels and (names.NAME in labels or names.DS_NAME in labels)


def _summary(manifest: Manifest) -> str:
    specs = [manifest["spec"], *(role["spec"] for role in manifest["spec"].get("roles", ()))]
    parts = []
    for spec in specs:
        template = spec.get("leaderWorkerTemplate")
        if template is not None:
            image = template["workerTemplate"]["spec"]["containers"][0]["image"]
            strategy = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
            parts.append(
                f"{spec['replicas']}x{template['size']} {image} {strategy} "
                f"{template.get('restartPolicy', '')}{' paused' if spec.get('paused') else ''}"
            )
    return "; ".join(parts)
