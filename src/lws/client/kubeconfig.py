"""Which cluster, and as whom: kubeconfig files merged and judged, or the pod's service account.

Reads files, so that everything wrong with them is said at the start and not at the first request.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from lws.client.connection import ConnectionConfig
from lws.client.errors import KubeconfigError
from lws.client.incluster import SERVICE_ACCOUNT_DIRECTORY, in_cluster_config, is_in_cluster
from lws.client.kubeconfig_entries import Place, authentication_of, server_of, tls_of
from lws.client.kubeconfig_file import (
    Cluster,
    Context,
    KubeconfigFile,
    User,
    read_kubeconfig_file,
)
from lws.client.proxies import check_proxy, proxy_for

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[_T]):
    """A named entry, and where it is from."""

    value: _T
    place: Place


@dataclass(slots=True)
class Merged:
    """Several files as one: of two entries with one name, the first file's counts whole."""

    files: list[str] = field(default_factory=list)
    clusters: dict[str, Entry[Cluster]] = field(default_factory=dict)
    users: dict[str, Entry[User]] = field(default_factory=dict)
    contexts: dict[str, Entry[Context]] = field(default_factory=dict)
    current_context: str = ""

    @property
    def title(self) -> str:
        return os.pathsep.join(self.files)


def load_config(
    *,
    kubeconfig: str | None,
    context: str | None,
    environ: Mapping[str, str],
    service_account: Path = SERVICE_ACCOUNT_DIRECTORY,
) -> ConnectionConfig:
    """The connection: of `kubeconfig`, else $KUBECONFIG, else the pod's, else ~/.kube/config.

    A context can only be one of a file, so who asks for one is not given the pod's.
    """
    if kubeconfig:
        return _from_files([Path(kubeconfig)], context, environ)
    if listed := [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]:
        present = [path for path in listed if path.exists()]
        return _from_files(present or listed, context, environ)
    if not context and is_in_cluster(environ, service_account):
        return in_cluster_config(environ, service_account)
    home = Path(environ.get("HOME") or "~").expanduser() / ".kube" / "config"
    if not home.exists():
        raise KubeconfigError(
            "no cluster is configured: not in a pod, and no such file;"
            " give --kubeconfig or set KUBECONFIG",
            file=str(home),
        )
    return _from_files([home], context, environ)


def merge(files: Iterable[tuple[Path, KubeconfigFile]]) -> Merged:
    """The files as one, the first with the last word."""
    merged = Merged()
    for path, file in files:
        merged.files.append(str(path))
        merged.current_context = merged.current_context or file.current_context
        for cluster in file.clusters:
            place = Place(path, f"clusters[{cluster.name}].cluster")
            merged.clusters.setdefault(cluster.name, Entry(cluster.cluster, place))
        for user in file.users:
            place = Place(path, f"users[{user.name}].user")
            merged.users.setdefault(user.name, Entry(user.user, place))
        for context in file.contexts:
            place = Place(path, f"contexts[{context.name}].context")
            merged.contexts.setdefault(context.name, Entry(context.context, place))
    return merged


def connection_of(
    merged: Merged, context: str | None, environ: Mapping[str, str]
) -> ConnectionConfig:
    """The connection of one context, or of the current one."""
    name, chosen = _context(merged, context)
    cluster = _referred(merged.clusters, chosen, "cluster", chosen.value.cluster)
    server = server_of(cluster.value, cluster.place)
    proxy = cluster.value.proxy_url
    authentication = None
    if chosen.value.user:
        user = _referred(merged.users, chosen, "user", chosen.value.user)
        authentication = authentication_of(user.value, user.place, cluster.value, cluster.place)
    config = ConnectionConfig(
        server=server,
        namespace=chosen.value.namespace or "default",
        tls=tls_of(cluster.value, cluster.place),
        proxy_url=check_proxy(
            proxy, file=str(cluster.place.file), field=cluster.place.at("proxy-url")
        )
        if proxy
        else proxy_for(server, environ),
        is_compressed=not cluster.value.disable_compression,
        source=f"{merged.title}, context {name}",
    )
    return config if authentication is None else replace(config, authentication=authentication)


def _from_files(
    paths: list[Path], context: str | None, environ: Mapping[str, str]
) -> ConnectionConfig:
    merged = merge([(path, read_kubeconfig_file(path)) for path in paths])
    return connection_of(merged, context, environ)


def _context(merged: Merged, wanted: str | None) -> tuple[str, Entry[Context]]:
    name = wanted or merged.current_context
    names = ", ".join(sorted(merged.contexts)) or "none"
    if not name:
        raise KubeconfigError(
            f"is not set; set it or give --context (there are: {names})",
            file=merged.title,
            field="current-context",
        )
    if name not in merged.contexts:
        raise KubeconfigError(
            f"no context {name!r}; there are: {names}", file=merged.title, field="contexts"
        )
    return name, merged.contexts[name]


def _referred(
    entries: Mapping[str, Entry[_T]], context: Entry[Context], kind: str, name: str
) -> Entry[_T]:
    """What the context names."""
    if name in entries:
        return entries[name]
    problem = f"no {kind} {name!r}" if name else "is empty"
    names = ", ".join(sorted(entries)) or "none"
    raise context.place.error(kind, f"{problem}; there are: {names}")
