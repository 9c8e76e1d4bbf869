"""`maxSurge` and `maxUnavailable`: a number, or a percentage of the replicas (api.md section 2)."""

import re

IntOrPercent = int | str

_PERCENT = re.compile(r"[0-9]+%")


def is_percent(value: IntOrPercent) -> bool:
    """Whether it is a string of the form `25%`."""
    return isinstance(value, str) and _PERCENT.fullmatch(value) is not None


def resolve(value: IntOrPercent, *, total: int, round_up: bool) -> int:
    """The number that `value` means for `total` replicas; ValueError for garbage."""
    if isinstance(value, int):
        return value
    if not is_percent(value):
        raise ValueError(f"must be a number or a percentage such as 25%, not {value!r}")
    hundredths = int(value[:-1]) * total
    return -(-hundredths // 100) if round_up else hundredths // 100
