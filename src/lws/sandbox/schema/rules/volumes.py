"""Volumes of pods, and claims."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lws.api.quantities import parse_quantity
from lws.sandbox.schema.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lws.sandbox.schema.naming import dns_label, dns_subdomain
from lws.sandbox.schema.rules.containers import descending
from lws.sandbox.schema.rules.words import (
    Faults,
    Object,
    is_below,
    named,
    needed,
    selector,
    unchanged,
)

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File"),
    *("FileOrCreate", "Socket"),
)
# In the order in which the server looks; the first counts.
_SOURCES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret"),
    *("nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder"),
    *("cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile"),
    *("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos"),
    *("projected", "scaleIO", "csi", "ephemeral", "image"),
)


def volume_errors(volumes: Sequence[Object], path: str) -> tuple[list[FieldError], frozenset[str]]:
    """The faults, and the names of the volumes that have none."""
    faults: list[FieldError] = []
    good: set[str] = set()
    for index, one in enumerate(volumes):
        found = list(_volume(one, f"{path}[{index}]", good))
        if found:
            faults += found
        else:
            good.add(one["name"])
    return faults, frozenset(good)


def _volume(volume: Object, path: str, known: set[str]) -> Faults:
    yield from _source(volume, path)
    name = volume.get("name") or ""
    if not name:
        yield required(f"{path}.name")
    else:
        yield from named(dns_label, name, f"{path}.name")
    if name in known:
        yield duplicate(f"{path}.name", name)


def _source(volume: Object, path: str) -> Faults:
    given = [name for name in _SOURCES if volume.get(name) is not None]
    if not given:
        yield required(path, "must specify a volume type")
        return
    for name in given[1:]:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 volume type")
    check = _CHECKS.get(given[0])
    if check is not None:
        yield from check(volume[given[0]], f"{path}.{given[0]}")


def _config_map(source: Object, path: str) -> Faults:
    yield from _files(source, "name", path)


def _secret(source: Object, path: str) -> Faults:
    yield from _files(source, "secretName", path)


def _claim(source: Object, path: str) -> Faults:
    yield from needed(source, path, "claimName")


def _driver(source: Object, path: str) -> Faults:
    yield from needed(source, path, "driver")


def _empty(source: Object, path: str) -> Faults:
    if source.get("sizeLimit") and is_below(source["sizeLimit"]):
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _files(source: Object, name: str, path: str) -> Faults:
    if not source.get(name):
        yield required(f"{path}.{name}")
    yield from _mode(source, "defaultMode", path)
    for index, item in enumerate(source.get("items") or ()):
        here = f"{path}.items[{index}]"
        if not item.get("key"):
            yield required(f"{here}.key")
        if not item.get("path"):
            yield required(f"{here}.path")
        yield from _file_path(item.get("path") or "", f"{here}.path")
        yield from _mode(item, "mode", here)


def _file_path(value: str, path: str) -> Faults:
    yield from descending(value, path)
    if value.startswith("..") and not value.startswith("../"):
        yield invalid(path, value, "must not start with '..'")


def _mode(obj: Object, field: str, path: str) -> Faults:
    mode = obj.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{field}", mode, _MODE)


def _host_path(source: Object, path: str) -> Faults:
    if not source.get("path"):
        yield required(f"{path}.path")
        return
    if ".." in source["path"].split("/"):
        yield invalid(f"{path}.path", source["path"], "must not contain '..'")
    kind = source.get("type")
    if kind is not None and kind not in _PATH_TYPES:
        yield not_supported(f"{path}.type", kind, _PATH_TYPES)


def _nfs(source: Object, path: str) -> Faults:
    for field in ("server", "path"):
        if not source.get(field):
            yield required(f"{path}.{field}")
    if not (source.get("path") or "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path") or "", "must be an absolute path")


def _ephemeral(source: Object, path: str) -> Faults:
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield required(f"{path}.volumeClaimTemplate")
    else:
        yield from claim_spec_errors(template["spec"], f"{path}.volumeClaimTemplate.spec")


_CHECKS: Mapping[str, Callable[[Object, str], Faults]] = {
    "configMap": _config_map,
    "csi": _driver,
    "emptyDir": _empty,
    "ephemeral": _ephemeral,
    "hostPath": _host_path,
    "nfs": _nfs,
    "persistentVolumeClaim": _claim,
    "secret": _secret,
}


def claim_spec_errors(spec: Object, path: str) -> Faults:
    """A claim's spec; a template's too."""
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from selector(spec.get("selector"), f"{path}.selector")
    for mode in modes:
        if mode not in _ACCESS:
            yield not_supported(f"{path}.accessModes", mode, _ACCESS)
    if "ReadWriteOncePod" in modes and set(modes) & set(_ACCESS) != {"ReadWriteOncePod"}:
        words = "may not use ReadWriteOncePod with other access modes"
        yield forbidden(f"{path}.accessModes", words)
    yield from _storage(spec, f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        yield from named(dns_subdomain, spec["storageClassName"], f"{path}.storageClassName")
    mode = spec.get("volumeMode")
    if mode is not None and mode not in ("Block", "Filesystem"):
        yield not_supported(f"{path}.volumeMode", mode, ("Block", "Filesystem"))


def _storage(spec: Object, path: str) -> Faults:
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        yield required(path)
    elif parse_quantity(requests["storage"]) <= 0:
        yield invalid(path, requests["storage"], "must be greater than zero")


def claim_rules(obj: Object, old: Object | None) -> Faults:
    """PersistentVolumeClaim."""
    yield from claim_spec_errors(obj["spec"], "spec")
    if old is None:
        return
    new_spec, old_spec = _comparable(obj, old), dict(old["spec"])
    if new_spec != old_spec:
        yield forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and"
            " volumeAttributesClassName for bound claims",
        )
    yield from _shrinking(obj, old)
    if obj["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
        yield from unchanged(obj["spec"], old["spec"], "volumeMode")


def _comparable(obj: Object, old: Object) -> dict[str, Any]:
    """The new spec as if all that may change had not."""
    spec = dict(obj["spec"])
    if not old["spec"].get("volumeName") and spec.get("volumeName"):
        spec.pop("volumeName")
    if (obj.get("status") or {}).get("phase") == "Bound":
        requests: Mapping[str, str] = (old["spec"].get("resources") or {}).get("requests") or {}
        resources = dict(spec.get("resources") or {})
        resources["requests"] = {**(resources.get("requests") or {}), **requests}
        spec["resources"] = resources
        for field in ("volumeAttributesClassName",):
            spec.pop(field, None)
            if field in old["spec"]:
                spec[field] = old["spec"][field]
    return spec


def _shrinking(obj: Object, old: Object) -> Faults:
    sizes = [
        ((one["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0")
        for one in (obj, old)
    ]
    have = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    if is_below(sizes[0], sizes[1]) and not is_below(have, sizes[0]):
        yield forbidden(
            "spec.resources.requests.storage", "field can not be less than status.capacity"
        )
