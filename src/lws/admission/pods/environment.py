"""Environment variables of containers."""

from collections.abc import Callable

from lws.admission.documents import JsonObject, items
from lws.admission.pods.member import Member, Rejected
from lws.api import names

CONTAINERS = ("containers", "initContainers")


def add_group_variables(spec: JsonObject, *, member: Member, group: str) -> None:
    """The variables of every container: first, and in the place of a user's own."""
    if not group:
        raise Rejected(f"pod {member.pod} has no label {names.GROUP_INDEX}")
    subdomain = spec.get("subdomain") or ""
    variables = {
        names.ENV_LEADER_ADDRESS: f"{member.lws}-{group}.{subdomain}.{member.namespace}",
        names.ENV_GROUP_SIZE: str(member.size),
        names.ENV_WORKER_INDEX: str(member.worker_index),
    }
    change_containers(spec, lambda container: with_first(container, variables))


def change_containers(spec: JsonObject, change: Callable[[JsonObject], JsonObject]) -> None:
    """Put `change` of each container in its place; a list in which nothing changed stays."""
    for kind in CONTAINERS:
        old = items(spec, kind)
        new = [change(container) if isinstance(container, dict) else container for container in old]
        if any(changed is not container for changed, container in zip(new, old, strict=True)):
            spec[kind] = new


def with_first(container: JsonObject, variables: dict[str, str]) -> JsonObject:
    """The container with these variables before all others."""
    rest = _without(container, variables)
    return _with_env(container, [*_entries(variables), *rest])


def with_last(container: JsonObject, variables: dict[str, str]) -> JsonObject:
    """The container with these variables after all others."""
    rest = _without(container, variables)
    return _with_env(container, [*rest, *_entries(variables)])


def find_variable(container: JsonObject, name: str) -> JsonObject | None:
    """The variable that counts: the last of that name."""
    for entry in reversed(items(container, "env")):
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    return None


def _entries(variables: dict[str, str]) -> list[JsonObject]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def _without(container: JsonObject, variables: dict[str, str]) -> list[object]:
    return [
        entry
        for entry in items(container, "env")
        if not (isinstance(entry, dict) and entry.get("name") in variables)
    ]


def _with_env(container: JsonObject, env: list[object]) -> JsonObject:
    return container if container.get("env") == env else {**container, "env": env}
