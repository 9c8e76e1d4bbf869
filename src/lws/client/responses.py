"""Answers as values, and what a refusal means. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from lws.client import errors
from lws.client.errors import ApiError, Cause, MalformedAnswer
from lws.client.requests import Request

JsonObject = dict[str, Any]

RETRY_AFTER_SECONDS_MAX = 60.0
"""An API server asks for seconds; a proxy that asks for hours would leave us blind for as long."""

MESSAGE_CHARACTERS_MAX = 1000  # an error goes to a condition or a log line, not to a file


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer; header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class StatusCause(msgspec.Struct, frozen=True):
    """One entry of a Status's details.causes."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(msgspec.Struct, frozen=True, rename="camel"):
    """The machine's half of a Status."""

    causes: list[StatusCause] | None = None
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """The API server's `Status` object: how it explains a refusal."""

    kind: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: StatusDetails | None = None


def decode_status(body: bytes | msgspec.Raw) -> Status | None:
    """The Status in a body, or None if it holds something else."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return status if status.kind == "Status" else None


def error_of(response: Response, request: Request | str = "") -> ApiError:
    """The error that an answer with no success in it stands for."""
    status = decode_status(response.body) or Status(message=_display(response.body))
    retry_after = retry_after_of(response)
    return error_of_status(status, code=response.status, retry_after=retry_after, request=request)


def error_of_status(
    status: Status,
    *,
    code: int | None = None,
    retry_after: float | None = None,
    request: Request | str = "",
) -> ApiError:
    """The error that a Status stands for, be it an answer's body or an event in a stream."""
    number = code or status.code or (410 if status.reason in ("Expired", "Gone") else 500)
    details = status.details or StatusDetails()
    if retry_after is None and details.retry_after_seconds > 0:
        retry_after = min(float(details.retry_after_seconds), RETRY_AFTER_SECONDS_MAX)
    return _error_class(number, status.reason)(
        _cut(status.message),
        status=number,
        reason=status.reason,
        causes=[Cause(one.reason, _cut(one.message), one.field) for one in details.causes or ()],
        retry_after=retry_after,
        request=str(request),
    )


def retry_after_of(response: Response) -> float | None:
    """Seconds of the Retry-After header, a minute at most; the form with a date is no API
    server's, and ignored."""
    value = response.headers.get("retry-after", "")
    if not (value.isdecimal() and value.isascii()):
        return None
    return min(float(value), RETRY_AFTER_SECONDS_MAX)


def decode_object(body: bytes) -> JsonObject:
    """The JSON object in a body."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedAnswer(f"not JSON ({error}): {_display(body)}") from error
    if not isinstance(value, dict):
        raise MalformedAnswer(f"not a JSON object: {_display(body)}")
    return value


_CLASSES: dict[int, type[ApiError]] = {
    400: errors.BadRequest,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    410: errors.Expired,
    413: errors.RequestEntityTooLarge,
    422: errors.Invalid,
    429: errors.TooManyRequests,
}


def _error_class(code: int, reason: str) -> type[ApiError]:
    if code == 409 and reason == "AlreadyExists":
        return errors.AlreadyExists
    if code >= 500:
        return errors.Unavailable
    return _CLASSES.get(code, errors.Refused)


def _display(body: bytes) -> str:
    """A body that nobody expected, fit for one line."""
    text = body[: 4 * MESSAGE_CHARACTERS_MAX].decode("utf-8", errors="replace")
    return _cut(" ".join(text.split()))


def _cut(text: str) -> str:
    if len(text) <= MESSAGE_CHARACTERS_MAX:
        return text
    return f"{text[:MESSAGE_CHARACTERS_MAX]}… ({len(text)} characters)"
