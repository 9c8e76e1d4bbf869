"""The audit log: a line for each request, as a real API server writes it at level Metadata.

A line is written before the answer is sent, so whoever has an answer finds its line. A watch has
two: one when it starts, one when it ends.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import orjson

from lws.base.clock import Clock
from lws.base.errors import InvalidInput
from lws.base.times import format_micro_time
from lws.client.requests import Request
from lws.sandbox.server.authentication.users import User, user_info
from lws.sandbox.server.metadata import new_uid
from lws.sandbox.server.parameters import Parameters
from lws.sandbox.server.paths import target_of
from lws.sandbox.server.registry import Registry
from lws.sandbox.server.status import ApiStatus

JsonObject = dict[str, Any]

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
_MANY = {"delete": "deletecollection", "get": "list"}


class AuditLog:
    """Appends to a file; only what `users` ask for, if some are named."""

    def __init__(self, path: Path, *, clock: Clock, users: Collection[str] = ()) -> None:
        self._path = path
        self._clock = clock
        self._users = frozenset(users)
        self._file: int | None = None

    def open(self) -> None:
        """The file, made if there is none; `InvalidInput` if it cannot be written."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, flags, 0o600)
        except OSError as error:
            message = f"{self._path} cannot be written: {error.strerror}"
            raise InvalidInput(field="--audit-log", message=message) from error

    def begin(
        self, request: Request, headers: Mapping[str, str], user: User, registry: Registry
    ) -> "Entry | None":
        """What is said of a request that has come in; None if it is nobody's business."""
        if self._users and user.name not in self._users:
            return None
        received = format_micro_time(self._clock.now())
        event: JsonObject = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": new_uid(self._clock),
            "stage": "",
            "requestURI": _uri(request),
            "verb": request.method.lower(),
            "user": user_info(user.name, user.groups, user.uid, user.extra),
            "userAgent": headers.get("user-agent", ""),
            **_target(request, registry),
            "requestReceivedTimestamp": received,
        }
        return Entry(self, event)

    def write(self, event: JsonObject) -> None:
        """One line, whole."""
        if self._file is None:
            self.open()
        assert self._file is not None, "it has just been opened"
        told = {**event, "stageTimestamp": format_micro_time(self._clock.now())}
        os.write(self._file, orjson.dumps(told) + b"\n")

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Entry:
    """One request on its way."""

    def __init__(self, log: AuditLog, event: JsonObject) -> None:
        self._log = log
        self._event = event

    def impersonates(self, user: User) -> None:
        """In whose name is it asked?"""
        info = user_info(user.name, user.groups, user.uid, user.extra)
        self._event["impersonatedUser"] = info

    def started(self) -> None:
        """The head of a watch is about to be sent."""
        self._tell("ResponseStarted", 200)

    def complete(self, code: int) -> None:
        """The answer is about to be sent; or a watch has ended."""
        self._tell("ResponseComplete", code)

    def _tell(self, stage: str, code: int) -> None:
        status = {"metadata": {}, "code": code}
        self._log.write({**self._event, "stage": stage, "responseStatus": status})


def _uri(request: Request) -> str:
    query = "&".join(f"{name}={value}" for name, value in request.query)
    return f"{request.path}?{query}" if query else request.path


def _target(request: Request, registry: Registry) -> JsonObject:
    """Verb and object, where the path is a resource's."""
    try:
        target = target_of(request.path, registry)
    except ApiStatus:
        return {}
    if target is None:
        return {}
    verb = _VERBS.get(request.method, request.method.lower())
    if not target.name:
        verb = _MANY.get(verb, verb)
    if verb == "list" and Parameters(request.query).flag("watch"):
        verb = "watch"
    resource = target.kind.resource
    parts = {
        "resource": resource.plural,
        "namespace": target.namespace or "",
        "name": target.name or _name_in(request),
        "apiGroup": resource.group,
        "apiVersion": resource.version,
        "subresource": target.subresource,
    }
    return {"verb": verb, "objectRef": {key: value for key, value in parts.items() if value}}


def _name_in(request: Request) -> str:
    """Of the object that is to be made."""
    if request.method != "POST" or not request.body:
        return ""
    try:
        return str(orjson.loads(request.body)["metadata"]["name"])
    except (ValueError, KeyError, TypeError):  # protobuf or YAML, a generated name, or nonsense
        return ""
