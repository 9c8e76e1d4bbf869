"""Expressions of a policy: evaluated with what they name, variables when they are asked for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lws.base.errors import LwsError
from lws.sandbox.schema.custom.expressions import program, reason
from lws.sandbox.schema.errors import UnsupportedError
from lws.sandbox.server import status

JsonObject = dict[str, Any]

_VARIABLE = re.compile(r"\bvariables\.(\w+)")


class ExpressionError(LwsError):
    """An expression has no value; the message says why, in the server's words."""


class Names:
    """The names that the expressions of one policy know, about one write."""

    def __init__(self, names: Mapping[str, Any], variables: Iterable[Mapping[str, str]]) -> None:
        self._names = names
        self._expressions = {one["name"]: one["expression"] for one in variables}
        self._known: dict[str, Any] = {}
        self._failed: dict[str, ExpressionError] = {}

    def value(self, expression: str) -> Any:
        """What it says; ExpressionError if it says nothing, 501 if we cannot evaluate it."""
        try:
            compiled = program(expression)
            used = {name: self._names[name] for name in compiled.variables & self._names.keys()}
            if "variables" in compiled.variables:
                used["variables"] = self._variables(expression)
            return compiled.run(used)
        except UnsupportedError as error:
            raise status.not_implemented(error.what) from error
        except status.ApiStatus:
            raise
        except Exception as error:
            raise self._explained(expression, error) from error

    def _variables(self, expression: str) -> Mapping[str, Any]:
        """Those that it names and that have a value; of the others it is told if it needs them."""
        asked = _VARIABLE.findall(expression)
        for name in asked:
            if name in self._expressions and name not in self._known and name not in self._failed:
                try:
                    self._known[name] = self.value(self._expressions[name])
                except ExpressionError as error:
                    self._failed[name] = error
        return {name: self._known[name] for name in asked if name in self._known}

    def _explained(self, expression: str, error: Exception) -> ExpressionError:
        for name in _VARIABLE.findall(expression):
            if name in self._failed and isinstance(error, KeyError) and error.args[0] == name:
                why = self._failed[name]
                return ExpressionError(f'composited variable "{name}" fails to evaluate: {why}')
        if isinstance(error, TypeError):  # a field of what is not there
            for name, value in self._names.items():
                field = re.search(rf"\b{name}\.(\w+)", expression) if value is None else None
                if field is not None:
                    return ExpressionError(f"no such key: {field[1]}")
        return ExpressionError(reason(error))


def evaluated(expression: str, known: Names) -> Any:
    """Its value; an ExpressionError names it."""
    try:
        return known.value(expression)
    except ExpressionError as error:
        raise ExpressionError(f"expression '{expression}' resulted in error: {error}") from error


def are_met(conditions: Sequence[Mapping[str, str]], known: Names) -> bool:
    """matchConditions: one that is false outweighs one that fails."""
    failures = []
    for condition in conditions:
        try:
            if evaluated(condition["expression"], known) is not True:
                return False
        except ExpressionError as error:
            failures.append(error)
    if len(failures) > 1:
        raise ExpressionError(f"[{', '.join(map(str, failures))}]")
    if failures:
        raise failures[0]
    return True
