"""Which kinds are served, and where."""

from collections.abc import Iterable, Sequence

from lws.client.resources import Resource
from lws.sandbox.server.kinds import Kind


class Registry:
    """The served kinds: fixed ones, and those of custom resource definitions."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._by_path: dict[tuple[str, str, str], Kind] = {}
        self._by_kind: dict[tuple[str, str], Kind] = {}
        self._by_definition: dict[str, tuple[Kind, ...]] = {}
        self.generation = 0
        """Changes whenever a kind comes or goes; for whoever keeps something made of them."""
        for kind in kinds:
            self._add(kind)

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind behind a path."""
        return self._by_path.get((group, version, plural))

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind that an object names."""
        return self._by_kind.get((api_version, kind))

    def of(self, resource: Resource) -> Kind | None:
        """The kind that a caller in this process means."""
        return self.find(resource.group, resource.version, resource.plural)

    def kinds(self) -> Sequence[Kind]:
        """All of them, built-in ones first."""
        return list(self._by_path.values())

    def stored_kinds(self) -> Sequence[Kind]:
        """Those that can be listed, one for each place in the store."""
        seen: dict[str, Kind] = {}
        for kind in self._by_path.values():
            if "list" in kind.verbs:
                seen.setdefault(kind.storage, kind)
        return list(seen.values())

    def replace(self, definition: str, kinds: Sequence[Kind]) -> None:
        """What a custom resource definition serves from now on; nothing, if it is gone."""
        for kind in self._by_definition.pop(definition, ()):
            resource = kind.resource
            del self._by_path[resource.group, resource.version, resource.plural]
            del self._by_kind[resource.api_version, resource.kind]
        for kind in kinds:
            self._add(kind)
        if kinds:
            self._by_definition[definition] = tuple(kinds)
        self.generation += 1

    def _add(self, kind: Kind) -> None:
        resource = kind.resource
        self._by_path[resource.group, resource.version, resource.plural] = kind
        self._by_kind[resource.api_version, resource.kind] = kind
