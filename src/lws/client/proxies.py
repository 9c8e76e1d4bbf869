"""Whether the way to the API server leads through a proxy, by the usual variables. Pure."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from lws.client.errors import KubeconfigError


def proxy_for(server: str, environ: Mapping[str, str]) -> str:
    """The proxy that the environment asks for, or an empty string; loopback is never proxied."""
    parts = urlsplit(server)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (80 if parts.scheme == "http" else 443)
    if _is_loopback(host) or _is_exempt(host, port, _variable("NO_PROXY", environ)):
        return ""
    name = f"{parts.scheme.upper()}_PROXY"
    proxy = _variable(name, environ)
    if proxy and "://" not in proxy:
        proxy = f"http://{proxy}"
    return check_proxy(proxy, file="environment", field=name) if proxy else ""


def check_proxy(proxy: str, *, file: str, field: str) -> str:
    """The same URL, if it is of a kind that we can go through."""
    if not is_address(proxy):
        raise KubeconfigError(
            "is no proxy that can be used; give http://host:port or https://host:port",
            file=file,
            field=field,
        )
    return proxy


def is_address(url: str) -> bool:
    """Whether it is an HTTP URL of a host and port that can be, so that trying it may fail in the
    ways that a network has, and in no other."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")  # which refuses what no name server can know
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False


def _variable(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_exempt(host: str, port: int, no_proxy: str) -> bool:
    rules = (rule.strip() for rule in no_proxy.split(","))
    return any(_is_match(rule.lower(), host.lower(), port) for rule in rules if rule)


def _is_match(rule: str, host: str, port: int) -> bool:
    """Go's rules, which every other Kubernetes client has: name and below, .suffix, address,
    network, any of the first with a port."""
    if rule == "*":
        return True
    address = _address(host)
    if "/" in rule:
        return address is not None and _is_in_network(rule, address)
    name, colon, number = rule.rpartition(":")
    if colon and number.isdecimal() and _address(rule) is None:
        if int(number) != port:
            return False
        rule = name
    if address is not None:
        return _address(rule.strip("[]")) == address
    rule = rule.removeprefix("*")
    return (
        host.endswith(rule) if rule.startswith(".") else (host == rule or host.endswith(f".{rule}"))
    )


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_in_network(rule: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return False
