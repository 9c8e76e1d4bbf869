"""Which fields differ between two plain objects. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

SHORT = 60
"""Characters of a value that are told."""
ABSENT: Any = object()
Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One field; an item of a list is a step such as `[main]`, by its name."""

    steps: Steps
    old: Any
    new: Any
    is_order: bool = False
    """The items of the list stay, in another order."""

    @property
    def path(self) -> str:
        """As a person writes it."""
        text = ""
        for step in self.steps:
            text += step if step.startswith("[") or not text else f".{step}"
        return f"{text} (order)" if self.is_order else text

    def __str__(self) -> str:
        old, new = short(self.old), short(self.new)
        if old == new:  # a number that became a text, or what differs far behind
            old, new = (_written(each) for each in (self.old, self.new))
        return f"{self.path}: {old} → {new}"


def changes(old: object, new: object, steps: Steps = ()) -> Iterator[Change]:
    """Every field that differs; items of lists are known by their names."""
    if old == new:
        return
    left, right = _members(old), _members(new)
    if left is None or right is None:
        yield Change(steps, old, new)
        return
    for key in dict.fromkeys([*left, *right]):
        yield from changes(left.get(key, ABSENT), right.get(key, ABSENT), (*steps, key))
    if isinstance(new, list):
        orders = [[key for key in each if key in left and key in right] for each in (left, right)]
        if orders[0] != orders[1]:
            before, after = (", ".join(key[1:-1] for key in each) for each in orders)
            yield Change(steps, before, after, is_order=True)


def with_value(document: Any, steps: Sequence[str], value: Any) -> Any:
    """A copy of an object with another value at a field; ABSENT takes it away."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(document, list):
        return _with_item(document, step[1:-1], rest, value)
    before = document if isinstance(document, Mapping) else {}
    others = {key: member for key, member in before.items() if key != step}
    after = with_value(before.get(step, {}), rest, value)
    if after is ABSENT:
        return others
    return {**before, step: after} if step in before else {**others, step: after}


def _with_item(items: list[Any], name: str, rest: Sequence[str], value: Any) -> list[Any]:
    found = [with_value(one, rest, value) if _name_of(one) == name else one for one in items]
    if not any(_name_of(one) == name for one in items):
        found.append(with_value({"name": name}, rest, value))
    return [one for one in found if one is not ABSENT]


def _members(value: object) -> dict[str, object] | None:
    """The fields of a map, or of a list of named things; None for anything else."""
    if isinstance(value, Mapping):
        return {str(key): member for key, member in value.items()}
    if isinstance(value, list) and value:
        found = {f"[{name}]": item for item in value if (name := _name_of(item))}
        return found if len(found) == len(value) else None
    return None


def _name_of(item: object) -> str | None:
    """What tells an item of a list apart: a name, or the type of a condition."""
    name = (item.get("name") or item.get("type")) if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else None


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()


def short(value: object) -> str:
    """A value in a line."""
    if value is ABSENT:
        return "(none)"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
