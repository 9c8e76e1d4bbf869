"""Expressions in CEL: compiled once, evaluated with names; what is wrong with one, in words."""

import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from lws.sandbox.schema.custom.cel_functions import FUNCTIONS
from lws.sandbox.schema.errors import UnsupportedError

Json = Any

_BUILT_IN = frozenset(
    (
        *("size", "has", "all", "exists", "exists_one", "map", "filter", "matches", "contains"),
        *("startsWith", "endsWith", "string", "int", "uint", "double", "bool", "bytes", "type"),
        *("duration", "timestamp", "dyn", "getFullYear", "getMonth", "getDate", "getDayOfMonth"),
        *("getDayOfWeek", "getDayOfYear", "getHours", "getMinutes", "getSeconds"),
        *("getMilliseconds", "hasValue", "value", "orValue", "or", "optional.of"),
        "optional.none",
    )
)


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression."""

    run: Callable[[dict[str, Json]], Json]
    variables: frozenset[str]
    """Names that it uses, those that it defines itself too."""

    @property
    def uses_old(self) -> bool:
        """Is it about a change?"""
        return "oldSelf" in self.variables


def compile_fault(expression: str) -> str:
    """Why the expression is not CEL; empty if it is."""
    try:
        program(expression)
    except ValueError as error:
        return str(error)
    return ""


@cache
def program(expression: str) -> Program:
    """ValueError if it is not CEL, UnsupportedError if it is more than we can evaluate."""
    cel = evaluator()
    try:
        compiled = cel.compile(expression)
    except ValueError as error:
        if "unsupported syntax" in str(error):
            raise UnsupportedError(f"CEL's optional syntax, in the rule {expression!r}") from error
        raise
    _require_known(expression, compiled.functions())

    def run(names: dict[str, Json]) -> Json:
        return compiled.execute(cel.Context(variables=names, functions=dict(FUNCTIONS)))

    return Program(run, frozenset(compiled.variables()))


def reason(error: Exception) -> str:
    """Why an evaluation failed, in the server's words."""
    text = str(error)
    if isinstance(error, KeyError):
        return f"no such key: {error.args[0]}"
    if isinstance(error, ZeroDivisionError):
        return "division by zero"
    if text.startswith(_NO_OVERLOAD):
        return "no such overload"
    conversion = _CONVERSION.match(text)
    if conversion:
        return f"type conversion error from 'string' to '{conversion[1]}'"
    wrapped = _WRAPPED.search(text)
    return wrapped[1] if wrapped else text


_NO_OVERLOAD = ("No such overload", "Undefined variable or function", "Unsupported operation")
# How the package tells that a function of its own, or one of ours, raised.
_CONVERSION = re.compile(r"Function '(\w+)' error: string parse error")
_WRAPPED = re.compile(
    r"Python function call failed: \w+: (.*)\. Check function arguments", re.DOTALL
)


def _require_known(expression: str, functions: list[str]) -> None:
    for name in functions:
        is_operator = not name[0].isalpha()
        if not is_operator and name not in _BUILT_IN and name not in FUNCTIONS:
            raise UnsupportedError(f"the CEL function {name}, in the rule {expression!r}")
    if re.search(r"\bcel\.bind\(|\bsets\.|\bmath\.|\bauthorizer\b|\.format\(", expression):
        raise UnsupportedError(f"a CEL extension library, in the rule {expression!r}")


@cache
def evaluator() -> Any:
    """The evaluator alone: the package around it loads a terminal program, 0.1 s at each start."""
    package = find_spec("cel")
    found = package and PathFinder.find_spec("cel.cel", package.submodule_search_locations)
    if found is None or found.loader is None:
        raise UnsupportedError(
            "rules in CEL without the package common-expression-language"
            " (install lws with the extra sandbox)"
        )
    # A function that refuses its argument is an answer, not a warning.
    logging.getLogger("cel").setLevel(logging.CRITICAL)
    if found.name not in sys.modules:  # it may be begun once in a process
        module = module_from_spec(found)
        sys.modules[found.name] = module
        found.loader.exec_module(module)
    return sys.modules[found.name]
