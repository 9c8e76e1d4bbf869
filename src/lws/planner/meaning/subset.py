"""Apply by difference: does every field that we would apply already stand in the live object?"""

from __future__ import annotations

from collections.abc import Mapping


def differing_fields(
    desired: Mapping[str, object], live: Mapping[str, object], *, kind: str
) -> list[str]:
    raise NotImplementedError
