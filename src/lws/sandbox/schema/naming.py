"""Names and labels: what each rule forbids, in the server's words."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

Rule = Callable[[str], Sequence[str]]

_remembered = lru_cache(maxsize=4096)  # the same few names, for thousands of pods
LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"{LABEL}(\.{LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_ENVIRONMENT = "[-._a-zA-Z][-._a-zA-Z0-9]*"

_CONSISTS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character"
)
_LOWER = "must consist of lower case alphanumeric characters"
_ENDS = "must start and end with an alphanumeric character"


def regex_words(message: str, pattern: str, *examples: str) -> str:
    """A message with examples and the pattern that it stands for."""
    listed = " or ".join(f"'{one}', " for one in examples)
    return f"{message} (e.g. {listed}regex used for validation is '{pattern}')"


def longer_than(limit: int, unit: str = "characters") -> str:
    """Too many of them; the server says bytes of labels, characters of names."""
    return f"must be no more than {limit} {unit}"


def outside(low: int, high: int) -> str:
    """Not in a range."""
    return f"must be between {low} and {high}, inclusive"


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


@_remembered
def dns_label(text: str) -> list[str]:
    """RFC 1123 label: names of namespaces, containers, pods' hostnames."""
    faults = [longer_than(63)] if len(text.encode()) > 63 else []
    if not _matches(LABEL, text):
        if _matches(SUBDOMAIN, text):
            return [*faults, "must not contain dots"]
        message = f"a lowercase RFC 1123 label {_LOWER} or '-', and {_ENDS}"
        faults.append(regex_words(message, LABEL, "my-name", "123-abc"))
    return faults


@_remembered
def dns_subdomain(text: str) -> list[str]:
    """RFC 1123 subdomain: names of most objects."""
    faults = [longer_than(253)] if len(text.encode()) > 253 else []
    if not _matches(SUBDOMAIN, text):
        message = f"a lowercase RFC 1123 subdomain {_LOWER}, '-' or '.', and {_ENDS}"
        faults.append(regex_words(message, SUBDOMAIN, "example.com"))
    return faults


@_remembered
def dns_1035_label(text: str) -> list[str]:
    """RFC 1035 label: begins with a letter."""
    faults = [longer_than(63)] if len(text.encode()) > 63 else []
    if not _matches(_LABEL_1035, text):
        message = (
            f"a DNS-1035 label {_LOWER} or '-', start with an alphabetic character, and end with"
            " an alphanumeric character"
        )
        faults.append(regex_words(message, _LABEL_1035, "my-name", "abc-123"))
    return faults


@_remembered
def qualified_name(text: str) -> list[str]:
    """A label's or annotation's key: `prefix/name`."""
    prefix, slash, name = text.rpartition("/")
    faults: list[str] = []
    if text.count("/") > 1:
        described = regex_words(_CONSISTS, _QUALIFIED, "MyName", "my.name", "123-abc")
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {described} {optional}"]
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash:
        faults += [
            f"prefix part {one.replace('characters', 'bytes', 1) if 'no more' in one else one}"
            for one in dns_subdomain(prefix)
        ]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append(f"name part {longer_than(63, 'bytes')}")
    if not _matches(_QUALIFIED, name):
        described = regex_words(_CONSISTS, _QUALIFIED, "MyName", "my.name", "123-abc")
        faults.append(f"name part {described}")
    return faults


@_remembered
def label_value(text: str) -> list[str]:
    """A label's value."""
    faults = [longer_than(63, "bytes")] if len(text.encode()) > 63 else []
    if not _matches(_LABEL_VALUE, text):
        message = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-',"
            " '_' or '.', and must start and end with an alphanumeric character"
        )
        faults.append(regex_words(message, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return faults


def config_key(text: str) -> list[str]:
    """A key of a ConfigMap or a Secret."""
    faults = [longer_than(253)] if len(text.encode()) > 253 else []
    if not _matches(_CONFIG_KEY, text):
        message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        faults.append(regex_words(message, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return faults + _directory(text)


def _directory(text: str) -> list[str]:
    if text == ".":
        return ["must not be '.'"]
    if text == "..":
        return ["must not be '..'"]
    return ["must not start with '..'"] if text.startswith("..") else []


@_remembered
def environment_name(text: str) -> list[str]:
    """The name of an environment variable: printable ASCII but `=`."""
    if not text:
        return ["environment variable name must be non-empty"]
    if any(not " " <= one <= "~" or one == "=" for one in text):
        message = (
            "a valid environment variable name must consist only of printable ASCII characters"
            " other than '='"
        )
        return [message]
    return []


def port_number(number: int) -> list[str]:
    """A port."""
    return [] if 1 <= number <= 65535 else [outside(1, 65535)]


@_remembered
def port_name(text: str) -> list[str]:
    """An IANA service name."""
    faults = [longer_than(15)] if len(text) > 15 else []
    if not _matches("[-a-z0-9]+", text):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        faults.append("must contain at least one letter (a-z)")
    if "--" in text:
        faults.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        faults.append("must not begin or end with a hyphen")
    return faults


def path_segment(text: str) -> list[str]:
    """A name that may stand in a path."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{one}'" for one in "/%" if one in text]
