"""Functions that Kubernetes adds to CEL, as Python functions; methods get their object first.

Values of types that CEL does not know (quantities, URLs, versions) are maps with one key.
"""

import ipaddress
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lws.api.quantities import parse_quantity
from lws.sandbox.schema.custom.strings import compiled

Json = Any
Tagged = dict[str, Json]

_QUANTITY, _URL, _IP, _CIDR = "@quantity", "@url", "@ip", "@cidr"


def _quantity(text: str) -> Tagged:
    try:
        return {_QUANTITY: str(parse_quantity(text))}
    except ValueError as error:
        raise ValueError(
            "quantities must match the regular expression"
            " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from error


def _amount(value: Tagged | int) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(value[_QUANTITY])


def _is(parse: Callable[[str], Json]) -> Callable[[Json], bool]:
    def check(text: Json) -> bool:
        try:
            parse(text)
        except (ValueError, TypeError):
            return False
        return True

    return check


def _sign(amount: Fraction) -> int:
    return (amount > 0) - (amount < 0)


def _less(left: Tagged, right: Tagged) -> bool:
    return _amount(left) < _amount(right)


def _greater(left: Tagged, right: Tagged) -> bool:
    return _amount(left) > _amount(right)


def _compare(left: Tagged, right: Tagged) -> int:
    return _sign(_amount(left) - _amount(right))


def _add(left: Tagged, right: Tagged | int) -> Tagged:
    return {_QUANTITY: str(_amount(left) + _amount(right))}


def _subtract(left: Tagged, right: Tagged | int) -> Tagged:
    return {_QUANTITY: str(_amount(left) - _amount(right))}


def _as_integer(value: Tagged) -> int:
    amount = _amount(value)
    if amount.denominator != 1:
        raise ValueError("cannot convert value to integer")
    return int(amount)


def _url(text: str) -> Tagged:
    parts = urlsplit(text)
    if not (parts.scheme or text.startswith("/")) or " " in text:
        raise ValueError(f"URL parse error during conversion from string: {text}")
    return {_URL: text}


def _of_url(part: Callable[[Json], Json]) -> Callable[[Tagged], Json]:
    return lambda value: part(urlsplit(value[_URL]))


def _port(parts: Json) -> str:
    return str(parts.port) if parts.port is not None else ""


def _ip(text: str) -> Tagged:
    return {_IP: str(ipaddress.ip_address(text))}


def _cidr(text: str) -> Tagged:
    return {_CIDR: str(ipaddress.ip_interface(text))}


def _network(value: Tagged) -> Json:
    return ipaddress.ip_network(value[_CIDR], strict=False)


def _contains_ip(value: Tagged, inner: Tagged | str) -> bool:
    address = inner if isinstance(inner, str) else inner[_IP]
    return ipaddress.ip_address(address) in _network(value)


def _is_sorted(items: list[Json]) -> bool:
    return all(left <= right for left, right in pairwise(items))


def _of_some(pick: Callable[[list[Json]], Json], name: str) -> Callable[[list[Json]], Json]:
    def call(items: list[Json]) -> Json:
        if not items:
            raise ValueError(f"{name} called on empty list")
        return pick(items)

    return call


def _index_of(value: Json, wanted: Json, *start: int) -> int:
    if isinstance(value, str):
        return value.find(wanted, *start)
    return value.index(wanted) if wanted in value else -1


def _last_index_of(value: Json, wanted: Json) -> int:
    if isinstance(value, str):
        return value.rfind(wanted)
    places = [index for index, one in enumerate(value) if one == wanted]
    return places[-1] if places else -1


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        return list(text)
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _join(items: list[str], separator: str = "") -> str:
    return separator.join(items)


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= stop <= len(text):
        raise ValueError(f"index out of range: {start}")
    return text[start:stop]


def _find(text: str, pattern: str) -> str:
    found = compiled(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [one[0] for one in compiled(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise ValueError(f"index out of range: {index}")
    return text[index : index + 1]


def _string(value: Json) -> str:
    """Of what the evaluator's own function refuses: booleans."""
    if not isinstance(value, bool):
        raise TypeError("no such overload")
    return "true" if value else "false"


FUNCTIONS: Mapping[str, Callable[..., Json]] = {
    "add": _add,
    "asApproximateFloat": lambda value: float(_amount(value)),
    "asInteger": _as_integer,
    "charAt": _char_at,
    "cidr": _cidr,
    "compareTo": _compare,
    "containsIP": _contains_ip,
    "family": lambda value: ipaddress.ip_address(value[_IP]).version,
    "find": _find,
    "findAll": _find_all,
    "getEscapedPath": _of_url(lambda parts: parts.path),
    "getHost": _of_url(lambda parts: parts.netloc.rpartition("@")[2]),
    "getHostname": _of_url(lambda parts: parts.hostname or ""),
    "getPort": _of_url(_port),
    "getQuery": _of_url(lambda parts: parse_qs(parts.query, keep_blank_values=True)),
    "getScheme": _of_url(lambda parts: parts.scheme),
    "indexOf": _index_of,
    "ip": _ip,
    "isCIDR": _is(_cidr),
    "isGreaterThan": _greater,
    "isIP": _is(_ip),
    "isInteger": lambda value: _amount(value).denominator == 1,
    "isLessThan": _less,
    "isQuantity": _is(_quantity),
    "isSorted": _is_sorted,
    "isURL": _is(_url),
    "join": _join,
    "lastIndexOf": _last_index_of,
    "lowerAscii": lambda text: text.lower() if text.isascii() else _ascii(text, str.lower),
    "max": _of_some(max, "max"),
    "min": _of_some(min, "min"),
    "prefixLength": lambda value: _network(value).prefixlen,
    "quantity": _quantity,
    "replace": _replace,
    "sign": lambda value: _sign(_amount(value)),
    "split": _split,
    "string": _string,
    "sub": _subtract,
    "substring": _substring,
    "sum": lambda items: sum(items),
    "trim": str.strip,
    "upperAscii": lambda text: text.upper() if text.isascii() else _ascii(text, str.upper),
    "url": _url,
}


def _ascii(text: str, change: Callable[[str], str]) -> str:
    return "".join(change(one) if one.isascii() else one for one in text)
