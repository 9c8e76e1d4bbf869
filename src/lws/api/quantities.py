"""Quantities (`100m`, `1.5Gi`, `1e3`) as Kubernetes reads and writes them.

A value is exact: a Fraction. Its written form is the one that Go's resource.Quantity gives back
after reading it, since other programs compare and hash that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

QuantityLike = str | int | float

# What a number may be followed by: (base, exponent, format).
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {exponent: suffix for suffix, exponent in _BINARY.items()}

_SHAPE = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[numkKMGTPE]i?)?", re.ASCII)

_NANO = Fraction(1, 10**9)
_INT64_MAX = 2**63 - 1
# Go keeps such a number in 64 bits, and then the string it read, if it looks canonical.
_INT64_DIGITS = 18
# Beyond this no amount means anything, and the integers that we would compute with grow too large.
_EXPONENT_MAX = 1000
# The same few amounts stand in every pod; an amount costs 80 µs without.
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class _Parsed:
    text: str
    negative: bool
    whole: str
    fraction: str
    base: int
    exponent: int
    scientific: bool


def parse_quantity(value: QuantityLike) -> Fraction:
    """The amount; ValueError if it is none. Below a billionth it is rounded up, as Go has it."""
    return _amount(_parse(_text(value)))


def canonical_quantity(value: QuantityLike) -> str:
    """What Go writes after it has read `value`: `1000m` is `1`, `0.5` is `500m`."""
    parsed = _parse(_text(value))
    if _is_kept(parsed):
        return parsed.text
    amount = _amount(parsed)
    if parsed.base == 2:
        return format_quantity(amount, binary=True)
    return _decimal(amount, scientific=parsed.scientific)


def format_quantity(amount: Fraction, *, binary: bool = False) -> str:
    """An amount that was computed, in canonical form, with decimal or binary suffixes."""
    amount = _rounded(amount)
    if binary and abs(amount) >= 1024 and amount.denominator == 1:
        return _binary(int(amount))
    return _decimal(amount, scientific=False)


def _text(value: QuantityLike) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"not a quantity: {value!r}")
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value).strip()


@lru_cache(maxsize=_KEPT)
def _parse(text: str) -> _Parsed:
    match = _SHAPE.fullmatch(text)
    if match is None or not (match[2] or match[3] or "0" in text):
        raise ValueError(f"not a quantity: {text!r}")
    sign, whole, fraction, suffix = match.groups(default="")
    base, exponent, scientific = _suffix(text, suffix)
    return _Parsed(text, sign == "-", whole or "0", fraction, base, exponent, scientific)


def _suffix(text: str, suffix: str) -> tuple[int, int, bool]:
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], False
    if suffix in _BINARY:
        return 2, _BINARY[suffix], False
    if suffix[0] not in "eE" or suffix.endswith("i"):
        raise ValueError(f"not a quantity: {text!r} has an unknown suffix")
    exponent = int(suffix[1:])
    if abs(exponent) > _EXPONENT_MAX:
        raise ValueError(f"not a quantity: {text!r} has too large an exponent")
    return 10, exponent, True


@lru_cache(maxsize=_KEPT)
def _amount(parsed: _Parsed) -> Fraction:
    number = Fraction(int(parsed.whole + parsed.fraction), 10 ** len(parsed.fraction))
    amount = _rounded(number * Fraction(parsed.base) ** parsed.exponent)
    if parsed.base == 2:
        amount = min(amount, Fraction(_INT64_MAX))
    return -amount if parsed.negative else amount


def _rounded(amount: Fraction) -> Fraction:
    """Away from zero to a billionth: who asks for something gets something."""
    nanos = abs(amount) / _NANO
    rounded = -(-nanos.numerator // nanos.denominator) * _NANO
    return -rounded if amount < 0 else rounded


def _is_kept(parsed: _Parsed) -> bool:
    """Whether Go gives back the very string that it read."""
    if parsed.base == 2:
        value = int(parsed.whole)
        room = 15 - len(parsed.whole) - parsed.exponent * 3 // 10 - 1
        return not parsed.fraction and room >= 0 and value & 0x07 != 0
    digits = parsed.whole + parsed.fraction
    scale = parsed.exponent - len(parsed.fraction)
    return (
        len(digits) <= _INT64_DIGITS
        and scale >= -9
        and scale % 3 == 0
        and not digits.endswith("000")
        and digits[0] != "0"
    )


def _decimal(amount: Fraction, *, scientific: bool) -> str:
    if amount == 0:
        return "0"
    exponent = 0
    while amount.denominator != 1:
        amount, exponent = amount * 1000, exponent - 3
    number = int(amount)
    while number % 1000 == 0:
        number, exponent = number // 1000, exponent + 3
    if scientific:
        return f"{number}e{exponent}" if exponent else str(number)
    # Past the largest suffix Go writes none at all; so do we, for equal hashes.
    return f"{number}{_DECIMAL_SUFFIX.get(exponent, '')}"


def _binary(number: int) -> str:
    exponent = 0
    while number % 1024 == 0:
        number, exponent = number // 1024, exponent + 10
    return f"{number}{_BINARY_SUFFIX.get(exponent, '')}"
