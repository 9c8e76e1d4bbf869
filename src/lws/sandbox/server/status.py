"""The refusals of an API server, in its own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lws.base.errors import LwsError

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of a Status's details.causes."""

    reason: str
    message: str
    field: str = ""

    def to_json(self) -> JsonObject:
        """As the Status has it; empty parts are left out."""
        parts = {"reason": self.reason, "message": self.message, "field": self.field}
        return {name: value for name, value in parts.items() if value}


@dataclass(frozen=True, slots=True)
class Subject:
    """Which object a refusal is about: details' name, group, kind (a plural, mostly) and uid."""

    group: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""

    @property
    def qualified(self) -> str:
        """`statefulsets.apps`; of the core group just `pods`."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ApiStatus(LwsError):
    """A refusal; `to_json` is the Status object that a client gets."""

    def __init__(
        self,
        message: str,
        *,
        code: int,
        reason: str = "",
        subject: Subject | None = None,
        causes: Sequence[Cause] = (),
        retry_after: int = 0,
        continue_token: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.subject = subject
        self.causes = tuple(causes)
        self.retry_after = retry_after
        self.continue_token = continue_token

    def to_json(self) -> JsonObject:
        """The Status object."""
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.continue_token} if self.continue_token else {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        details = self._details()
        if details is not None:
            status["details"] = details
        status["code"] = self.code
        return status

    def _details(self) -> JsonObject | None:
        if self.subject is None and not self.causes and not self.retry_after:
            return None
        subject = self.subject or Subject()
        details: JsonObject = {
            "name": subject.name,
            "group": subject.group,
            "kind": subject.kind,
            "uid": subject.uid,
        }
        details = {name: value for name, value in details.items() if value}
        if self.causes:
            details["causes"] = [cause.to_json() for cause in self.causes]
        if self.retry_after:
            details["retryAfterSeconds"] = self.retry_after
        return details


def success(subject: Subject) -> JsonObject:
    """The Status of a deletion that left nothing."""
    details = {
        "name": subject.name,
        "group": subject.group,
        "kind": subject.kind,
        "uid": subject.uid,
    }
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }


def bad_request(message: str) -> ApiStatus:
    """400: the request makes no sense."""
    return ApiStatus(message, code=400, reason="BadRequest")


def unauthorized() -> ApiStatus:
    """401: no token, or one that nobody has."""
    return ApiStatus("Unauthorized", code=401, reason="Unauthorized")


def forbidden(subject: Subject, why: str, causes: Sequence[Cause] = ()) -> ApiStatus:
    """403: roles or admission say no."""
    about = f'{subject.qualified} "{subject.name}"' if subject.name else subject.qualified
    message = f"{about} is forbidden: {why}" if about else f"forbidden: {why}"
    return ApiStatus(message, code=403, reason="Forbidden", subject=subject, causes=causes)


def not_found(subject: Subject) -> ApiStatus:
    """404: there is no such object."""
    message = f'{subject.qualified} "{subject.name}" not found'
    return ApiStatus(message, code=404, reason="NotFound", subject=subject)


def no_such_path() -> ApiStatus:
    """404: the server has nothing there."""
    return ApiStatus(
        "the server could not find the requested resource",
        code=404,
        reason="NotFound",
        subject=Subject(),
    )


def method_not_allowed() -> ApiStatus:
    """405: the kind does not have the verb."""
    message = "the server does not allow this method on the requested resource"
    return ApiStatus(message, code=405, reason="MethodNotAllowed", subject=Subject())


def not_acceptable(accepted: Sequence[str]) -> ApiStatus:
    """406: nothing that the client takes can be written."""
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return ApiStatus(message, code=406, reason="NotAcceptable")


def already_exists(subject: Subject) -> ApiStatus:
    """409: the name is taken."""
    message = f'{subject.qualified} "{subject.name}" already exists'
    return ApiStatus(message, code=409, reason="AlreadyExists", subject=subject)


def conflict(subject: Subject, why: str) -> ApiStatus:
    """409: the object is not what the client believed."""
    message = f'Operation cannot be fulfilled on {subject.qualified} "{subject.name}": {why}'
    return ApiStatus(message, code=409, reason="Conflict", subject=subject)


def modified(subject: Subject) -> ApiStatus:
    """409: somebody else was faster."""
    return conflict(
        subject,
        "the object has been modified; please apply your changes to the latest version and try"
        " again",
    )


def expired(message: str, *, continue_token: str = "") -> ApiStatus:
    """410 of a list or a continue token; another token to go on with, if there is one."""
    return ApiStatus(message, code=410, reason="Expired", continue_token=continue_token)


def too_old(asked: int, oldest: int) -> ApiStatus:
    """410 of a watch."""
    return expired(f"too old resource version: {asked} ({oldest})")


def too_large_body(limit: int) -> ApiStatus:
    """413: the body is longer than the server reads."""
    return ApiStatus(
        f"Request entity too large: limit is {limit}",
        code=413,
        reason="RequestEntityTooLarge",
    )


def unsupported_media_type(accepted: Sequence[str]) -> ApiStatus:
    """415: no such content type."""
    listed = ", ".join(accepted)
    return ApiStatus(
        "the body of the request was in an unknown format - accepted media types include: "
        f"{listed}",
        code=415,
        reason="UnsupportedMediaType",
    )


def invalid(subject: Subject, causes: Sequence[Cause]) -> ApiStatus:
    """422: fields of the object are wrong; `subject.kind` is the kind itself here."""
    all_lines = (f"{one.field}: {one.message}" if one.field else one.message for one in causes)
    lines = list(dict.fromkeys(all_lines))  # the causes may repeat themselves, the message does not
    said = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    message = f'{subject.qualified} "{subject.name}" is invalid: {said}'
    return ApiStatus(message, code=422, reason="Invalid", subject=subject, causes=causes)


def too_many_requests(message: str, *, retry_after: int, causes: Sequence[Cause] = ()) -> ApiStatus:
    """429: not now."""
    return ApiStatus(
        message, code=429, reason="TooManyRequests", retry_after=retry_after, causes=causes
    )


def internal(message: str) -> ApiStatus:
    """500: a webhook or the server itself failed."""
    return ApiStatus(
        f"Internal error occurred: {message}",
        code=500,
        reason="InternalError",
        causes=[Cause("", message)],
    )


def not_implemented(what: str) -> ApiStatus:
    """501: a real API server does this, the sandbox does not; see docs/limits.md."""
    return ApiStatus(
        f"the sandbox does not implement {what}; see docs/limits.md",
        code=501,
        reason="NotImplemented",
    )


def checked_version(version: object) -> str:
    """A resourceVersion in a body; 500, as the real server answers, if it is no number."""
    if not version:
        return ""
    text = str(version)
    if not (text.isascii() and text.isdecimal()):
        raise ApiStatus(f'strconv.ParseUint: parsing "{text}": invalid syntax', code=500)
    return "" if text == "0" else text


def too_large_version(asked: int, current: int) -> ApiStatus:
    """504: the client has seen a revision that is not there yet."""
    return ApiStatus(
        f"Timeout: Too large resource version: {asked}, current: {current}",
        code=504,
        reason="Timeout",
        causes=[Cause("ResourceVersionTooLarge", "Too large resource version")],
        retry_after=1,
    )
