"""A serving certificate in files, read again when they change."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog
from cryptography import x509

from lws.base.clock import Clock
from lws.base.errors import InvalidInput

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0  # two files are looked at; who waits for a certificate waits no longer than that

MIN_VERSIONS = {
    "": ssl.TLSVersion.TLSv1_2,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
CIPHER_SUITES = {  # Go's names, which people have in their configuration
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
}

Signature = tuple[tuple[int, int, int], ...]


class CertificateFiles:
    """`tls.crt` and `tls.key` of a directory, as a context for servers.

    Each reading makes a fresh context, because loading a pair that does not fit, as in the middle
    of a change, would leave a context in use with half of each. `context` hands every handshake
    over to the last one that was read well.
    """

    def __init__(
        self,
        *,
        cert_dir: Path | str,
        clock: Clock,
        min_version: str = "",
        cipher_suites: Sequence[str] = (),
        tell_expiry: Callable[[float], None] | None = None,
    ) -> None:
        """`tell_expiry` is called with the end (seconds since 1970) of each that is read."""
        self._files = (Path(cert_dir) / "tls.crt", Path(cert_dir) / "tls.key")
        self._clock = clock
        self._tell_expiry = tell_expiry
        self._min_version = _min_version(min_version)
        self._ciphers = _ciphers(cipher_suites, self._min_version)
        self._signature: Signature | None = None
        self._current: ssl.SSLContext | None = None
        self._loaded = asyncio.Event()
        self.context = self._fresh_context()
        self.context.sni_callback = self._hand_over

    @property
    def is_loaded(self) -> bool:
        """Is there a certificate to serve with?"""
        return self._current is not None

    async def loaded(self) -> None:
        """Wait for the first certificate."""
        await self._loaded.wait()

    async def run(self) -> None:
        """Look for changes until cancelled."""
        while True:
            self.reload_if_changed()
            await self._clock.sleep(LOOK_SECONDS)

    def reload_if_changed(self) -> bool:
        """Read the files if they are others than last time; a bad pair is passed over, and looked
        at again next time."""
        signature = self._look()
        if signature is None or signature == self._signature:
            return False
        fresh = self._fresh_context()
        try:
            fresh.load_cert_chain(*self._files)
        except (OSError, ssl.SSLError) as error:
            log.warning("certificate cannot be used", file=str(self._files[0]), error=str(error))
            return False
        self._signature = signature
        self._current = fresh
        self._loaded.set()
        log.info("certificate read", file=str(self._files[0]))
        expiry = _expiry(self._files[0])
        if expiry is not None and self._tell_expiry is not None:
            self._tell_expiry(expiry)
        return True

    def _look(self) -> Signature | None:
        try:
            stats = [file.stat() for file in self._files]
        except OSError:
            return None
        return tuple((stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in stats)

    def _fresh_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = self._min_version
        if self._ciphers:
            context.set_ciphers(self._ciphers)
        return context

    def _hand_over(
        self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext
    ) -> int | None:
        """Called in each handshake, with or without a name asked for."""
        del name
        if self._current is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._current
        return None


def _expiry(file: Path) -> float | None:
    """When the certificate ends; None if the file has just changed under us."""
    try:
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
    except (OSError, ValueError):
        return None
    return certificate.not_valid_after_utc.timestamp()


def _min_version(name: str) -> ssl.TLSVersion:
    try:
        return MIN_VERSIONS[name]
    except KeyError:
        known = ", ".join(version for version in MIN_VERSIONS if version)
        message = f"{name!r} is none of {known}"
        raise InvalidInput(field="tls.minVersion", message=message) from None


def _ciphers(names: Sequence[str], min_version: ssl.TLSVersion) -> str:
    """The suites as OpenSSL calls them; those of TLS 1.3 cannot be chosen."""
    if names and min_version is ssl.TLSVersion.TLSv1_3:
        raise InvalidInput(field="tls.cipherSuites", message="TLS 1.3 has no suites to choose from")
    unknown = [name for name in names if name not in CIPHER_SUITES]
    if unknown:
        raise InvalidInput(
            field="tls.cipherSuites",
            message=f"{', '.join(unknown)} unknown; known are {', '.join(CIPHER_SUITES)}",
        )
    return ":".join(CIPHER_SUITES[name] for name in names)
