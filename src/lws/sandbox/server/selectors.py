"""Label and field selectors."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.sandbox.server import names
from lws.sandbox.server.status import ApiStatus, bad_request

JsonObject = dict[str, Any]
Labels = Mapping[str, str]
FieldsOf = Callable[[str, JsonObject], str]

_TOKEN = re.compile(r"\s*(==|=|!=|!|<|>|\(|\)|,|[^\s=!<>(),]+)")
_SYMBOLS = frozenset(("==", "=", "!=", "!", "<", ">", "(", ")", ","))
_OPERATORS = "in, notin, =, ==, !=, gt, lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on labels."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, labels: Labels) -> bool:
        """Do the labels fulfil it?"""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "absent":
                return value is None
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case ">" | "<":
                return self._compares(value)
        raise AssertionError(self.operator)

    def _compares(self, value: str | None) -> bool:
        (bound,) = self.values
        try:
            number = int(value or "")
        except ValueError:
            return False
        return number > int(bound) if self.operator == ">" else number < int(bound)


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One condition on a field."""

    path: str
    value: str
    is_equal: bool


class _Parser:
    """Reads a label selector."""

    def __init__(self, text: str) -> None:
        self._words = [match.group(1) for match in _TOKEN.finditer(text)]
        self._at = 0

    def requirements(self) -> Iterator[Requirement]:
        """All of them; ApiStatus with the server's words for what cannot be read."""
        if not self._words:
            return
        if self._peek() in _SYMBOLS - {"!"}:
            raise bad_request(
                f"found '{self._peek()}', expected: !, identifier, or 'end of string'"
            )
        while True:
            yield self._requirement()
            word = self._next()
            if word == "":
                return
            if word != ",":
                raise bad_request(f"found '{word}', expected: ',' or 'end of string'")
            if self._peek() == "":
                raise bad_request("found '', expected: identifier after ','")

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _next(self) -> str:
        word = self._peek()
        self._at += 1
        return word

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(self._key(), "absent")
        key = self._key()
        if self._peek() in ("", ","):
            return Requirement(key, "exists")
        return self._condition(key)

    def _condition(self, key: str) -> Requirement:
        operator = self._next()
        if operator in ("in", "notin"):
            return Requirement(key, operator, frozenset(self._values(key)))
        if operator in ("=", "==", "!="):
            chosen = "notin" if operator == "!=" else "in"
            return Requirement(key, chosen, frozenset((self._value(key),)))
        if operator in (">", "<"):
            return Requirement(key, operator, frozenset((self._number(key),)))
        raise _unparsed(f"found '{operator}', expected: {_OPERATORS}")

    def _key(self) -> str:
        word = self._next()
        if word in _SYMBOLS or not word:
            raise _unparsed(f"found '{word}', expected: identifier")
        for problem in names.qualified_problems(word):
            raise _unparsed(f"<nil>: Invalid value: {names.shown(word)}: {problem}")
        return word

    def _value(self, key: str) -> str:
        if self._peek() in ("", ","):
            return ""
        word = self._next()
        if word in _SYMBOLS:
            raise _unparsed(f"found '{word}', expected: identifier")
        return _checked_value(word, key)

    def _number(self, key: str) -> str:
        word = self._value(key)
        if not re.fullmatch(r"-?\d+", word):
            raise _unparsed(
                f"values[0]: Invalid value: \"{word}\": for 'Gt', 'Lt' operators, the"
                " value must be an integer"
            )
        return word

    def _values(self, key: str) -> Iterator[str]:
        word = self._next()
        if word != "(":
            raise _unparsed(f"found '{word}' expected: '('")
        expects_value = True
        while (word := self._next()) != ")":
            if word == "":
                raise _unparsed("found '', expected: ',' or ')'")
            if word == ",":
                if expects_value:
                    yield ""
                expects_value = True
                continue
            yield _checked_value(word, key)
            expects_value = False
        if expects_value:
            yield ""


def _checked_value(value: str, key: str) -> str:
    for problem in names.label_value_problems(value):
        raise _unparsed(f'values[0][{key}]: Invalid value: "{value}": {problem}')
    return value


def _unparsed(why: str) -> ApiStatus:
    return bad_request(f"unable to parse requirement: {why}")


def label_requirements(text: str) -> tuple[Requirement, ...]:
    """A label selector as in a query; ApiStatus 400 if it is none."""
    return tuple(_Parser(text).requirements())


def matches_labels(requirements: Sequence[Requirement], labels: Labels) -> bool:
    """Do the labels fulfil all?"""
    return all(one.holds(labels) for one in requirements)


_OBJECT_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}


def selector_requirements(selector: Mapping[str, Any] | None) -> tuple[Requirement, ...] | None:
    """A `metav1.LabelSelector`; None (nothing matches) if there is none."""
    if selector is None:
        return None
    exact = [
        Requirement(key, "in", frozenset((value,)))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    others = [
        Requirement(
            one["key"], _OBJECT_OPERATORS[one["operator"]], frozenset(one.get("values") or ())
        )
        for one in selector.get("matchExpressions") or ()
    ]
    return (*exact, *others)


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """A `metav1.LabelSelector` in the words of a query, as the scale subresource shows it."""
    words = []
    for one in sorted(selector_requirements(selector or {}) or (), key=lambda one: one.key):
        values = ",".join(sorted(one.values))
        match one.operator:
            case "in" if len(one.values) == 1:
                words.append(f"{one.key}={values}")
            case "in" | "notin":
                words.append(f"{one.key} {one.operator} ({values})")
            case "exists":
                words.append(one.key)
            case "absent":
                words.append(f"!{one.key}")
    return ",".join(words)


_FIELD_TERM = re.compile(r"((?:[^=!\\]|\\.)*?)(==|!=|=)(.*)", re.DOTALL)


def field_requirements(
    text: str, supported: Sequence[str], *, is_plain: bool = False
) -> tuple[FieldRequirement, ...]:
    """A field selector as in a query, on fields that the kind lets select; `is_plain`: the kind
    has none of its own."""
    terms = [term for term in re.split(r"(?<!\\),", text) if term]
    requirements = []
    for term in terms:
        match = _FIELD_TERM.fullmatch(term)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        path, operator, value = match.groups()
        if path not in supported:
            listed = ", ".join(names.shown(one) for one in supported)
            known = f"{names.shown(path)} is not a known field selector: only {listed}"
            raise bad_request(known if is_plain else f"field label not supported: {path}")
        if re.search(r"(?<!\\)=", value):
            raise bad_request("invalid field selector: unescaped character in value: 61")
        value = re.sub(r"\\([\\,=])", r"\1", value)
        requirements.append(FieldRequirement(path, value, operator != "!="))
    return tuple(requirements)


def matches_fields(requirements: Sequence[FieldRequirement], obj: JsonObject, kind: str) -> bool:
    """Do the object's fields fulfil all?"""
    return all(
        (field_text(obj, one.path, kind) == one.value) is one.is_equal for one in requirements
    )


def field_text(obj: JsonObject, path: str, kind: str) -> str:
    """A field as selectors see it; what is not there is the zero of its type."""
    if kind == "Event" and path == "source":
        component = (obj.get("source") or {}).get("component")
        return str(component or obj.get("reportingComponent") or "")
    if path == "status.podIPs":
        return ",".join(one["ip"] for one in (obj.get("status") or {}).get("podIPs") or ())
    value: Any = obj
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        return _ZEROS.get(path, "")
    return str(value).lower() if isinstance(value, bool) else str(value)


_ZEROS = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.replicas": "0",
}
