"""What makes an object of a built-in kind invalid, in the API server's words.

Law: a module per kind or part of one; a rule is a function from a defaulted object (and the old
one, if it is updated) to faults. No rule looks at another object.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lws.sandbox.schema.errors import FieldError

Object = Mapping[str, Any]
KindRule = Callable[[Object, Object | None], Iterable[FieldError]]

RULES: dict[tuple[str, str, str], KindRule] = {}
