"""A small blocking client of the Kubernetes API for tests: JSON in, JSON out.

Resources are named as kubectl does: `pods`, `statefulsets`, `leases.coordination.k8s.io`. Objects
name themselves by `apiVersion` and `kind`. Safe for several threads: each has its own connection.
"""

import contextlib
import http.client
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

Json = dict[str, Any]
PatchType = Literal["merge", "json", "strategic", "apply"]

_CONTENT_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_BROKEN = (http.client.HTTPException, OSError)


class ApiError(Exception):
    """An answer of the API server that is not a success."""

    def __init__(self, status: int, method: str, path: str, body: Json) -> None:
        """`body` is the Status object that came with it."""
        self.status = status
        self.reason: str = body.get("reason", "")
        self.message: str = body.get("message", "")
        self.body = body
        super().__init__(f"{method} {path}: {status} {self.reason}: {self.message}")


@dataclass(frozen=True)
class Resource:
    """One kind of object that the server serves."""

    group_version: str
    plural: str
    kind: str
    namespaced: bool

    def path(self, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
        """The path of the collection, an object or its subresource."""
        root = f"/apis/{self.group_version}" if "/" in self.group_version else "/api/v1"
        middle = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{middle}/{self.plural}{tail}"


class Kube:
    """Requests to one API server as one user."""

    def __init__(self, *, port: int, ca_file: Path, token: str) -> None:
        """No connection is opened before the first request."""
        self.port = port
        self._tls = ssl.create_default_context(cafile=str(ca_file))
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._local = threading.local()
        self._open: set[http.client.HTTPSConnection] = set()
        self._lock = threading.Lock()
        self._groups: dict[str, list[Resource]] = {}

    # Requests

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        """One request; the decoded answer, or `ApiError`. A GET that breaks is sent once more."""
        target = f"{path}?{urlencode(query)}" if query else path
        payload = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type}
        try:
            status, answer = self._exchange(method, target, payload, headers)
        except _BROKEN:
            if method != "GET":
                raise
            status, answer = self._exchange(method, target, payload, headers)
        decoded = _decode(answer)
        if status >= 400:
            raise ApiError(status, method, target, decoded)
        return decoded

    def _exchange(
        self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        connection = self._connection()
        try:
            connection.request(method, target, body=payload, headers=dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        except BaseException:  # also Ctrl-C: half an answer would be read as the next one's
            self._discard(connection)
            raise

    def connect(self, timeout: float | None = 60) -> http.client.HTTPSConnection:
        """A connection of the caller's own, which the caller closes."""
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self._tls, timeout=timeout
        )

    def _connection(self) -> http.client.HTTPSConnection:
        current: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if current is None or current not in self._open:
            current = self.connect()
            self._local.connection = current
            with self._lock:
                self._open.add(current)
        return current

    def _discard(self, connection: http.client.HTTPSConnection) -> None:
        connection.close()
        with self._lock:
            self._open.discard(connection)

    def close(self) -> None:
        """Close all connections; the next request opens a new one."""
        with self._lock:
            connections, self._open = self._open, set()
        for connection in connections:
            connection.close()

    @property
    def headers(self) -> Mapping[str, str]:
        """What a request on a connection of one's own has to carry."""
        return self._headers

    def is_ready(self) -> bool:
        """Does the server say that it is ready?"""
        with contextlib.suppress(*_BROKEN):
            connection = self.connect(timeout=2)
            try:
                connection.request("GET", "/readyz", headers=dict(self._headers))
                return connection.getresponse().status == 200
            finally:
                connection.close()
        return False

    # Names

    def resource(self, name: str) -> Resource:
        """Find `plural` or `plural.group`; a bare plural is sought in the usual groups first."""
        plural, _, group = name.partition(".")
        for candidate in [group] if group else self._group_names():
            for known in self._served(candidate):
                if known.plural == plural:
                    return known
        self._groups.clear()  # a definition may be new: never remember that one was missing
        raise LookupError(f"the server has no resource {name!r}")

    def resource_of(self, item: Mapping[str, Any]) -> Resource:
        """The resource of an object, by its `apiVersion` and `kind`."""
        version, kind = item["apiVersion"], item["kind"]
        for known in self._resources_of(version):
            if known.kind == kind:
                return known
        raise LookupError(f"the server has no {version} {kind}")

    def _group_names(self) -> list[str]:
        served = [group["name"] for group in self.request("GET", "/apis")["groups"]]
        first = ["", "apps", "batch", "policy"]  # sought even where a starting server is silent
        return first + [name for name in served if name not in first]

    def _served(self, group: str) -> list[Resource]:
        if group not in self._groups:
            version = "v1"
            if group:
                try:
                    answer = self.request("GET", f"/apis/{group}")
                except ApiError as problem:
                    if problem.status != 404:
                        raise
                    return []  # not remembered: it may come
                version = answer["preferredVersion"]["groupVersion"]
            self._groups[group] = self._resources_of(version)
        return self._groups[group]

    def _resources_of(self, version: str) -> list[Resource]:
        answer = self.request("GET", f"/apis/{version}" if "/" in version else "/api/v1")
        return [
            Resource(version, entry["name"], entry["kind"], entry["namespaced"])
            for entry in answer["resources"]
            if "/" not in entry["name"]
        ]

    # Objects

    def get(
        self, resource: str, name: str, namespace: str | None = None, *, subresource: str = ""
    ) -> Json:
        """One object."""
        return self.request("GET", self.resource(resource).path(namespace, name, subresource))

    def find(self, resource: str, name: str, namespace: str | None = None) -> Json | None:
        """One object, or None."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as problem:
            if problem.status == 404:
                return None
            raise

    def items(
        self, resource: str, namespace: str | None = None, *, selector: str | None = None
    ) -> list[Json]:
        """All objects of a namespace (or of all), by label selector."""
        return list(self.list_of(resource, namespace, selector=selector)["items"])

    def list_of(
        self, resource: str, namespace: str | None = None, *, selector: str | None = None
    ) -> Json:
        """The list with its metadata (resource version)."""
        query = {"labelSelector": selector} if selector else None
        return self.request("GET", self.resource(resource).path(namespace), query=query)

    def create(self, item: Mapping[str, Any], namespace: str | None = None) -> Json:
        """Create an object, in its own namespace or the one given."""
        path = self.resource_of(item).path(namespace or item["metadata"].get("namespace"))
        return self.request("POST", path, item)

    def replace(self, item: Mapping[str, Any], *, subresource: str = "") -> Json:
        """PUT an object whole."""
        meta = item["metadata"]
        path = self.resource_of(item).path(meta.get("namespace"), meta["name"], subresource)
        return self.request("PUT", path, item)

    def apply(
        self,
        item: Mapping[str, Any],
        namespace: str | None = None,
        *,
        manager: str = "test",
        force: bool = True,
        subresource: str = "",
    ) -> Json:
        """Server-side apply."""
        meta = item["metadata"]
        path = self.resource_of(item).path(
            namespace or meta.get("namespace"), meta["name"], subresource
        )
        query = {"fieldManager": manager, "force": "true" if force else "false"}
        return self.request("PATCH", path, item, query=query, content_type=_CONTENT_TYPES["apply"])

    def patch(
        self,
        resource: str,
        name: str,
        change: object,
        namespace: str | None = None,
        *,
        kind: PatchType = "merge",
        subresource: str = "",
    ) -> Json:
        """Patch an object or its subresource (`status`, `scale`)."""
        path = self.resource(resource).path(namespace, name, subresource)
        return self.request("PATCH", path, change, content_type=_CONTENT_TYPES[kind])

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        propagation: str | None = None,
        grace: int | None = None,
        uid: str | None = None,
    ) -> None:
        """Delete an object; that it is gone already is fine."""
        options = _delete_options(propagation=propagation, grace=grace, uid=uid)
        with _gone_is_fine():
            self.request("DELETE", self.resource(resource).path(namespace, name), options)

    def delete_all(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        grace: int | None = None,
        propagation: str | None = None,
    ) -> None:
        """Delete every object of a namespace."""
        options = _delete_options(propagation=propagation, grace=grace, uid=None)
        self.request("DELETE", self.resource(resource).path(namespace), options)


@contextlib.contextmanager
def _gone_is_fine() -> Iterator[None]:
    try:
        yield
    except ApiError as problem:
        if problem.status != 404:
            raise


def _delete_options(*, propagation: str | None, grace: int | None, uid: str | None) -> Json:
    options: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if propagation is not None:
        options["propagationPolicy"] = propagation
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if uid is not None:
        options["preconditions"] = {"uid": uid}
    return options


def _decode(answer: bytes) -> Json:
    try:
        decoded = json.loads(answer)
    except ValueError:
        return {"message": answer.decode(errors="replace")}
    return decoded if isinstance(decoded, dict) else {"value": decoded}
