"""Ingresses and their classes."""

import ipaddress
import re

from lws.sandbox.schema.errors import forbidden, invalid, not_supported, required, too_long
from lws.sandbox.schema.naming import (
    SUBDOMAIN,
    dns_label,
    dns_subdomain,
    longer_than,
    path_segment,
    port_name,
    port_number,
    regex_words,
)
from lws.sandbox.schema.rules.words import IMMUTABLE, Faults, Object, named

_CLASS = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_UNCLEAR = ("//", "/./", "/../", "%2f", "%2F")
_UNCLEAR_ENDS = ("/..", "/.")
_WILDCARD = rf"\*\.{SUBDOMAIN}"
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_CONTROLLER_BYTES_MAX = 250
_SCOPES = ("Cluster", "Namespace")


def ingress_rules(obj: Object, old: Object | None) -> Faults:
    """Ingress."""
    spec = obj["spec"]
    if old is None:
        yield from _one_class(obj)
    rules, default = spec.get("rules") or (), spec.get("defaultBackend")
    if not rules and default is None:
        words = "either `defaultBackend` or `rules` must be specified"
        yield invalid("spec", None, words)
    if default is not None:
        yield from _backend(default, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        yield from _rule(rule, f"spec.rules[{index}]")
    for index, one in enumerate(spec.get("tls") or ()):
        for place, host in enumerate(one.get("hosts") or ()):
            yield from _host_name(host, f"spec.tls[{index}].hosts[{place}]")
        if one.get("secretName"):
            yield from named(dns_subdomain, one["secretName"], f"spec.tls[{index}].secretName")
    if spec.get("ingressClassName") is not None:
        yield from named(dns_subdomain, spec["ingressClassName"], "spec.ingressClassName")


def _one_class(obj: Object) -> Faults:
    said = (obj["metadata"].get("annotations") or {}).get(_CLASS)
    name = obj["spec"].get("ingressClassName")
    if said is not None and name is not None and said != name:
        words = "must match `ingressClassName` when both are specified"
        yield invalid(f"annotations.{_CLASS}", said, words)


def _rule(rule: Object, path: str) -> Faults:
    host = rule.get("host") or ""
    if host:
        if _is_address(host):
            yield invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        yield from _host_name(host, f"{path}.host")
    routes = rule.get("http")
    if routes is None:
        return
    if not routes.get("paths"):
        yield required(f"{path}.http.paths")
    for index, one in enumerate(routes.get("paths") or ()):
        yield from _route(one, f"{path}.http.paths[{index}]")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _host_name(host: str, path: str) -> Faults:
    yield from named(_wildcard if "*" in host else dns_subdomain, host, path)


def _wildcard(text: str) -> list[str]:
    faults = [longer_than(253)] if len(text.encode()) > 253 else []
    if re.fullmatch(_WILDCARD, text, re.ASCII) is None:
        message = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS"
            " subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and"
            " end with an alphanumeric character"
        )
        faults.append(regex_words(message, _WILDCARD, "*.example.com"))
    return faults


def _route(one: Object, path: str) -> Faults:
    kind, text = one.get("pathType"), one.get("path") or ""
    if kind is None:
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        yield not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif kind != "ImplementationSpecific":
        yield from _plain_path(text, f"{path}.path")
    elif text and not text.startswith("/"):
        yield invalid(f"{path}.path", text, "must be an absolute path")
    yield from _backend(one["backend"], f"{path}.backend")


def _plain_path(text: str, path: str) -> Faults:
    if not text.startswith("/"):
        yield invalid(path, text, "must be an absolute path")
    for piece in _UNCLEAR:
        if piece in text:
            yield invalid(path, text, f"must not contain '{piece}'")
    for ending in _UNCLEAR_ENDS:
        if text.endswith(ending):
            yield invalid(path, text, f"cannot end with '{ending}'")


def _backend(backend: Object, path: str) -> Faults:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(resource, f"{path}.resource")
    elif service is None:
        yield invalid(path, "", "resource or service backend is required")
    else:
        yield from _service(service, path)


def _service(service: Object, path: str) -> Faults:
    name, target = service.get("name") or "", service.get("port") or {}
    if not name:
        yield required(f"{path}.service.name")
    else:
        yield from named(dns_label, name, f"{path}.service.name")
    if target.get("name") and target.get("number"):
        yield invalid(path, "", "cannot set both port name & port number")
    elif target.get("name"):
        yield from named(port_name, target["name"], f"{path}.service.port.name")
    elif target.get("number"):
        for fault in port_number(target["number"]):
            yield invalid(f"{path}.service.port.number", target["number"], fault)
    else:
        yield required(path, "port name or number is required")


def _reference(one: Object, path: str) -> Faults:
    if one.get("apiGroup") is not None:
        yield from named(dns_subdomain, one["apiGroup"], f"{path}.apiGroup")
    for field in ("kind", "name"):
        if not one.get(field):
            yield required(f"{path}.{field}")
        else:
            yield from named(path_segment, one[field], f"{path}.{field}")


def ingress_class_rules(obj: Object, old: Object | None) -> Faults:
    """IngressClass."""
    controller = obj["spec"].get("controller") or ""
    yield from _controller(controller)
    parameters = obj["spec"].get("parameters")
    if parameters is not None:
        yield from _reference(parameters, "spec.parameters")
        yield from _scope(parameters, "spec.parameters")
    if old is not None and controller != old["spec"].get("controller"):
        yield invalid("spec.controller", controller, IMMUTABLE)


def _controller(controller: str) -> Faults:
    path = "spec.controller"
    if not controller:
        yield required(path)
        return
    if len(controller.encode()) > _CONTROLLER_BYTES_MAX:
        yield too_long(path, _CONTROLLER_BYTES_MAX)
    domain, slash, rest = controller.partition("/")
    if not (domain and slash and rest):
        words = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid(path, controller, words)
        return
    yield from named(dns_subdomain, domain, path)
    if re.fullmatch(_PATH, rest, re.ASCII) is None:
        yield invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH}')")


def _scope(parameters: Object, path: str) -> Faults:
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope not in _SCOPES:
        yield not_supported(f"{path}.scope", scope, _SCOPES)
    elif scope == "Cluster":
        if namespace is not None:
            yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")
    elif namespace is None:
        yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    else:
        yield from named(dns_label, namespace, f"{path}.namespace")
