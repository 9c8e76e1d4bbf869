"""Other writers: the same template in another spelling, and a template with one real change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from lws.api.quantities import format_quantity, parse_quantity
from lws.api.schema.gotypes import GoType, parse_type, struct_defaults, struct_fields

Json = dict[str, Any]
TEMPLATE = parse_type("lws.LeaderWorkerTemplate")

ZEROES: dict[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "quantity": "0",
    "intorstring": 0,
}
SAYS_NOTHING = (
    "core.Affinity",
    "core.PodSecurityContext",
    "core.SecurityContext",
    "core.Lifecycle",
)


@dataclass(frozen=True)
class Writer:
    """Spells an object anew, by its Go type."""

    random: Random

    def spell(self, value: Any, go: GoType) -> Any:
        if value is None:
            return None
        if go.kind == "struct":
            return self._struct(value, go.struct)
        if go.kind == "list":
            assert go.item is not None
            return [self.spell(each, go.item) for each in value]
        if go.kind == "map":
            assert go.item is not None
            return self._shuffled({key: self.spell(each, go.item) for key, each in value.items()})
        if go.kind == "quantity":
            return self._quantity(value)
        if go.kind in ("int32", "int64") and abs(value) < 2**53 and self._sometimes():
            return float(value)
        return value

    def _struct(self, value: Json, struct: str) -> Json:
        out = {}
        fields, defaults = struct_fields(struct), struct_defaults(struct)
        for name, each in value.items():
            go = fields[name].type if name in fields else GoType("raw")
            if name in fields and self._means_absence(each, go, defaults.get(name)):
                continue
            out[name] = self.spell(each, go)
        for name, field in fields.items():
            if name not in value and self._sometimes():
                absent = self._absence(field.type, defaults.get(name))
                if absent is not None or name not in defaults:
                    out[name] = absent
        return self._shuffled(out)

    def _means_absence(self, value: Any, go: GoType, default: Any) -> bool:
        if default is not None and value == default:
            return self._sometimes()
        if value is None:
            return default is None and self._sometimes()
        if go.kind in ("list", "map") and not value:
            return self._sometimes()
        is_zero = not go.pointer and go.kind in ZEROES and value == ZEROES[go.kind]
        return is_zero and type(value) is type(ZEROES[go.kind]) and default is None

    def _absence(self, go: GoType, default: Any) -> Any:
        """Something that means the same as an absent field of this type."""
        if default is not None:
            return default
        choices: list[Any] = [None]
        if go.kind in ("list", "map"):
            choices.append([] if go.kind == "list" else {})
        elif go.kind == "struct" and (not go.pointer or go.struct in SAYS_NOTHING):
            choices.append({})
        elif not go.pointer and go.kind in ZEROES:
            choices.append(ZEROES[go.kind])
        return self.random.choice(choices)

    def _quantity(self, value: str | float) -> str | int:
        amount = parse_quantity(value)
        spellings: list[str | int] = [format_quantity(amount), format_quantity(amount, binary=True)]
        spellings.append(f"{int(amount * 10**9)}n")
        if amount.denominator == 1:
            spellings += [
                int(amount),
                f"{int(amount)}.0",
                f"+{amount}" if amount > 0 else f"{amount}",
            ]
            spellings.append(f"{int(amount)}e0")
        return self.random.choice([each for each in spellings if parse_quantity(each) == amount])

    def _shuffled(self, value: Json) -> Json:
        names = list(value)
        self.random.shuffle(names)
        return {name: value[name] for name in names}

    def _sometimes(self) -> bool:
        return self.random.random() < 0.2


Change = Callable[[], None]


@dataclass(frozen=True)
class Changer:
    """Changes one thing, so that the meaning is another."""

    random: Random

    def change(self, template: Json) -> Json:
        changed: Json = json.loads(json.dumps(template))
        changes = list(self._of_struct(changed, TEMPLATE.struct))
        self.random.choice(changes)()
        return changed

    def _of_struct(self, value: Json, struct: str) -> list[Change]:
        found: list[Change] = []
        for name, field in struct_fields(struct).items():
            if value.get(name) is None:
                continue
            found += self._of_value(value, name, field.type)
        if not found or self.random.random() < 0.1:
            found.append(lambda: value.update(fieldOfTheFuture={"b": self.random.random()}))
        return found

    def _of_value(self, owner: Any, name: Any, go: GoType) -> list[Change]:
        value = owner[name]
        if go.kind == "struct":
            return self._of_struct(value, go.struct)
        if go.kind == "list":
            assert go.item is not None
            nested = [
                change
                for index, each in enumerate(value)
                if each is not None
                for change in self._of_value(value, index, go.item)
            ]
            added = {"struct": {}, "string": "z"}.get(go.item.kind, 7)
            return [*nested, lambda: value.append(added)]
        if go.kind == "map":
            return [lambda: value.update(another="1")]
        if go.kind == "raw":
            return [lambda: value.update(another={})]
        return [lambda: owner.__setitem__(name, other(value, go))]


def other(value: Any, go: GoType) -> Any:
    """A value of the same kind and of another meaning."""
    if go.kind == "quantity":
        return format_quantity(parse_quantity(value) + Fraction(1, 1000))
    if go.kind == "bool":
        return not value
    if go.kind == "time":
        return "2031-01-02T03:04:05Z"
    return value + "x" if isinstance(value, str) else value + 1
