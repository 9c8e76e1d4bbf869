"""Reading a document that may hold anything: a place knows its path and where errors go.

Null and absent are one. A wrong type is an error with the path of the field, once, however many
rules read it; to those rules the field is then absent.
"""

from collections.abc import Collection, Iterator

from lws.admission.validation.verdict import Cause, FieldError

INT32_MAX = 2**31 - 1


class Report:
    """The errors and warnings found so far, each once, in the order in which they were found."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str, str], FieldError] = {}
        self._warnings: dict[str, None] = {}

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """All errors."""
        return tuple(self._errors.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings."""
        return tuple(self._warnings)

    def add(self, error: FieldError) -> None:
        """Note an error."""
        self._errors.setdefault((error.path, error.kind, error.message), error)

    def warn(self, message: str) -> None:
        """Note a warning."""
        self._warnings.setdefault(message)


class Place:
    """One field of a document; what lies within a field of a wrong type is not `reachable`."""

    __slots__ = ("path", "reachable", "report", "value")

    def __init__(self, value: object, *, path: str, report: Report, reachable: bool = True) -> None:
        self.value = value
        self.path = path
        self.report = report
        self.reachable = reachable

    def __getitem__(self, key: str) -> "Place":
        return self._within(key, path=f"{self.path}.{key}" if self.path else key)

    def entry(self, key: str) -> "Place":
        """An entry of a map, whose key is not a field's name: `annotations[example.com/a]`."""
        return self._within(key, path=f"{self.path}[{key}]")

    def __iter__(self) -> Iterator["Place"]:
        for index, value in enumerate(self.elements()):
            yield Place(value, path=f"{self.path}[{index}]", report=self.report)

    @property
    def is_set(self) -> bool:
        """Whether something is there, of whatever type."""
        return self.value is not None

    def fields(self) -> dict[str, object]:
        """The object here."""
        if isinstance(self.value, dict):
            return self.value
        self._expect("an object")
        return {}

    def elements(self) -> list[object]:
        """The list here."""
        if isinstance(self.value, list):
            return self.value
        self._expect("a list")
        return []

    def integer(self) -> int | None:
        """The whole number here."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        self._expect("a whole number")
        return None

    def text(self) -> str | None:
        """The string here."""
        if isinstance(self.value, str):
            return self.value
        self._expect("a string")
        return None

    def flag(self) -> bool | None:
        """The boolean here."""
        if isinstance(self.value, bool):
            return self.value
        self._expect("true or false")
        return None

    def one_of(self, choices: Collection[str], *, default: str) -> str:
        """The choice made here; empty, as Go writes it, is none. One that does not exist is an
        error and counts as the default."""
        choice = self.text()
        if not choice:
            return default
        if choice in choices:
            return choice
        listed = ", ".join(choices)
        self.error(Cause.NOT_SUPPORTED, f"use one of: {listed}")
        return default

    def bounded(self, low: int, high: int = INT32_MAX, *, default: int | None) -> int | None:
        """The number here if it is in range; an error, and None, if it is not."""
        number = self.integer()
        if number is None:
            return None if self.is_set else default
        if low <= number <= high:
            return number
        limit = f"at least {low}" if number < low else f"at most {high}"
        self.error(Cause.INVALID, f"must be {limit}")
        return None

    def require(self, message: str) -> None:
        """Something must be here."""
        if self.reachable and (self.value is None or self.value == ""):
            self.error(Cause.REQUIRED, message)

    def error(self, kind: Cause, message: str) -> None:
        """Something is wrong here."""
        self.report.add(FieldError(self.path, self.value, kind, message))

    def _within(self, key: str, *, path: str) -> "Place":
        value = self.fields().get(key)
        reachable = self.reachable and (self.value is None or isinstance(self.value, dict))
        return Place(value, path=path, report=self.report, reachable=reachable)

    def _expect(self, what: str) -> None:
        if self.value is not None:
            self.error(Cause.WRONG_TYPE, f"must be {what}")
