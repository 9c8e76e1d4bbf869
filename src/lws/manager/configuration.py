"""The configuration file, read strictly (spec: manager.md)."""

import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import Meta

from lws.base.errors import InvalidInput
from lws.manager.durations import parse_duration
from lws.manager.fields import require_distinct, require_folder, require_host, require_name

API_VERSION = "config.lws.x-k8s.io/v1alpha1"
KIND = "Configuration"

Port = Annotated[int, Meta(ge=0, le=65535)]


class _Section(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """A part of the file: an unknown field in it is an error."""


class Webhook(_Section, frozen=True, kw_only=True):
    """Where admission is served, and with which certificate (`tls.crt`, `tls.key`)."""

    port: Port = 9443
    host: str = ""
    cert_dir: str = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108  the public default


class LeaderElection(_Section, frozen=True, kw_only=True):
    """The Lease that lets one manager act at a time; durations as text, `15s`."""

    leader_elect: bool = True
    resource_lock: str = "leases"
    resource_name: str = "b8b2488c.x-k8s.io"
    resource_namespace: str = ""
    lease_duration: str = "15s"
    renew_deadline: str = "10s"
    retry_period: str = "2s"


class Metrics(_Section, frozen=True, kw_only=True):
    """Where metrics are served; `0` turns them off."""

    bind_address: str = ":8443"


class Health(_Section, frozen=True, kw_only=True):
    """Where the probes are served; `0` turns them off."""

    health_probe_bind_address: str = ":8081"
    readiness_endpoint_name: str = "/readyz"
    liveness_endpoint_name: str = "/healthz"


class InternalCertManagement(_Section, frozen=True, kw_only=True):
    """Whether the manager makes its own certificates, and where it keeps them."""

    enable: bool = True
    webhook_service_name: str = "lws-webhook-service"
    webhook_secret_name: str = "lws-webhook-server-cert"  # noqa: S105  a name


class GangSchedulingManagement(_Section, frozen=True, kw_only=True):
    """Which scheduler provider makes PodGroups; none by default."""

    scheduler_provider: str | None = None


class ClientConnection(_Section, frozen=True, kw_only=True):
    """How hard the API server may be asked: requests a second, and in one burst."""

    qps: Annotated[float, Meta(gt=0)] = 500.0
    burst: Annotated[int, Meta(ge=1)] = 500


class Tls(_Section, frozen=True, kw_only=True):
    """What our servers accept; empty means the library's choice."""

    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()


class Configuration(_Section, frozen=True, kw_only=True):
    """`config.lws.x-k8s.io/v1alpha1 Configuration`."""

    api_version: str = ""
    kind: str = ""
    webhook: Webhook = Webhook()
    leader_election: LeaderElection = LeaderElection()
    metrics: Metrics = Metrics()
    health: Health = Health()
    internal_cert_management: InternalCertManagement = InternalCertManagement()
    gang_scheduling_management: GangSchedulingManagement = GangSchedulingManagement()
    client_connection: ClientConnection = ClientConnection()
    tls: Tls = Tls()


def defaults() -> Configuration:
    """What holds where there is no file."""
    return Configuration(api_version=API_VERSION, kind=KIND)


def read_file(path: Path) -> Configuration:
    """Read a file; InvalidInput names the file or the field and says what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(field=f"--config {path}", message=_os_message(error)) from error
    return read(text)


def read(text: str) -> Configuration:
    """Read a document; InvalidInput names the field and says what is wrong."""
    try:
        document = yaml.load(text, Loader=_StrictLoader)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        raise InvalidInput(field=_line_of(error), message=_yaml_message(error)) from error
    except yaml.YAMLError as error:
        raise InvalidInput(field="file", message=str(error)) from error
    if document is None:
        raise InvalidInput(field="file", message=f"is empty; it must hold a {KIND}")
    try:
        configuration = msgspec.convert(_without_nulls(document), Configuration)
    except msgspec.ValidationError as error:
        raise _invalid(error) from error
    check(configuration)
    return configuration


def check(configuration: Configuration) -> None:
    """What types cannot say; InvalidInput for the first field that is wrong."""
    if configuration.api_version != API_VERSION:
        raise InvalidInput(field="apiVersion", message=f"must be {API_VERSION}")
    if configuration.kind != KIND:
        raise InvalidInput(field="kind", message=f"must be {KIND}")
    _check_election(configuration.leader_election)
    _check_tls(configuration.tls)
    check_address(configuration.metrics.bind_address, field="metrics.bindAddress")
    health = configuration.health
    check_address(health.health_probe_bind_address, field="health.healthProbeBindAddress")
    _check_path(health.readiness_endpoint_name, field="health.readinessEndpointName")
    _check_path(health.liveness_endpoint_name, field="health.livenessEndpointName")
    if health.readiness_endpoint_name == health.liveness_endpoint_name:
        raise InvalidInput(
            field="health.livenessEndpointName", message="must be another than that of readiness"
        )
    _check_places(configuration)
    _check_provider(configuration.gang_scheduling_management.scheduler_provider)
    _check_client(configuration.client_connection)


def split_address(address: str) -> tuple[str, int] | None:
    """Host ("" for all) and port of a Go listen address; None if it turns the server off."""
    if address in ("0", ""):
        return None
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"must be host:port, :port, or 0 to turn it off, not {address!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def check_address(address: str, *, field: str) -> None:
    """InvalidInput if it is no listen address."""
    try:
        split_address(address)
    except ValueError as error:
        raise InvalidInput(field=field, message=str(error)) from error
    require_host(address.rpartition(":")[0].strip("[]"), field=field)


def _check_path(path: str, *, field: str) -> None:
    if not path.startswith("/") or set(path) & set("{}?# "):
        raise InvalidInput(field=field, message=f"must be a path such as /readyz, not {path!r}")


def _check_places(configuration: Configuration) -> None:
    """Names, and ports that would meet."""
    webhook, certificates = configuration.webhook, configuration.internal_cert_management
    require_host(webhook.host, field="webhook.host")
    require_folder(webhook.cert_dir, field="webhook.certDir")
    section = "internalCertManagement"
    service, secret = certificates.webhook_service_name, certificates.webhook_secret_name
    require_name(service, field=f"{section}.webhookServiceName", kind="Service")
    require_name(secret, field=f"{section}.webhookSecretName", kind="Secret")
    metrics, health = configuration.metrics, configuration.health
    require_distinct(
        (
            ("webhook.port", (webhook.host, webhook.port)),
            ("metrics.bindAddress", split_address(metrics.bind_address)),
            ("health.healthProbeBindAddress", split_address(health.health_probe_bind_address)),
        )
    )


def _check_provider(name: str | None) -> None:
    if name:
        from lws.providers import find_provider  # reads what is installed, which takes a while

        find_provider(name)


def _check_client(connection: ClientConnection) -> None:
    """Flags reach these fields without their types' rules."""
    if not 0 < connection.qps < math.inf:
        raise InvalidInput(
            field="clientConnection.qps", message="must be a number of requests a second above 0"
        )
    if connection.burst < 1:
        raise InvalidInput(field="clientConnection.burst", message="must be 1 or more")


def _check_election(election: LeaderElection) -> None:
    if election.resource_lock != "leases":
        raise InvalidInput(
            field="leaderElection.resourceLock",
            message=f"must be leases, not {election.resource_lock!r}",
        )
    require_name(election.resource_name, field="leaderElection.resourceName", kind="Lease")
    if election.resource_namespace:
        field = "leaderElection.resourceNamespace"
        require_name(election.resource_namespace, field=field, kind="namespace")
    names = ("leaseDuration", "renewDeadline", "retryPeriod")
    texts = (election.lease_duration, election.renew_deadline, election.retry_period)
    lease, renew, retry = (_duration(name, text) for name, text in zip(names, texts, strict=True))
    if not lease > renew > retry > 0:
        raise InvalidInput(
            field="leaderElection.leaseDuration",
            message=f"leaseDuration {texts[0]} must be longer than renewDeadline {texts[1]}, and "
            f"that longer than retryPeriod {texts[2]}, which is above 0",
        )
    from lws.runtime.election import check_times  # with the client, which few commands want

    check_times(lease, renew, retry)


def _duration(name: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise InvalidInput(field=f"leaderElection.{name}", message=str(error)) from error


def _check_tls(tls: Tls) -> None:
    if tls.min_version not in ("", "VersionTLS12", "VersionTLS13"):
        raise InvalidInput(
            field="tls.minVersion",
            message=f"must be VersionTLS12 or VersionTLS13, not {tls.min_version!r}",
        )
    if tls.cipher_suites and tls.min_version == "VersionTLS13":
        raise InvalidInput(
            field="tls.cipherSuites",
            message="can be chosen only with minVersion VersionTLS12; remove one of the two",
        )
    if tls.cipher_suites:
        from lws.runtime.certificates import CIPHER_SUITES  # with servers, which few commands want

        unknown = [name for name in tls.cipher_suites if name not in CIPHER_SUITES]
        if unknown:
            known = ", ".join(CIPHER_SUITES)
            message = f"{', '.join(unknown)} unknown; known are {known}"
            raise InvalidInput(field="tls.cipherSuites", message=message)


_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")


def _invalid(error: msgspec.ValidationError) -> InvalidInput:
    """msgspec's message, as a field and a sentence."""
    matched = _AT.match(str(error))
    assert matched is not None, "the expression matches any text"
    what, path = matched["what"], matched["path"] or ""
    unknown = _UNKNOWN.match(what)
    if unknown is not None:
        field = ".".join(part for part in (path, unknown["field"]) if part)
        return InvalidInput(
            field=field, message="there is no such field; remove it or fix its name"
        )
    return InvalidInput(field=path or "file", message=what[:1].lower() + what[1:])


def _without_nulls(value: Any) -> Any:
    """A field that is null is not set."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _line_of(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark
    return "file" if mark is None else f"line {mark.line + 1}"


def _yaml_message(error: yaml.MarkedYAMLError) -> str:
    return error.problem or "is not YAML"


def _os_message(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return "is not UTF-8 text"


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc]  # the C loader where it is built
    """YAML that says a key once; a Go reader would take the last silently, or refuse."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            message = f"the key {key_node.value if key_node.id == 'scalar' else ''} must be text"
            raise yaml.constructor.ConstructorError(None, None, message, key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key!r} stands twice", key_node.start_mark
            )
        seen.add(key)
    mapping: dict[Hashable, Any] = loader.construct_mapping(node, deep=True)
    return mapping


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
