"""One cluster or user of a kubeconfig, judged: data decoded, paths resolved, contradictions
refused."""

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import orjson

from lws.client.connection import (
    AuthenticationConfig,
    CertificateConfig,
    ExecPlugin,
    TlsConfig,
)
from lws.client.errors import KubeconfigError
from lws.client.kubeconfig_file import Cluster, Exec, User
from lws.client.proxies import is_address

EXEC_API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
EXEC_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands, for paths relative to the file and for messages."""

    file: Path
    path: str

    def at(self, field: str) -> str:
        """The path of a field of the entry."""
        return f"{self.path}.{field}"

    def error(self, field: str, message: str) -> KubeconfigError:
        """What is wrong with a field of the entry."""
        return KubeconfigError(message, file=str(self.file), field=self.at(field))

    def resolve(self, name: str) -> str:
        """A file named in the entry."""
        return str(self.file.parent / name) if name else ""

    def decode(self, field: str, text: str) -> bytes:
        """Base64 data of a field."""
        try:
            return base64.b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.error(field, "is not base64; encode the PEM text once") from error


def server_of(cluster: Cluster, place: Place) -> str:
    """The server's URL, which may have a path."""
    if not cluster.server:
        raise place.error("server", "is empty; give the API server's URL")
    if not is_address(cluster.server):
        raise place.error("server", f"{cluster.server!r} is no URL; give https://host:port")
    return cluster.server.rstrip("/")


def tls_of(cluster: Cluster, place: Place) -> TlsConfig:
    """How the server's certificate is checked."""
    authority = cluster.certificate_authority or cluster.certificate_authority_data
    if cluster.insecure_skip_tls_verify and authority:
        raise place.error(
            "insecure-skip-tls-verify",
            "contradicts certificate-authority; remove one of the two",
        )
    return TlsConfig(
        ca_file=place.resolve(cluster.certificate_authority),
        ca_data=place.decode("certificate-authority-data", cluster.certificate_authority_data),
        is_insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
    )


def authentication_of(
    user: User, place: Place, cluster: Cluster, cluster_place: Place
) -> AuthenticationConfig:
    """How we say who we are."""
    _check_one_method(user, place)
    return AuthenticationConfig(
        token=user.token,
        token_file=place.resolve(user.token_file),
        username=user.username,
        password=user.password,
        plugin=_plugin(user.exec, place, cluster, cluster_place) if user.exec else None,
        certificate=_certificate(user, place),
        impersonation=_impersonation(user, place),
    )


def _check_one_method(user: User, place: Place) -> None:
    if user.auth_provider is not None:
        raise place.error(
            "auth-provider",
            f"{user.auth_provider.name or 'it'} is gone from Kubernetes since 1.26;"
            " use the exec plugin of your provider",
        )
    methods = {
        "token": bool(user.token or user.token_file),
        "username": bool(user.username or user.password),
        "exec": user.exec is not None,
    }
    if len(chosen := [name for name, is_given in methods.items() if is_given]) > 1:
        raise place.error(chosen[1], f"contradicts {chosen[0]}; remove one of the two")


def _certificate(user: User, place: Place) -> CertificateConfig | None:
    has_certificate = bool(user.client_certificate or user.client_certificate_data)
    has_key = bool(user.client_key or user.client_key_data)
    if has_certificate != has_key:
        missing = "client-key" if has_certificate else "client-certificate"
        raise place.error(missing, "is missing; a certificate and its key go together")
    if not has_certificate:
        return None
    return CertificateConfig(
        certificate_file=place.resolve(user.client_certificate),
        certificate_data=place.decode("client-certificate-data", user.client_certificate_data),
        key_file=place.resolve(user.client_key),
        key_data=place.decode("client-key-data", user.client_key_data),
    )


def _impersonation(user: User, place: Place) -> tuple[tuple[str, str], ...]:
    """Headers by which the server lets one act as another."""
    if not user.as_user:
        if user.as_uid or user.as_groups or user.as_user_extra:
            raise place.error("as", "is empty; as-uid, as-groups and as-user-extra need it")
        return ()
    headers = [("Impersonate-User", user.as_user)]
    if user.as_uid:
        headers.append(("Impersonate-Uid", user.as_uid))
    headers += [("Impersonate-Group", group) for group in user.as_groups]
    for key, values in sorted(user.as_user_extra.items()):
        name = f"Impersonate-Extra-{quote(key.lower(), safe='')}"
        headers += [(name, value) for value in values]
    return tuple(headers)


def _plugin(plugin: Exec, place: Place, cluster: Cluster, cluster_place: Place) -> ExecPlugin:
    if not plugin.command:
        raise place.error("exec.command", "is empty; name the program that prints credentials")
    if plugin.api_version not in EXEC_API_VERSIONS:
        raise place.error(
            "exec.apiVersion",
            f"{plugin.api_version!r} is not known; use {' or '.join(EXEC_API_VERSIONS)}",
        )
    if plugin.interactive_mode not in ("", "Never", "IfAvailable"):
        raise place.error(
            "exec.interactiveMode",
            f"{plugin.interactive_mode!r} cannot be had, there is no terminal;"
            " use Never or IfAvailable",
        )
    is_relative = "/" in plugin.command
    return ExecPlugin(
        command=place.resolve(plugin.command) if is_relative else plugin.command,
        api_version=plugin.api_version,
        args=tuple(plugin.args),
        env=tuple((variable.name, variable.value) for variable in plugin.env),
        install_hint=plugin.install_hint,
        cluster_info=_cluster_info(cluster, cluster_place) if plugin.provide_cluster_info else b"",
    )


def _cluster_info(cluster: Cluster, place: Place) -> bytes:
    """What a plugin is told of the cluster, its own extension's data included."""
    given = [one.extension for one in cluster.extensions if one.name == EXEC_CLUSTER_EXTENSION]
    authority = cluster.certificate_authority_data
    if not authority and cluster.certificate_authority:
        authority = _file_as_base64(cluster.certificate_authority, place)
    fields = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": authority,
        "proxy-url": cluster.proxy_url,
        "disable-compression": cluster.disable_compression,
        "config": given[0] if given else None,
    }
    return orjson.dumps({name: value for name, value in fields.items() if value})


def _file_as_base64(name: str, place: Place) -> str:
    path = Path(place.resolve(name))
    try:
        return base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise place.error(
            "certificate-authority", f"{path} cannot be read: {error.strerror}"
        ) from error
