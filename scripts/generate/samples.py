"""Random templates that cover each field of a Go type, odd spellings and empty values included."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from lws.api.schema.gotypes import GoType, parse_type, struct_fields

STRINGS = (
    "", "a", "web-1", "10.0.0.1", "a<b && c>d", 'say "no"', "back\\slash", "tab\tline\nend\r",
    "\b\f\x01\x7f", "äöü 漢字 🚀", "line\u2028sep\u2029", "$(VAR)", "0", "true", "null", " x ",
)  # fmt: skip
KEYS = ("app", "example.com/role", "Z", "a", "a.b", "a/b", "é", "k<&>", "_", "0")
QUANTITIES: tuple[str | int | float, ...] = (
    "0", "1", "10", "100m", "1000m", "1500m", "0.5", "0.001", "1.500", "00.50", "01", "-1", "+2",
    "1Ki", "1023", "1024", "1000Ki", "1024Mi", "1.5Gi", "0.5Ki", "0.1Mi", "512Mi", "7Gi", "2048Ki",
    "1e3", "1E3", "15e2", "1.5e3", "5e-1", "1e-10", "100n", "0.1n", "1u", "1k", "1000k", "12M",
    "4T", "5P", "6E", "7Ei", "9Ei", "1000E", "123456789012345678", "1234567890123456789",
    "0.123456789123", "1Pi", "1025Pi", "-1.5Gi", "1.", ".5", "1.Gi", "100000000000000Ki", 1, 0,
    2048, "3G", 0.5, 1.5, 1000000,
)  # fmt: skip
TIMES = ("2024-01-02T03:04:05Z", "2024-06-30T23:59:59+02:00", "1999-12-31T00:00:00.5Z")
INTEGERS = (0, 1, -1, 5, 8080, 2**31 - 1)
PORTS: tuple[int | str, ...] = (0, 80, -1, "http", "25%", "")
DEPTH_MAX = 14


@dataclass
class Sampler:
    """Prefers what has not been seen yet; `seen` counts (struct, field)."""

    random: Random
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    made: set[tuple[str, str]] = field(default_factory=set)

    def sample(self, expression: str) -> object:
        self.made = set()
        return self._value(parse_type(expression), 0)

    def _value(self, go: GoType, depth: int) -> object:
        if go.kind == "struct":
            return self._struct(go.struct, depth)
        if go.kind == "list":
            assert go.item is not None
            return [self._value(go.item, depth + 1) for _ in range(self._length())]
        if go.kind == "map":
            assert go.item is not None
            keys = self.random.sample(KEYS, self._length())
            return {key: self._value(go.item, depth + 1) for key in keys}
        return self._leaf(go.kind)

    def _length(self) -> int:
        return self.random.choice((0, 1, 1, 1, 1, 2, 2))

    def _leaf(self, kind: str) -> object:
        choices: dict[str, tuple[object, ...]] = {
            "string": STRINGS,
            "bool": (True, True, False),
            "int32": INTEGERS,
            "int64": (*INTEGERS, 2**53 + 1, 2**63 - 1),
            "quantity": QUANTITIES,
            "intorstring": PORTS,
            "time": TIMES,
            "raw": ({}, {"f:a": {"f:b": {}}}),
        }
        return self.random.choice(choices[kind])

    def _struct(self, struct: str, depth: int) -> dict[str, object]:
        out: dict[str, object] = {}
        names = list(struct_fields(struct))
        self.random.shuffle(names)
        for name in names:
            if not self._wanted(struct, name, depth):
                continue
            self.seen[struct, name] += 1
            self.made.add((struct, name))
            null = self.random.random() < 0.04
            out[name] = None if null else self._value(struct_fields(struct)[name].type, depth + 1)
        if self.random.random() < 0.03:
            out["fieldOfTheFuture"] = {"a": [1]}
        return out

    def _wanted(self, struct: str, name: str, depth: int) -> bool:
        if depth > DEPTH_MAX:
            return False
        if depth <= 1:
            return self.random.random() < 0.5
        wish = (0.9, 0.5, 0.5)[self.seen[struct, name]] if self.seen[struct, name] < 3 else 0.1
        return self.random.random() < wish


def reachable(expression: str) -> set[tuple[str, str]]:
    """Each (struct, field) that a value of this type can hold."""
    found: set[tuple[str, str]] = set()
    todo = [parse_type(expression)]
    while todo:
        go = todo.pop()
        if go.item is not None:
            todo.append(go.item)
        if go.kind != "struct" or any(struct == go.struct for struct, _ in found):
            continue
        for name, each in struct_fields(go.struct).items():
            found.add((go.struct, name))
            todo.append(each.type)
    return found
