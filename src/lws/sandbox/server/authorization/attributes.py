"""What is asked, as rules speak of it; read from a request's path, before anything is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from lws.client.requests import Request
from lws.sandbox.server.parameters import Parameters
from lws.sandbox.server.status import ApiStatus, Subject, forbidden

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_SPECIAL_VERBS = ("proxy", "watch")  # of the old paths, which say it before the resource
_NAMESPACE_PARTS = ("status", "finalize")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """One thing that somebody wants to do: to a resource, or (with `path`) to another path."""

    user: str
    groups: Sequence[str] = ()
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def whole_resource(self) -> str:
        """`pods`, `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def words(self) -> str:
        """What cannot be done, as the refusal says it."""
        if self.path:
            return f'User "{self.user}" cannot {self.verb} path "{self.path}"'
        where = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        return (
            f'User "{self.user}" cannot {self.verb} resource "{self.whole_resource}" in API group'
            f' "{self.group}" {where}'
        )


def refusal(asked: Attributes, reason: str) -> ApiStatus:
    """403, in the real server's words."""
    subject = Subject() if asked.path else Subject(asked.group, asked.resource, asked.name)
    return forbidden(subject, f"{asked.words}: {reason}" if reason else asked.words)


def attributes_of(request: Request, *, user: str, groups: Sequence[str]) -> Attributes:
    """What a request asks for; whether there is such a thing is not asked here."""
    path = unquote(request.path)
    parts = _resource_parts(path)
    if parts is None:
        return Attributes(user=user, groups=groups, verb=request.method.lower(), path=path or "/")
    group, version, rest = parts
    verb = _VERBS.get(request.method, "")
    if rest[0] in _SPECIAL_VERBS and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace, rest = _namespaced(rest)
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    if not name:
        verb, name = _of_collection(verb, request)
    return Attributes(
        user=user,
        groups=groups,
        verb=verb,
        group=group,
        version=version,
        resource=rest[0],
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


def _resource_parts(path: str) -> tuple[str, str, list[str]] | None:
    """Group, version and the rest of a resource's path; None of another path."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        return "", parts[1], parts[2:]
    if parts[0] == "apis" and len(parts) > 3:
        return parts[1], parts[2], parts[3:]
    return None


def _namespaced(rest: list[str]) -> tuple[str, list[str]]:
    """The namespace, and what follows it; a Namespace itself is in the namespace that it is."""
    if rest[0] != "namespaces" or len(rest) == 1:
        return "", rest
    is_inside = len(rest) > 2 and rest[2] not in _NAMESPACE_PARTS
    return rest[1], rest[2:] if is_inside else rest


def _of_collection(verb: str, request: Request) -> tuple[str, str]:
    """The verb on many; and the name, if a selector leaves only one."""
    if verb == "delete":
        return "deletecollection", ""
    if verb not in ("get", "watch"):
        return verb, ""
    query = Parameters(request.query)
    is_watch = verb == "watch" or query.flag("watch")
    return "watch" if is_watch else "list", _selected_name(query.text("fieldSelector"))


def _selected_name(selector: str) -> str:
    """What `metadata.name=x` says; whether the rest makes sense, the list itself finds out."""
    for term in selector.split(","):
        field, _, value = term.partition("=")
        if field == "metadata.name" and value.removeprefix("="):
            return value.removeprefix("=")
    return ""
