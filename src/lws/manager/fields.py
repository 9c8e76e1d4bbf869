"""What single values of the configuration must look like. Pure."""

import re
from collections.abc import Sequence

from lws.base.errors import InvalidInput

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(r"[A-Za-z0-9._:%-]*")
_NAMES = {
    "namespace": (re.compile(_LABEL), 63),
    "Service": (re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?"), 63),
    "Lease": (re.compile(rf"{_LABEL}(\.{_LABEL})*"), 253),
    "Secret": (re.compile(rf"{_LABEL}(\.{_LABEL})*"), 253),
}
Address = tuple[str, tuple[str, int] | None]
"""A field, and the host ("" for all) and port in it; None: it is off."""


def require_name(value: str, *, field: str, kind: str) -> None:
    """InvalidInput if the API server would take no object of that kind by that name."""
    if not value:
        raise InvalidInput(field=field, message="must not be empty")
    pattern, longest = _NAMES[kind]
    if pattern.fullmatch(value) is None or len(value) > longest:
        dots = " and dots" if longest > 63 else ""
        message = (
            f"{value!r} can be no name of a {kind}: at most {longest} lower-case letters, "
            f"digits, dashes{dots}"
        )
        raise InvalidInput(field=field, message=message)


def require_host(value: str, *, field: str) -> None:
    """InvalidInput if it is neither a host's name nor an address."""
    if _HOST.fullmatch(value) is None:
        message = f"must be a host's name or address, or empty for all, not {value!r}"
        raise InvalidInput(field=field, message=message)


def require_folder(value: str, *, field: str) -> None:
    """InvalidInput if no folder can be called so."""
    if not value or "\0" in value:
        raise InvalidInput(field=field, message="must be the path of a folder")


def require_distinct(addresses: Sequence[Address]) -> None:
    """InvalidInput if two servers were to listen on one port."""
    for number, (field, address) in enumerate(addresses):
        for other, taken in addresses[:number]:
            if address is not None and taken is not None and _collide(address, taken):
                message = f"has the port of {other}, {address[1]}; choose another"
                raise InvalidInput(field=field, message=message)


def _collide(one: tuple[str, int], other: tuple[str, int]) -> bool:
    is_same_port = one[1] == other[1] != 0
    return is_same_port and (one[0] == other[0] or "" in (one[0], other[0]))
