"""From a path to what it means."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lws.sandbox.server import status
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.registry import Registry


@dataclass(frozen=True, slots=True)
class Target:
    """A collection (no name), an object, or a part of one. None as namespace: all of them."""

    kind: Kind
    namespace: str | None
    name: str = ""
    subresource: str = ""


def target_of(path: str, registry: Registry) -> Target | None:
    """What a resource's path means; None for other paths, 404 for a kind that is not served."""
    if path.startswith("//"):
        return None
    parts = unquote(path).strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if rest[0] == "namespaces" and len(rest) > 2:
        target = _in_namespace(group, version, rest, registry)
        if target is not None:
            return target
    kind = registry.find(group, version, rest[0])
    if kind is None:
        return None
    return _checked(kind, None, rest[1:])


def _in_namespace(group: str, version: str, rest: list[str], registry: Registry) -> Target | None:
    kind = registry.find(group, version, rest[2])
    if kind is None or not kind.resource.namespaced:
        return None
    return _checked(kind, rest[1], rest[3:])


def _name_problems(name: str) -> Iterator[str]:
    if name in (".", ".."):
        yield f"may not be '{name}'"
    elif "%" in name:
        yield "may not contain '%'"


def _checked(kind: Kind, namespace: str | None, rest: list[str]) -> Target:
    if kind.resource.namespaced and namespace is None and rest:
        raise status.no_such_path()
    name = rest[0] if rest else ""
    for problem in _name_problems(name):
        raise status.bad_request(f'Name parameter invalid: "{name}": {problem}')
    subresource = rest[1] if len(rest) > 1 else ""
    if len(rest) > 2 or (rest and not name):
        raise status.no_such_path()
    return Target(kind, namespace if namespace is not None else None, name, subresource)
