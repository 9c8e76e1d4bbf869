"""Quantities of resources as exact numbers."""

import re
from fractions import Fraction
from functools import lru_cache

_QUANTITY = re.compile(
    r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?"
)
_BINARY = {
    name: Fraction(1024**power)
    for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
}
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}


@lru_cache(maxsize=4096)
def milli(text: str) -> int:
    """Thousandths of the unit, rounded up; 0 of what is no quantity."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return 0
    number, suffix = Fraction(match[1]), match[2] or ""
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix not in _BINARY:
        factor = Fraction(10) ** int(suffix[1:])
    else:
        factor = _BINARY.get(suffix) or _DECIMAL.get(suffix) or Fraction(1)
    value = number * factor * 1000
    return -(-value.numerator // value.denominator)
