"""What names, labels and the like may be, and what is said about those that are not."""

import re
from collections.abc import Callable, Iterable, Iterator

from lws.sandbox.server.status import Cause

Problems = Iterator[str]
NameRule = Callable[[str], Problems]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")

LABEL_MAX = 63
SUBDOMAIN_MAX = 253


def too_long(limit: int) -> str:
    """The words for more than `limit` bytes."""
    return f"must be no more than {limit} bytes"


def label_problems(value: str) -> Problems:
    """An RFC 1123 label: a namespace, a StatefulSet, a Service."""
    if len(value) > LABEL_MAX:
        yield too_long(LABEL_MAX)
    if "." in value and _SUBDOMAIN.fullmatch(value):
        yield "must not contain dots"
    elif not _LABEL.fullmatch(value):
        yield (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or"
            " '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or"
            " '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        )


def subdomain_problems(value: str) -> Problems:
    """An RFC 1123 subdomain: most names."""
    if len(value) > SUBDOMAIN_MAX:
        yield too_long(SUBDOMAIN_MAX)
    if not _SUBDOMAIN.fullmatch(value):
        yield (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,"
            " '-' or '.', and must start and end with an alphanumeric character (e.g."
            " 'example.com', regex used for validation is"
            r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )


def path_segment_problems(value: str) -> Problems:
    """What fits between two slashes: names of roles."""
    if value in (".", ".."):
        yield f"may not be '{value}'"
    for part in ("/", "%"):
        if part in value:
            yield f"may not contain '{part}'"


def qualified_problems(value: str) -> Problems:
    """A key of a label or an annotation, a finalizer: `prefix/name`."""
    prefix, slash, name = value.rpartition("/")
    if slash and "/" in prefix:
        yield (
            f"a valid label key {_qualified_words()} with an optional DNS subdomain prefix and '/'"
            " (e.g. 'example.com/MyName')"
        )
        return
    if slash:
        if not prefix:
            yield "prefix part must be non-empty"
        else:
            yield from (f"prefix part {problem}" for problem in subdomain_problems(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > LABEL_MAX:
        yield f"name part {too_long(LABEL_MAX)}"
    if not _QUALIFIED.fullmatch(name):
        yield f"name part {_qualified_words()}"


def _qualified_words() -> str:
    return (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
        " alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
        " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )


def label_value_problems(value: str) -> Problems:
    """The value of a label."""
    if len(value) > LABEL_MAX:
        yield too_long(LABEL_MAX)
    if not _VALUE.fullmatch(value):
        yield (
            "a valid label must be an empty string or consist of alphanumeric characters, '-',"
            " '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', "
            " or 'my_value',  or '12345', regex used for validation is"
            " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )


_RULES: dict[str, NameRule] = {
    "ClusterRole": path_segment_problems,
    "ClusterRoleBinding": path_segment_problems,
    "Namespace": label_problems,
    "Role": path_segment_problems,
    "RoleBinding": path_segment_problems,
    "Service": label_problems,
    "StatefulSet": label_problems,
}


def rule_of(kind: str, *, is_custom: bool) -> NameRule:
    """Which names objects of a kind may have."""
    return subdomain_problems if is_custom else _RULES.get(kind, subdomain_problems)


_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_WORDS = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def _escape(match: re.Match[str]) -> str:
    """As Go quotes it."""
    return _WORDS.get(match.group()) or f"\\x{ord(match.group()):02x}"


def shown(value: object) -> str:
    """A value as the server quotes it."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{_CONTROLS.sub(_escape, escaped)}"'
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def invalid_causes(field: str, value: object, problems: Iterable[str]) -> list[Cause]:
    """One cause for each problem."""
    return [
        Cause("FieldValueInvalid", f"Invalid value: {shown(value)}: {problem}", field)
        for problem in problems
    ]
