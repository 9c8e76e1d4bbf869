"""Short names for templates."""

import json

from lws.sandbox.server.verbs import JsonObject

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET, _PRIME = 2166136261, 16777619


def encoded(data: JsonObject) -> bytes:
    """As Kubernetes writes it down before it hashes it."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text.encode()


def hash_of(raw: bytes, probe: int) -> str:
    """FNV-1 of the bytes and the number, in letters that make no words."""
    value = _OFFSET
    for byte in raw + str(probe).encode():
        value = (value * _PRIME & 0xFFFFFFFF) ^ byte
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(value))
