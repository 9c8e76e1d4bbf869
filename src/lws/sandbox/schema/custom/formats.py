"""The formats of strings that the server checks; others it ignores."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from urllib.parse import urlsplit

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def _matcher(pattern: str, flags: int = re.ASCII) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str = "", variant: str = "") -> Callable[[str], bool]:
    third = f"{version}[0-9a-f]{{3}}" if version else "[0-9a-f]{4}"
    fourth = f"{variant}[0-9a-f]{{3}}" if variant else "[0-9a-f]{4}"
    return _matcher(
        rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}",
        re.ASCII | re.IGNORECASE,
    )


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


def _date_time(text: str) -> bool:
    shape = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?"
    return re.fullmatch(shape, text) is not None and _parses(datetime.fromisoformat)(text.upper())


def _is_uri(text: str) -> bool:
    parts = urlsplit(text) if " " not in text else None
    return parts is not None and bool(parts.scheme or text.startswith("/"))


def _hostname(text: str) -> bool:
    parts = text.split(".")
    shape = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?")
    return len(text) <= 255 and all(shape.fullmatch(part) for part in parts)


def _byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _network(text: str) -> bool:
    return "/" in text and _parses(lambda one: ipaddress.ip_network(one, strict=False))(text)


_DURATION = (
    r"[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*|0"
    r"|\d+(\.\d+)?\s*(ns|nanos?|us|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?"
    r"|hours?|d|days?|w|weeks?)"
)

FORMATS: Mapping[str, Callable[[str], bool]] = {
    "byte": _byte,
    "cidr": _network,
    "date": _parses(date.fromisoformat),
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": _matcher(_DURATION),
    "email": _matcher(r"[^@\s]+@[^@\s]+"),
    "hexcolor": _matcher(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _hostname,
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "k8s-long-name": lambda text: (
        len(text) <= 253 and all(_LABEL.fullmatch(one) for one in text.split("."))
    ),
    "k8s-short-name": lambda text: len(text) <= 63 and _LABEL.fullmatch(text) is not None,
    "mac": _matcher(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5,7}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"),
    "password": lambda _: True,
    "uri": _is_uri,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
}
