"""The documents of a YAML file as kubectl would send them: JSON, and the items of lists one by one.

YAML can say what JSON cannot: a date is text here, a key is text, and what JSON has no word for
(an infinite number, a value that holds itself) is an error that names the file.
"""

import math
from collections.abc import Iterator
from typing import Any

import yaml

from lws.base.errors import InvalidInput

# A pod template takes some twenty levels; what comes after must not run out of stack.
_DEPTH_MAX = 100
_VALUES_MAX = 1_000_000  # a set has some hundreds
_INT64_MIN, _UINT64_MAX = -(2**63), 2**64 - 1

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Without dates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)


def documents_of(text: str, *, field: str) -> list[Any]:
    """Those that are not empty; InvalidInput, about `field`, for what is no YAML or no JSON."""
    try:
        found = list(yaml.load_all(text, Loader=_Loader))
        read = _Json()
        documents = [read.of(one) for one in found if one is not None]
    except yaml.YAMLError as error:
        raise InvalidInput(field=field, message=f"is not YAML: {_where(error)}") from error
    except (ValueError, ArithmeticError, LookupError, RecursionError) as error:
        what = str(error).partition(":")[0]
        raise InvalidInput(field=field, message=f"cannot be JSON: {what}") from error
    return [part for one in documents for part in _parts(one)]


def _parts(document: Any) -> Iterator[Any]:
    """Of a list its items, as kubectl takes them; else the document itself."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if isinstance(kind, str) and kind.endswith("List") and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _parts(item)
    else:
        yield document


class _Json:
    """Values as JSON; a few aliases of aliases would be more of them than there is memory for."""

    def __init__(self) -> None:
        self._left = _VALUES_MAX

    def of(self, value: Any, *, above: tuple[int, ...] = ()) -> Any:
        """`above`: the values that this one is in."""
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"it is more than {_VALUES_MAX} values with each alias written out")
        if value is None or isinstance(value, str | bool):
            return value
        if isinstance(value, int | float):
            return _number(value)
        if not isinstance(value, dict | list):
            raise ValueError(f"it has no {type(value).__name__}")
        if id(value) in above:
            raise ValueError("an alias leads back to what it is in")
        if len(above) >= _DEPTH_MAX:
            raise ValueError(f"it is nested more than {_DEPTH_MAX} levels deep")
        inside = (*above, id(value))
        if isinstance(value, list):
            return [self.of(item, above=inside) for item in value]
        return {_key(key): self.of(item, above=inside) for key, item in value.items()}


def _number(value: float) -> float:
    if isinstance(value, int):
        return value if _INT64_MIN <= value <= _UINT64_MAX else float(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number there")
    return value


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if not isinstance(key, str | int | float):
        raise ValueError(f"{key!r} is no key there")
    return str(key)


def _where(error: yaml.YAMLError) -> str:
    """One line of what a parser says in several."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())
