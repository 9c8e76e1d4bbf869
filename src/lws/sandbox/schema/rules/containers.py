"""Containers: names, images, ports, environment, mounts, probes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lws.sandbox.schema.errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from lws.sandbox.schema.naming import (
    config_key,
    dns_label,
    dns_subdomain,
    environment_name,
    port_name,
    port_number,
    regex_words,
)
from lws.sandbox.schema.rules.resources import resource_errors
from lws.sandbox.schema.rules.words import Faults, Object, named, not_negative, one_of, port

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NOT_FOR_INIT = "may not be set for init containers without restartPolicy=Always"


def container_errors(spec: Object, volumes: Collection[str], path: str) -> Faults:
    """All containers of a pod; `volumes` are the names of its good volumes."""
    containers = spec.get("containers") or []
    if not containers:
        yield required(f"{path}.containers")
    seen: set[str] = set()
    for index, one in enumerate(containers):
        here = f"{path}.containers[{index}]"
        yield from _common(one, volumes, here)
        if one.get("name", "") in seen:
            yield duplicate(f"{here}.name", one.get("name", ""))
        seen.add(one.get("name", ""))
        yield from _running(one, here)
        yield from _restart_policy(one, here)
    yield from _host_ports(containers, f"{path}.containers")
    yield from _init_containers(spec, volumes, path, seen)
    for index, one in enumerate(spec.get("ephemeralContainers") or ()):
        here = f"{path}.ephemeralContainers[{index}]"
        yield from _common(one, volumes, here)
        if one.get("name", "") in seen:
            yield duplicate(f"{here}.name", one.get("name", ""))
        seen.add(one.get("name", ""))


def _restart_policy(container: Object, path: str) -> Faults:
    policy = container.get("restartPolicy")
    if policy is not None:
        yield from one_of(policy, ("Always", "OnFailure", "Never"), f"{path}.restartPolicy")


def _init_containers(spec: Object, volumes: Collection[str], path: str, seen: set[str]) -> Faults:
    for index, one in enumerate(spec.get("initContainers") or ()):
        here = f"{path}.initContainers[{index}]"
        name = one.get("name", "")
        yield from _common(one, volumes, here)
        yield from _restart_policy(one, here)
        if name in seen:
            yield duplicate(f"{here}.name", name)
        elif name:
            seen.add(name)
        yield from _host_ports([one], f"{path}.initContainers")
        if one.get("restartPolicy") == "Always":
            yield from _running(one, here)
            continue
        for field in ("lifecycle", *_PROBES):
            if one.get(field) is not None:
                yield forbidden(f"{here}.{field}", _NOT_FOR_INIT)


def _common(container: Object, volumes: Collection[str], path: str) -> Faults:
    name = container.get("name")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from named(dns_label, name, f"{path}.name")
    if not container.get("image"):
        yield required(f"{path}.image")
    yield from one_of(
        container.get("terminationMessagePolicy"),
        _MESSAGE_POLICIES,
        f"{path}.terminationMessagePolicy",
    )
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    yield from _environment(container.get("env") or (), f"{path}.env")
    yield from _environment_sources(container.get("envFrom") or (), f"{path}.envFrom")
    yield from _mounts(container.get("volumeMounts") or (), volumes, f"{path}.volumeMounts")
    yield from one_of(container.get("imagePullPolicy"), _PULL_POLICIES, f"{path}.imagePullPolicy")
    yield from resource_errors(container.get("resources"), f"{path}.resources")


def _ports(ports: Sequence[Object], path: str) -> Faults:
    seen: set[str] = set()
    for index, one in enumerate(ports):
        here = f"{path}[{index}]"
        name = one.get("name")
        if name and port_name(name):
            yield from named(port_name, name, f"{here}.name")
        elif name and name in seen:
            yield duplicate(f"{here}.name", name)
        elif name:
            seen.add(name)
        if not one.get("containerPort"):
            yield required(f"{here}.containerPort")
        for field in ("containerPort", "hostPort"):
            if one.get(field):
                for fault in port_number(one[field]):
                    yield invalid(f"{here}.{field}", one[field], fault)
        yield from one_of(one.get("protocol"), PROTOCOLS, f"{here}.protocol")


def _host_ports(containers: Sequence[Object], path: str) -> Faults:
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for place, one in enumerate(container.get("ports") or ()):
            if not one.get("hostPort"):
                continue
            text = f"{one.get('protocol', '')}/{one.get('hostIP', '')}/{one['hostPort']}"
            if text in seen:
                yield duplicate(f"{path}[{index}].ports[{place}].hostPort", text)
            seen.add(text)


def _environment(variables: Sequence[Object], path: str) -> Faults:
    for index, one in enumerate(variables):
        here = f"{path}[{index}]"
        if not one.get("name"):
            yield required(f"{here}.name")
        else:
            yield from named(environment_name, one["name"], f"{here}.name")
        source = one.get("valueFrom")
        if source is not None:
            yield from _value_source(source, one.get("value"), f"{here}.valueFrom")


_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def _value_source(source: Object, value: str | None, path: str) -> Faults:
    given = [name for name in _SOURCES if source.get(name) is not None]
    if "fieldRef" in given:
        yield from _field(source["fieldRef"], f"{path}.fieldRef")
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in given:
            yield from _key(source[name], f"{path}.{name}")
    if not given:
        words = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`,"
            " `secretKeyRef` or `fileKeyRef`"
        )
        yield invalid(path, "", words)
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName"),
    *("spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP"),
    "status.podIPs",
)


_KNOWN_FIELDS = (
    *("metadata.labels", "metadata.annotations", "spec.restartPolicy", "spec.schedulerName"),
    *("status.phase", "spec.host"),
)


def _field(reference: Object, path: str) -> Faults:
    field = reference.get("fieldPath") or ""
    if not reference.get("apiVersion"):
        yield required(f"{path}.apiVersion")
    if not field:
        yield required(f"{path}.fieldPath")
        return
    base, bracket, _ = field.partition("[")
    if bracket and base in ("metadata.labels", "metadata.annotations"):
        return
    if field not in _FIELDS and field not in _KNOWN_FIELDS:
        words = f"error converting fieldPath: field label not supported: {field}"
        yield invalid(f"{path}.fieldPath", field, words)
    elif field not in _FIELDS:
        yield not_supported(f"{path}.fieldPath", field, tuple(sorted(_FIELDS)))


def _key(reference: Object, path: str) -> Faults:
    yield from named(dns_subdomain, reference.get("name") or "", f"{path}.name")
    if not reference.get("key"):
        yield required(f"{path}.key")
    else:
        yield from named(config_key, reference["key"], f"{path}.key")


def _environment_sources(sources: Sequence[Object], path: str) -> Faults:
    for index, one in enumerate(sources):
        here = f"{path}[{index}]"
        if one.get("prefix"):
            yield from named(environment_name, one["prefix"], f"{here}.prefix")
        given = [name for name in ("configMapRef", "secretRef") if one.get(name) is not None]
        for name in given:
            if not one[name].get("name"):
                yield required(f"{here}.{name}.name")
            else:
                yield from named(dns_subdomain, one[name]["name"], f"{here}.{name}.name")
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


def _mounts(mounts: Sequence[Object], volumes: Collection[str], path: str) -> Faults:
    seen: set[str] = set()
    for index, one in enumerate(mounts):
        here = f"{path}[{index}]"
        name, where = one.get("name") or "", one.get("mountPath") or ""
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield not_found(f"{here}.name", name)
        if not where:
            yield required(f"{here}.mountPath")
        if where in seen:
            yield invalid(f"{here}.mountPath", where, "must be unique")
        seen.add(where)
        for field in ("subPath", "subPathExpr"):
            if one.get(field):
                yield from descending(one[field], f"{path}.{field}")
        if one.get("subPath") and one.get("subPathExpr"):
            words = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{here}.subPathExpr", one["subPathExpr"], words)


def descending(value: str, path: str) -> Faults:
    """A relative path that does not go up."""
    if value.startswith("/"):
        yield invalid(path, value, "must be a relative path")
    if ".." in value.split("/"):
        yield invalid(path, value, "must not contain '..'")


def _running(container: Object, path: str) -> Faults:
    lifecycle: Mapping[str, Any] = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if lifecycle.get(name) is not None:
            yield from _handler(lifecycle[name], f"{path}.lifecycle.{name}")
    for name in _PROBES:
        if container.get(name) is not None:
            yield from _probe(container[name], f"{path}.{name}", is_ready=name == "readinessProbe")


def _probe(probe: Object, path: str, *, is_ready: bool) -> Faults:
    yield from _handler(probe, path)
    yield from not_negative(
        probe,
        path,
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds"),
        *("successThreshold", "failureThreshold"),
    )
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and is_ready:
        yield invalid(
            f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes"
        )
    elif grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if not is_ready and probe.get("successThreshold", 0) != 1:
        yield invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_HEADER = "[-A-Za-z0-9]+"


def _handler(handler: Object, path: str) -> Faults:
    given = [name for name in _HANDLERS if handler.get(name) is not None]
    if not given:
        yield required(path, "must specify a handler type")
        return
    for name in given[1:]:
        yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")
    action, here = handler[given[0]], f"{path}.{given[0]}"
    match given[0]:
        case "exec":
            if not action.get("command"):
                yield required(f"{here}.command")
        case "httpGet":
            yield from _http(action, here)
        case "tcpSocket":
            yield from port(action.get("port", 0), f"{here}.port")
        case "grpc":
            for fault in port_number(action.get("port", 0)):
                yield invalid(f"{here}.port", action.get("port", 0), fault)


def _http(action: Object, path: str) -> Faults:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from port(action.get("port", 0), f"{path}.port")
    if action.get("scheme") not in ("HTTP", "HTTPS"):
        yield not_supported(f"{path}.scheme", action.get("scheme", ""), ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        if not _is_header(header.get("name") or ""):
            message = "a valid HTTP header must consist of alphanumeric characters or '-'"
            words = regex_words(message, _HEADER, "X-Header-Name")
            yield invalid(f"{path}.httpHeaders", header.get("name") or "", words)


def _is_header(name: str) -> bool:
    return bool(name) and all(one.isascii() and (one.isalnum() or one == "-") for one in name)
