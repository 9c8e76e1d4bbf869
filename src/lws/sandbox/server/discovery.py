"""What is served: the older and the aggregated form, and the version."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from lws.sandbox.server.kinds import Kind, Subresource
from lws.sandbox.server.registry import Registry

JsonObject = dict[str, Any]

KUBERNETES_VERSION = (1, 36, 3)
"""Whose behaviour the sandbox has."""

_AGGREGATED = "apidiscovery.k8s.io"
_FIRST_GROUPS = (  # the order of a real server, which is that of kubectl api-resources
    "",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
)


def version() -> JsonObject:
    """What /version says; the build metadata tells a sandbox from the real one."""
    major, minor, patch = KUBERNETES_VERSION
    return {
        "major": str(major),
        "minor": str(minor),
        "emulationMajor": str(major),
        "emulationMinor": str(minor),
        "minCompatibilityMajor": str(major),
        "minCompatibilityMinor": str(minor - 1),
        "gitVersion": f"v{major}.{minor}.{patch}+lws-sandbox",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "none",
        "platform": "python",
    }


def _versions(registry: Registry) -> dict[str, dict[str, list[Kind]]]:
    groups: dict[str, dict[str, list[Kind]]] = {name: {} for name in _FIRST_GROUPS}
    for kind in registry.kinds():
        resource = kind.resource
        versions = groups.setdefault(resource.group, {})
        versions.setdefault(resource.version, []).append(kind)
    return {name: versions for name, versions in groups.items() if versions}


def _preferred(kinds: Mapping[str, Sequence[Kind]]) -> list[str]:
    """Versions of a group, the best first: v2, v1, v1beta2, v1alpha1."""
    return sorted(kinds, key=_rank, reverse=True)


def _rank(name: str) -> tuple[int, ...]:
    digits, stage = name[1:], 2
    for word, value in (("alpha", 0), ("beta", 1)):
        if word in digits:
            main, _, minor = digits.partition(word)
            return (value, _number(main), _number(minor))
    return (stage, _number(digits), 0)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def api_versions(address: str) -> JsonObject:
    """/api"""
    where = {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [where]}


def group_list(registry: Registry) -> JsonObject:
    """/apis"""
    groups = [_group(name, kinds) for name, kinds in _versions(registry).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(registry: Registry, name: str) -> JsonObject | None:
    """/apis/GROUP"""
    versions = _versions(registry).get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _group(name: str, kinds: Mapping[str, Sequence[Kind]]) -> JsonObject:
    versions = [{"groupVersion": f"{name}/{one}", "version": one} for one in _preferred(kinds)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(registry: Registry, group_name: str, version_name: str) -> JsonObject | None:
    """/api/v1, /apis/GROUP/VERSION"""
    kinds = _versions(registry).get(group_name, {}).get(version_name)
    if kinds is None:
        return None
    resources = [entry for kind in _sorted(kinds) for entry in _entries(kind)]
    head = {"kind": "APIResourceList"}
    if group_name:  # the oldest list does not say its version
        head["apiVersion"] = "v1"
    said = f"{group_name}/{version_name}" if group_name else version_name
    return {**head, "groupVersion": said, "resources": resources}


def _sorted(kinds: Iterable[Kind]) -> list[Kind]:
    """Built-in kinds by name, as the real server has them."""
    return sorted(kinds, key=lambda kind: (kind.is_custom, kind.resource.plural))


def _entries(kind: Kind) -> Iterable[JsonObject]:
    resource = kind.resource
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": kind.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    if "list" in kind.verbs:
        entry["storageVersionHash"] = _version_hash(kind)
    yield entry
    for name in _subresource_names(kind):
        yield _subresource_entry(kind, kind.subresources[name])


def _subresource_names(kind: Kind) -> Iterable[str]:
    return kind.subresources if kind.is_custom else sorted(kind.subresources)


def _subresource_entry(kind: Kind, one: Subresource) -> JsonObject:
    entry: JsonObject = {
        "name": f"{kind.resource.plural}/{one.name}",
        "singularName": "",
        "namespaced": kind.resource.namespaced,
    }
    if one.group:
        entry["group"], entry["version"] = one.group, one.version
    return {**entry, "kind": one.kind or kind.resource.kind, "verbs": list(one.verbs)}


def _version_hash(kind: Kind) -> str:
    group_name, version_name = kind.resource.group, kind.storage_version or kind.resource.version
    if kind.stored_as and group_name:
        group_name = ""
    if kind.resource.kind == "CustomResourceDefinition":
        version_name = "v1beta1"  # kept so for the sake of older servers
    text = f"{group_name}/{version_name}/{kind.resource.kind}"
    return b64encode(sha256(text.encode()).digest()[:8]).decode()


# The aggregated form: everything at once


def aggregated(registry: Registry, *, is_core: bool) -> JsonObject:
    """/api (the core group) or /apis (the others)."""
    items = [
        _aggregated_group(name, kinds)
        for name, kinds in _versions(registry).items()
        if (name == "") is is_core
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"{_AGGREGATED}/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_group(name: str, kinds: Mapping[str, Sequence[Kind]]) -> JsonObject:
    versions = [
        {
            "version": one,
            "resources": [_aggregated_resource(kind) for kind in _sorted(kinds[one])],
            "freshness": "Current",
        }
        for one in _preferred(kinds)
    ]
    metadata = {"name": name} if name else {}
    return {"metadata": metadata, "versions": versions}


def _aggregated_resource(kind: Kind) -> JsonObject:
    resource = kind.resource
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": _response_kind(kind, None),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    parts = [
        {
            "subresource": name,
            "responseKind": _response_kind(kind, kind.subresources[name]),
            "verbs": list(kind.subresources[name].verbs),
        }
        for name in _subresource_names(kind)
    ]
    if parts:
        entry["subresources"] = parts
    return entry


def _response_kind(kind: Kind, part: Subresource | None) -> JsonObject:
    if part is not None and part.kind:
        return {"group": part.group, "version": part.version, "kind": part.kind}
    if kind.is_custom:
        resource = kind.resource
        return {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {"group": "", "version": "", "kind": kind.resource.kind}


def wants_aggregated(accept: str) -> str:
    """The version of the aggregated form that the client takes first; empty: the older form."""
    for choice in accept.split(","):
        media, *rest = (piece.strip() for piece in choice.split(";"))
        parameters = dict(piece.partition("=")[::2] for piece in rest)
        if media in ("application/json", "*/*", ""):
            if parameters.get("g") != _AGGREGATED:
                return ""
            if parameters.get("v") in ("v2", "v2beta1"):
                return parameters["v"]
    return ""
