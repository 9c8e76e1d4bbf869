"""TLS contexts: how the server is checked, and the certificate that we show."""

import ssl
import tempfile

from lws.base.clock import Clock
from lws.client.connection import TlsConfig
from lws.client.credentials import CertificatePair
from lws.client.errors import KubeconfigError
from lws.client.files import RotatedFile

_Key = tuple[bytes, CertificatePair | None]


class TlsContexts:
    """The context for the CA and certificate of the moment; a new one only when one of them
    changes, since connections are pooled by context."""

    def __init__(self, config: TlsConfig, *, clock: Clock) -> None:
        self._config = config
        self._ca_file = RotatedFile(config.ca_file, clock=clock) if config.ca_file else None
        self._key: _Key | None = None
        self._context: ssl.SSLContext | None = None

    def context(self, certificate: CertificatePair | None) -> ssl.SSLContext:
        """The context to connect with now. Certificate and key are two files and change one after
        the other; until they fit again, the last pair that did is used."""
        key = (self._authority(), certificate)
        if self._context is None or key != self._key:
            try:
                self._context = build_context(self._config, key[0], certificate)
            except KubeconfigError:
                if self._context is None:
                    raise
            self._key = key
        return self._context

    def _authority(self) -> bytes:
        if self._config.ca_data or self._ca_file is None:
            return self._config.ca_data
        return self._ca_file.read()


def build_context(
    config: TlsConfig, authority: bytes, certificate: CertificatePair | None
) -> ssl.SSLContext:
    """A context that trusts `authority` (PEM; if empty, what the system trusts).

    Checks as Go does, and so every other client of the cluster: a certificate given as authority
    is trusted whether or not it signed itself, and old CAs that lack key identifiers are taken.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if config.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _trust(context, authority, config)
    else:
        context.load_default_certs()
    if certificate is not None:
        _show(context, certificate)
    return context


def _trust(context: ssl.SSLContext, authority: bytes, config: TlsConfig) -> None:
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", errors="ignore"))
    except (ssl.SSLError, ValueError) as error:
        raise KubeconfigError(
            "holds no PEM certificate; give the cluster's CA",
            file=config.ca_file,
            field="certificate-authority",
        ) from error


def _show(context: ssl.SSLContext, pair: CertificatePair) -> None:
    """Python reads certificates only from files; these are ours alone and gone at once."""
    with tempfile.NamedTemporaryFile() as certificate, tempfile.NamedTemporaryFile() as key:
        certificate.write(pair.certificate)
        certificate.flush()
        key.write(pair.key)
        key.flush()
        try:
            context.load_cert_chain(certificate.name, key.name, password="")
        except (ssl.SSLError, ValueError) as error:
            raise KubeconfigError(
                "do not fit together, or are not PEM without a passphrase; give a pair that does",
                field="client-certificate and client-key",
            ) from error
