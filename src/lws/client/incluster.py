"""The connection of a pod: its service account, at the address that the kubelet tells it."""

from collections.abc import Mapping
from pathlib import Path

from lws.client.connection import AuthenticationConfig, ConnectionConfig, TlsConfig
from lws.client.errors import KubeconfigError
from lws.client.proxies import proxy_for

SERVICE_ACCOUNT_DIRECTORY = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def is_in_cluster(environ: Mapping[str, str], directory: Path = SERVICE_ACCOUNT_DIRECTORY) -> bool:
    """Are we a pod with a service account?"""
    return bool(environ.get(_HOST) and environ.get(_PORT) and (directory / "token").is_file())


def in_cluster_config(
    environ: Mapping[str, str], directory: Path = SERVICE_ACCOUNT_DIRECTORY
) -> ConnectionConfig:
    """The connection; its token and CA are files, because the kubelet renews them."""
    token, authority = directory / "token", directory / "ca.crt"
    for file in (token, authority):
        if not file.is_file():
            raise KubeconfigError(
                "is not there; set automountServiceAccountToken, or give --kubeconfig",
                file=str(file),
            )
    server = f"https://{_bracketed(environ[_HOST])}:{environ[_PORT]}"
    return ConnectionConfig(
        server=server,
        namespace=_namespace(directory / "namespace"),
        tls=TlsConfig(ca_file=str(authority)),
        authentication=AuthenticationConfig(token_file=str(token)),
        proxy_url=proxy_for(server, environ),
        source="service account",
    )


def _bracketed(host: str) -> str:
    """An IPv6 address as a URL has it."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _namespace(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip() or "default"
    except (OSError, UnicodeDecodeError):
        return "default"
