"""Which series an expression asks for: enough of PromQL for our rules and panels."""

import re
from dataclasses import dataclass

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_TOKEN = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*|\{[^}]*\}|\[[^\]]*\]|\d[\w.]*|\S")
_LISTS = ("by", "without", "on", "ignoring", "group_left", "group_right")
_WORDS = ("and", "or", "unless", "bool", "offset")
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*$")
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*(?:=~|!~|!=|=)")


@dataclass(frozen=True)
class Asked:
    """A metric, and the labels by which its series are chosen."""

    metric: str
    labels: frozenset[str]


def asked(expression: str) -> tuple[set[Asked], set[str]]:
    """Series that are asked for; and labels that they are grouped or matched by."""
    tokens = _TOKEN.findall(_STRING.sub('""', expression))
    series: set[Asked] = set()
    grouping: set[str] = set()
    number = 0
    while number < len(tokens):
        token, following = tokens[number], (*tokens[number + 1 :], "", "")
        if token in _LISTS and following[0] == "(":
            end = tokens.index(")", number)
            grouping |= set(tokens[number + 2 : end]) - {","}
            number = end
        elif _is_metric(token, following[0]):
            chosen = _LABEL.findall(following[0]) if following[0].startswith("{") else []
            series.add(Asked(token, frozenset(chosen)))
        number += 1
    return series, grouping


def _is_metric(token: str, following: str) -> bool:
    """No function, no word of the language, and no aggregation (`sum by (…)`)."""
    if not _NAME.match(token) or token in (*_WORDS, *_LISTS) or following == "(":
        return False
    return not (following in ("by", "without") and token in ("sum", "max", "min", "avg", "count"))
