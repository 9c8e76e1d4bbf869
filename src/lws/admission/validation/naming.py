"""Names that other names are made from must leave room for those (api.md section 2)."""

import re

_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_LENGTH_MAX = 63
# A dash and ten characters: what the StatefulSet controller appends to a name for a revision.
_REVISION_SUFFIX = 11
# What the API server appends to generateName.
_GENERATED = "xxxxx"

DNS_LABEL_RULE = (
    "must be a DNS-1035 label, since it names a Service: lower-case letters, digits and dashes,"
    " starting with a letter and ending with a letter or digit"
)


def is_dns_label(name: str) -> bool:
    """Whether a Service can have it, whatever its length."""
    return _DNS_LABEL.fullmatch(name) is not None


def expected_name(name: str | None, generate_name: str | None) -> str:
    """The name, or one like that which the API server is going to give."""
    if name:
        return name
    return f"{generate_name}{_GENERATED}" if generate_name else ""


def longest_label(name_length: int, *, replicas: int, surge: int, size: int) -> int:
    """Length of the longest label value made from a LeaderWorkerSet's name: a worker pod's name,
    or the revision of a worker StatefulSet."""
    highest = max(0, replicas + min(surge, replicas) - 1)
    worker = len(f"-{size - 1}")
    return name_length + len(f"-{highest}") + max(worker, _REVISION_SUFFIX)
