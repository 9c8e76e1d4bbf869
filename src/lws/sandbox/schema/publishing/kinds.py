"""What is served, as the documents need it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.schema.tables import definition_names

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedKind:
    """One kind at one place."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    subresources: tuple[str, ...] = ()

    @property
    def is_custom(self) -> bool:
        """Is it a custom resource's?"""
        return (self.group, self.version, self.kind) not in definition_names()

    @property
    def root(self) -> str:
        """The path of its group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def group_version_kind(self) -> dict[str, str]:
        """As the documents name it."""
        return {"group": self.group, "kind": self.kind, "version": self.version}


def schema_name(kind: ServedKind) -> str:
    """The name of its schema in a document; custom kinds have their group backwards."""
    known = definition_names().get((kind.group, kind.version, kind.kind))
    return known or custom_name(kind.group, kind.version, kind.kind)


def custom_name(group: str, version: str, kind: str) -> str:
    """`io.x-k8s.leaderworkerset.v1.LeaderWorkerSet`."""
    return f"{'.'.join(reversed(group.split('.')))}.{version}.{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomVersion:
    """One served version of a definition."""

    group: str
    version: str
    kind: str
    list_kind: str
    plural: str
    schema: Mapping[str, Any]


def custom_versions(definitions: Sequence[Mapping[str, Any]]) -> Iterator[CustomVersion]:
    """All served versions."""
    for definition in definitions:
        spec = definition["spec"]
        names = spec["names"]
        for version in spec["versions"]:
            if version.get("served"):
                yield CustomVersion(
                    group=spec["group"],
                    version=version["name"],
                    kind=names["kind"],
                    list_kind=names.get("listKind") or f"{names['kind']}List",
                    plural=names["plural"],
                    schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
                )
