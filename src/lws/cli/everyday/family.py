"""A LeaderWorkerSet and what belongs to it, as the API server gave them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lws.api import names

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Family:
    """Plain objects; what is absent has not been made yet."""

    lws: Document
    statefulset: Document | None
    pods: tuple[Document, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    """By StatefulSet: why a pod of it, or itself, was not made; asked for if one is missing."""


def labels_of(document: Document) -> Mapping[str, str]:
    """Labels of an object, empty where it has none."""
    labels: Mapping[str, str] = document["metadata"].get("labels") or {}
    return labels


def group_of(pod: Document) -> int | None:
    """Index of a pod's group; a leader that was made without our webhook has it in its name."""
    labels = labels_of(pod)
    index = labels.get(names.GROUP_INDEX)
    if index is None and labels.get(names.WORKER_INDEX) == "0":
        return names.ordinal(pod["metadata"]["name"])
    return int(index) if index is not None and index.isascii() and index.isdigit() else None


def wanted_groups(lws: Document) -> int:
    """How many groups the spec asks for."""
    replicas = lws["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def revision_of(family: Family) -> str:
    """Key of the revision that new groups get; empty before there is one."""
    if family.statefulset is None:
        return ""
    return labels_of(family.statefulset).get(names.REVISION_KEY, "")


def condition(document: Document, type_: str) -> Document | None:
    """A condition of an object, None where it has none of that type."""
    conditions = document.get("status", {}).get("conditions") or ()
    return next((one for one in conditions if one["type"] == type_), None)


def is_true(document: Document, type_: str) -> bool:
    """Whether a condition holds."""
    found = condition(document, type_)
    return found is not None and found["status"] == "True"
