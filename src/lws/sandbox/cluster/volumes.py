"""Claims: a volume for each that names a StorageClass, and none deleted while a pod uses it."""

import asyncio
from collections.abc import Iterable

from lws.client.resources import PODS
from lws.sandbox.cluster.absent import find
from lws.sandbox.cluster.context import (
    CLAIMS,
    CONTROLLERS,
    STORAGE_CLASSES,
    VOLUMES,
    Context,
)
from lws.sandbox.cluster.objects import (
    TERMINAL,
    annotations_of,
    finalizers_of,
    is_terminating,
    name_of,
    namespace_of,
    phase_of,
    place_of,
    status_of,
    uid_of,
    with_metadata,
    with_status,
)
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.verbs import JsonObject

CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
_BY_CLAIM = "claim"
Place = tuple[str, str]


class VolumeController:
    """Provisions, binds, releases and reclaims; every StorageClass is as good as another."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._claims = context.caches.of(CLAIMS)
        self._volumes = context.caches.of(VOLUMES)
        self._classes = context.caches.of(STORAGE_CLASSES)
        self._pods = context.caches.of(PODS)
        self._pods.index(_BY_CLAIM, _claim_keys)
        self.claims: Worker[Place] = Worker(context.clock, self._look_at_claim)
        self.volumes: Worker[str] = Worker(context.clock, self._look_at_volume)
        self._claims.on_change(self._claim_changed)
        self._classes.on_change(self._class_changed)
        self._volumes.on_change(self._volume_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.claims.run())
            group.create_task(self.volumes.run())

    # What is due

    def _claim_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        claim = new or old
        if claim is None:
            return
        self.claims.add(place_of(claim))
        if new is None and claim["spec"].get("volumeName"):
            self.volumes.add(claim["spec"]["volumeName"])

    def _class_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        del old
        for claim in self._claims if new is not None else ():
            self.claims.add(place_of(claim))

    def _volume_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        volume = new or old
        if volume is None:
            return
        self.volumes.add(name_of(volume))
        reference = volume["spec"].get("claimRef")
        if reference and reference.get("name"):
            self.claims.add((reference.get("namespace") or "", reference["name"]))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        is_over = new is None or (phase_of(new) in TERMINAL)
        if old is not None and is_over:
            for name in _claim_names(old):
                self.claims.add((namespace_of(old), name))

    # A claim

    async def _look_at_claim(self, place: Place) -> None:
        claim = self._claims.get(*place)
        if claim is None:
            return
        if is_terminating(claim):
            await self._let_go(claim)
        elif status_of(claim).get("phase") != "Bound":
            await self._bind(claim)

    async def _let_go(self, claim: JsonObject) -> None:
        if CLAIM_PROTECTION not in finalizers_of(claim) or self._is_used(claim):
            return
        left = [one for one in finalizers_of(claim) if one != CLAIM_PROTECTION]
        await self._api.update(
            CLAIMS,
            with_metadata(claim, finalizers=left or None),
            namespace=namespace_of(claim),
            caller=CONTROLLERS,
        )

    def _is_used(self, claim: JsonObject) -> bool:
        pods = self._pods.by(_BY_CLAIM, f"{namespace_of(claim)}/{name_of(claim)}")
        return any(phase_of(pod) not in TERMINAL and pod["spec"].get("nodeName") for pod in pods)

    async def _bind(self, claim: JsonObject) -> None:
        name = claim["spec"].get("volumeName")
        volume = find(self._api, VOLUMES, name=name) if name else await self._provision(claim)
        if volume is None:
            return
        if not name:
            claim = await self._name_volume(claim, name_of(volume))
        bound = with_status(
            claim,
            phase="Bound",
            accessModes=volume["spec"].get("accessModes"),
            capacity=volume["spec"].get("capacity"),
        )
        updated = await self._api.update(
            CLAIMS,
            bound,
            namespace=namespace_of(claim),
            subresource="status",
            caller=CONTROLLERS,
        )
        await self._claims.seen(updated)

    async def _provision(self, claim: JsonObject) -> JsonObject | None:
        """A volume made for the claim; None if it names no class that there is."""
        storage_class = self._classes.get("", claim["spec"].get("storageClassName") or "")
        if storage_class is None:
            return None
        name = f"pvc-{uid_of(claim)}"
        present = find(self._api, VOLUMES, name=name)
        if present is not None:
            return present
        spec = claim["spec"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {
                "name": name,
                "annotations": {"pv.kubernetes.io/provisioned-by": storage_class["provisioner"]},
            },
            "spec": {
                "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
                "capacity": (spec.get("resources") or {}).get("requests") or {},
                "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
                "storageClassName": name_of(storage_class),
                "volumeMode": spec.get("volumeMode") or "Filesystem",
                "claimRef": _reference(claim),
                "hostPath": {"path": f"/sandbox/{name}", "type": "DirectoryOrCreate"},
            },
        }
        return await self._api.create(VOLUMES, volume, caller=CONTROLLERS)

    async def _name_volume(self, claim: JsonObject, name: str) -> JsonObject:
        annotations = {
            **annotations_of(claim),
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
        }
        named = with_metadata(claim, annotations=annotations)
        named["spec"] = {**claim["spec"], "volumeName": name}
        updated = await self._api.update(
            CLAIMS, named, namespace=namespace_of(claim), caller=CONTROLLERS
        )
        await self._claims.seen(updated)
        return updated

    # A volume

    async def _look_at_volume(self, name: str) -> None:
        volume = self._volumes.get("", name)
        if volume is None:
            return
        phase = status_of(volume).get("phase")
        reference = volume["spec"].get("claimRef") or {}
        claim = self._claims.get(reference.get("namespace") or "", reference.get("name") or "")
        is_claimed = claim is not None and uid_of(claim) == reference.get("uid")
        if is_terminating(volume):
            if not is_claimed and VOLUME_PROTECTION in finalizers_of(volume):
                left = [one for one in finalizers_of(volume) if one != VOLUME_PROTECTION]
                changed = with_metadata(volume, finalizers=left or None)
                await self._api.update(VOLUMES, changed, caller=CONTROLLERS)
        elif is_claimed:
            if phase != "Bound":
                await self._set_phase(volume, "Bound")
        elif phase == "Bound":
            await self._set_phase(volume, "Released")
        elif phase == "Released" and _is_to_delete(volume):
            await self._api.delete(VOLUMES, name=name, caller=CONTROLLERS)
        elif phase in (None, "Pending") and not reference:
            await self._set_phase(volume, "Available")

    async def _set_phase(self, volume: JsonObject, phase: str) -> None:
        updated = await self._api.update(
            VOLUMES, with_status(volume, phase=phase), subresource="status", caller=CONTROLLERS
        )
        await self._volumes.seen(updated)


def _is_to_delete(volume: JsonObject) -> bool:
    policy: str = volume["spec"].get("persistentVolumeReclaimPolicy") or "Retain"
    return policy == "Delete"


def _reference(claim: JsonObject) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": name_of(claim),
        "namespace": namespace_of(claim),
        "uid": uid_of(claim),
        "resourceVersion": claim["metadata"]["resourceVersion"],
    }


def _claim_names(pod: JsonObject) -> Iterable[str]:
    for volume in pod["spec"].get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name:
            yield name


def _claim_keys(pod: JsonObject) -> Iterable[str]:
    return (f"{namespace_of(pod)}/{name}" for name in _claim_names(pod))
