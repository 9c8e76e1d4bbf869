"""What we show the API server to say who we are, kept fresh."""

import base64
from dataclasses import dataclass, field
from typing import Protocol

from lws.base.clock import Clock
from lws.client.connection import AuthenticationConfig, CertificateConfig
from lws.client.errors import CredentialsError
from lws.client.files import RotatedFile


@dataclass(frozen=True, slots=True)
class CertificatePair:
    """A client certificate (chain) and its key, PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Credential:
    """What goes with one request: the Authorization header's value, a certificate, or both."""

    authorization: str = field(default="", repr=False)
    certificate: CertificatePair | None = None


class Credentials(Protocol):
    """Where a transport gets its credential from."""

    async def current(self) -> Credential:
        """The credential to use now; CredentialsError if there is none to be had."""
        ...

    async def renew(self, rejected: Credential, /) -> Credential:
        """The server said 401 to this one: another, or the same if there is no other."""
        ...


class ConfiguredCredentials:
    """Token, password and certificate as configured, files read again."""

    def __init__(self, config: AuthenticationConfig, *, clock: Clock) -> None:
        self._config = config
        self._token_file = (
            RotatedFile(config.token_file, clock=clock) if config.token_file else None
        )
        self._certificate = (
            _CertificateSource(config.certificate, clock=clock) if config.certificate else None
        )

    async def current(self) -> Credential:
        """What is configured, files not older than a minute."""
        return self._credential(is_anew=False)

    async def renew(self, _rejected: Credential, /) -> Credential:
        """The files as they are now."""
        return self._credential(is_anew=True)

    def _credential(self, *, is_anew: bool) -> Credential:
        pair = self._certificate.pair(is_anew=is_anew) if self._certificate else None
        return Credential(self._authorization(is_anew=is_anew), pair)

    def _authorization(self, *, is_anew: bool) -> str:
        """The token file goes before the token, which may be the copy that somebody forgot."""
        config = self._config
        if self._token_file is not None:
            return bearer(_content(self._token_file, is_anew=is_anew), source=config.token_file)
        if config.token:
            return bearer(config.token.encode(), source="the token")
        if config.username or config.password:
            pair = f"{config.username}:{config.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
        return ""


class _CertificateSource:
    """Certificate and key, each from data or from a file."""

    def __init__(self, config: CertificateConfig, *, clock: Clock) -> None:
        self._config = config
        self._files = {
            path: RotatedFile(path, clock=clock)
            for path in (config.certificate_file, config.key_file)
            if path
        }

    def pair(self, *, is_anew: bool) -> CertificatePair:
        config = self._config
        return CertificatePair(
            self._part(config.certificate_data, config.certificate_file, is_anew=is_anew),
            self._part(config.key_data, config.key_file, is_anew=is_anew),
        )

    def _part(self, data: bytes, path: str, *, is_anew: bool) -> bytes:
        return data or _content(self._files[path], is_anew=is_anew)


def bearer(token: bytes, *, source: str) -> str:
    """The header's value for a token; a token that would break the header is refused."""
    text = token.decode("utf-8", errors="replace").strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise CredentialsError(f"{source} holds no bearer token; write it anew")
    return f"Bearer {text}"


def _content(file: RotatedFile, *, is_anew: bool) -> bytes:
    return file.read_anew() if is_anew else file.read()
