"""A file that somebody else rotates: read again once in a while, and kept if it vanishes."""

from pathlib import Path

from lws.base.clock import Clock
from lws.client.errors import CredentialsError

REREAD_SECONDS = 60.0  # the kubelet renews a token when a fifth of its hour or more is left


class RotatedFile:
    """A file's content, at most a minute old."""

    def __init__(self, path: str, *, clock: Clock) -> None:
        self._path = Path(path)
        self._clock = clock
        self._content = b""
        self._read_at: float | None = None

    def read(self) -> bytes:
        """The content; CredentialsError if it was never readable."""
        now = self._clock.monotonic()
        if self._read_at is None or now - self._read_at >= REREAD_SECONDS:
            return self.read_anew()
        return self._content

    def read_anew(self) -> bytes:
        """The content as it is now. What was read before is better than nothing: a rotation may
        be under way."""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            if self._read_at is None:
                raise CredentialsError(
                    f"{self._path} cannot be read: {error.strerror}; make it readable"
                ) from error
        else:
            self._content = content or self._content
        self._read_at = self._clock.monotonic()
        if not self._content:
            raise CredentialsError(f"{self._path} is empty; write it anew")
        return self._content
