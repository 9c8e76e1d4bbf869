"""What can go wrong between us and the API server, by what the caller does about it.

LwsError
└── ClientError
    ├── Normal                     the world moved on: look again and decide anew; nobody is told
    │   ├── NotFound               404
    │   ├── AlreadyExists          409, reason AlreadyExists
    │   ├── Conflict               409: resourceVersion, a precondition, or another field manager
    │   └── Expired                410, Gone and Expired, as answer or in a stream: list again
    ├── Retryable                  the same request may succeed later: back off, then try again
    │   ├── TooManyRequests        429
    │   ├── Unavailable            500, 502, 503, 504
    │   ├── TransportError         no whole answer: refused, reset, timeout, TLS, cut stream
    │   │   ├── SilentStream       nothing for so long that it may be dead, or just quiet: go on
    │   │   └── MalformedAnswer    an answer, but not the API server's language (a proxy's page)
    │   └── CredentialsError       no credential to be had now: token file, exec plugin
    └── TellUser                   the same request fails again until a person changes something
        ├── BadRequest             400
        ├── Unauthorized           401, after the credentials were refreshed once
        ├── Forbidden              403: rights, quota, or a namespace that is going away
        ├── RequestEntityTooLarge  413
        ├── Invalid                422, the fields in `causes`
        ├── Refused                any other answer that is not a success
        └── KubeconfigError        the connection's configuration is wrong; names file and field

Those with a number are ApiErrors too: the API server answered, and `status`, `reason`, `message`,
`causes` and `retry_after` say what.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lws.base.errors import LwsError


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason of several, as the server lists them; `field` is a path such as spec.replicas."""

    reason: str
    message: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class ClientError(LwsError):
    """Anything that kept a request from being answered as hoped."""


class Normal(ClientError):
    """The world moved on between our look and our request."""


class Retryable(ClientError):
    """The same request may succeed later."""


class TellUser(ClientError):
    """The same request fails again until a person changes something."""


class ApiError(ClientError):
    """The API server answered, and it was no success."""

    default_status: ClassVar[int] = 0

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        reason: str = "",
        causes: Sequence[Cause] = (),
        retry_after: float | None = None,
        request: str = "",
    ) -> None:
        self.status = self.default_status if status is None else status
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)
        self.retry_after = retry_after
        self.request = request
        words = [f"{request}:" if request else "", str(self.status or ""), reason]
        head = " ".join(word for word in words if word)
        super().__init__(": ".join(part for part in (head, message) if part))


class NotFound(ApiError, Normal):
    """There is no such object (or no such kind)."""

    default_status = 404


class AlreadyExists(ApiError, Normal):
    """An object of that name is there already."""

    default_status = 409


class Conflict(ApiError, Normal):
    """The object is not the one, or not the version, that the request was made for."""

    default_status = 409

    @property
    def is_apply_conflict(self) -> bool:
        """Is it that another field manager owns fields that we applied?"""
        return any(cause.reason == "FieldManagerConflict" for cause in self.causes)


class Expired(ApiError, Normal):
    """The resourceVersion or continue token is older than what the server remembers."""

    default_status = 410


class TooManyRequests(ApiError, Retryable):
    """The server sheds load; it did not start on the request."""

    default_status = 429


class Unavailable(ApiError, Retryable):
    """The server, its store or a webhook failed; a write may have happened all the same."""

    default_status = 503


class BadRequest(ApiError, TellUser):
    """The server could not read the request."""

    default_status = 400


class Unauthorized(ApiError, TellUser):
    """The server does not know who we are."""

    default_status = 401


class Forbidden(ApiError, TellUser):
    """The server knows who we are, and will not."""

    default_status = 403

    @property
    def is_quota(self) -> bool:
        """Is a ResourceQuota used up? Then waiting helps: others may free it."""
        return "exceeded quota" in self.message

    @property
    def is_namespace_terminating(self) -> bool:
        """Is the namespace going away? Then nothing new can be made in it, and need not be."""
        if any(cause.reason == "NamespaceTerminating" for cause in self.causes):
            return True
        return "because it is being terminated" in self.message


class RequestEntityTooLarge(ApiError, TellUser):
    """The object is larger than the server or its store takes."""

    default_status = 413


class Invalid(ApiError, TellUser):
    """The object breaks rules; `causes` name the fields."""

    default_status = 422


class Refused(ApiError, TellUser):
    """Any other answer that is not a success."""


class TransportError(Retryable):
    """No whole answer came; if `was_sent`, the server may have done what was asked."""

    def __init__(self, message: str, *, was_sent: bool = True) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class SilentStream(TransportError):
    """A stream brought nothing for long; watch again from where it was, nothing need be said."""


class MalformedAnswer(TransportError):
    """Something answered that does not speak the API server's language."""


class CredentialsError(Retryable):
    """No credential could be had; the message names the file or plugin and what to do."""


class KubeconfigError(TellUser):
    """The configuration of the connection is wrong."""

    def __init__(self, message: str, *, file: str = "", field: str = "") -> None:
        where = ": ".join(part for part in (file, field) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.file = file
        self.field = field
        self.message = message
