"""Free ports that no other user of the harness on this machine picks at the same time."""

import atexit
import random
import socket

_FIRST, _LAST = 18_000, 30_000  # below the range from which the kernel takes outgoing ports
_claims: dict[int, socket.socket] = {}


def take_port() -> int:
    """A port of 127.0.0.1 nobody listens on; ours until released or until this process ends."""
    for port in random.sample(range(_FIRST, _LAST), 500):
        claim = _claim(port)
        if claim is None:
            continue
        if _is_free(port):
            _claims[port] = claim
            return port
        claim.close()
    raise RuntimeError("no free port found in 500 tries")


def release_port(port: int) -> None:
    """Give the port back."""
    claim = _claims.pop(port, None)
    if claim is not None:
        claim.close()


def _claim(port: int) -> socket.socket | None:
    """A socket in the abstract name space is a lock that ends with its process, and no file."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f"\0lws-harness-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _release_all() -> None:
    for port in list(_claims):
        release_port(port)


atexit.register(_release_all)
