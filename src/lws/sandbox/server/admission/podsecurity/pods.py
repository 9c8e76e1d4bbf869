"""A pod as the checks look at it, and how they name its parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """`reason (detail)`"""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod's or a template's metadata and spec; `minor`: as Kubernetes 1.x judges it."""

    metadata: JsonObject
    spec: JsonObject
    minor: int

    @property
    def annotations(self) -> Mapping[str, str]:
        """`metadata.annotations`, perhaps empty."""
        return self.metadata.get("annotations") or {}

    @property
    def context(self) -> JsonObject:
        """The pod's own security context, perhaps empty."""
        return self.spec.get("securityContext") or {}

    @property
    def is_of_windows(self) -> bool:
        """Does it say so?"""
        return (self.spec.get("os") or {}).get("name") == "windows"

    @property
    def has_own_users(self) -> bool:
        """Is root of its containers nobody on the node?"""
        return self.spec.get("hostUsers") is False

    def containers(self) -> Iterator[JsonObject]:
        """All of them, in the order in which they are named."""
        for field in ("initContainers", "containers", "ephemeralContainers"):
            yield from self.spec.get(field) or ()

    def names(self, is_bad: Callable[[JsonObject], object]) -> list[str]:
        """Of the containers whose security context is bad."""
        return [one["name"] for one in self.containers() if is_bad(context_of(one))]


def context_of(container: JsonObject) -> JsonObject:
    """A container's security context, perhaps empty."""
    return container.get("securityContext") or {}


def containers_words(names: Sequence[str]) -> str:
    """`container "a"`, `containers "a", "b"`"""
    return f"{plural('container', names)} {quoted(names)}"


def setters_words(names: Sequence[str], *, pod: bool, others: Sequence[str] = ()) -> str:
    """`pod and container "a"`"""
    setters = ["pod"] if pod else []
    if names:
        setters.append(containers_words(names))
    return " and ".join([*setters, *others])


def plural(word: str, things: Sequence[object]) -> str:
    """With an s, if there are several."""
    return word if len(things) == 1 else f"{word}s"


def quoted(words: Iterable[str]) -> str:
    """`"a", "b"`"""
    return ", ".join(f'"{word}"' for word in words)
