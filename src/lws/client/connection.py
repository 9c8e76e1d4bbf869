"""Where the API server is and who we are to it, as a value. Secrets never show in a repr."""

from dataclasses import dataclass, field

IN_CLUSTER_NAMESPACE_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """How the server's certificate is checked; data goes before a file."""

    ca_file: str = ""
    ca_data: bytes = b""
    is_insecure: bool = False
    server_name: str = ""  # the name to expect instead of the address's host


@dataclass(frozen=True, slots=True)
class CertificateConfig:
    """A client certificate and its key, each as PEM or as a file that is read again."""

    certificate_file: str = ""
    certificate_data: bytes = b""
    key_file: str = ""
    key_data: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A program that prints credentials."""

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    install_hint: str = ""
    cluster_info: bytes = b""  # JSON for the plugin's spec.cluster; empty if it is not told


@dataclass(frozen=True, slots=True)
class AuthenticationConfig:
    """How we say who we are: at most one of token (or file), password and plugin, and perhaps a
    certificate. `impersonation` are headers that ask to act as somebody else."""

    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    plugin: ExecPlugin | None = None
    certificate: CertificateConfig | None = None
    impersonation: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectionConfig:
    """All that a transport needs to know; `source` says where it was read, for messages."""

    server: str
    namespace: str = IN_CLUSTER_NAMESPACE_DEFAULT
    tls: TlsConfig = TlsConfig()
    authentication: AuthenticationConfig = AuthenticationConfig()
    proxy_url: str = ""
    is_compressed: bool = True
    source: str = ""
