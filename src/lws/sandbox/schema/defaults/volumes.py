"""Volumes, claims and what is behind them."""

from collections.abc import Mapping

from lws.sandbox.schema.defaults.containers import pull_policy
from lws.sandbox.schema.defaults.words import (
    CORE,
    JsonObject,
    Setter,
    absent_filler,
    amounts_rounder,
    filler,
)

_MODE = 0o644


def _volume(volume: JsonObject) -> None:
    if not volume.keys() - {"name"}:
        volume["emptyDir"] = {}
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference", ""))


def _persistent_volume(volume: JsonObject) -> None:
    volume["status"].setdefault("phase", "Pending")
    spec = volume["spec"]
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")


def _claim(claim: JsonObject) -> None:
    claim["status"].setdefault("phase", "Pending")


_RBD = filler(pool="rbd", user="admin", keyring="/etc/ceph/keyring")
_SCALE_IO = filler(storageMode="ThinProvisioned", fsType="xfs")
_ISCSI = filler(iscsiInterface="default")

SETTERS: Mapping[str, Setter] = {
    f"{CORE}Volume": _volume,
    f"{CORE}HostPathVolumeSource": absent_filler(type=""),
    f"{CORE}SecretVolumeSource": absent_filler(defaultMode=_MODE),
    f"{CORE}ConfigMapVolumeSource": absent_filler(defaultMode=_MODE),
    f"{CORE}DownwardAPIVolumeSource": absent_filler(defaultMode=_MODE),
    f"{CORE}ProjectedVolumeSource": absent_filler(defaultMode=_MODE),
    f"{CORE}ServiceAccountTokenProjection": absent_filler(expirationSeconds=3600),
    f"{CORE}ISCSIVolumeSource": _ISCSI,
    f"{CORE}ISCSIPersistentVolumeSource": _ISCSI,
    f"{CORE}RBDVolumeSource": _RBD,
    f"{CORE}RBDPersistentVolumeSource": _RBD,
    f"{CORE}ScaleIOVolumeSource": _SCALE_IO,
    f"{CORE}ScaleIOPersistentVolumeSource": _SCALE_IO,
    f"{CORE}AzureDiskVolumeSource": absent_filler(
        cachingMode="ReadWrite", fsType="ext4", readOnly=False, kind="Shared"
    ),
    f"{CORE}PersistentVolume": _persistent_volume,
    f"{CORE}PersistentVolumeSpec": amounts_rounder("capacity"),
    f"{CORE}PersistentVolumeClaim": _claim,
    f"{CORE}PersistentVolumeClaimSpec": absent_filler(volumeMode="Filesystem"),
    f"{CORE}PersistentVolumeClaimStatus": amounts_rounder("capacity", "allocatedResources"),
    f"{CORE}VolumeResourceRequirements": amounts_rounder("limits", "requests"),
}
