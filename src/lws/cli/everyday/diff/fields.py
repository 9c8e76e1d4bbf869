"""The fields that differ, what each does, and the whole of it as text and for programs. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import click

from lws.cli.columns import aligned
from lws.cli.everyday.changes import Change, short
from lws.cli.everyday.family import Document
from lws.cli.everyday.groups import ranges

METADATA = ("labels", "annotations")
NOT_SAID = ("kubectl.kubernetes.io/last-applied-configuration",)


class Effect(StrEnum):
    """What the change of a field does."""

    ROLLS = "new revision"
    SAME = "means the same"
    SCALES = "scales"
    IN_PLACE = "no pod is touched"
    LATER = "from the next revision on"


@dataclass(frozen=True, slots=True)
class Field:
    """One field that differs, and what that does."""

    change: Change
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Between a set as it is and as it would be; nothing of both: none."""

    title: str
    verdict: str
    fields: tuple[Field, ...] = ()
    effects: tuple[str, ...] = ()
    """What would happen to groups, a line each."""
    notes: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """Is there nothing that would change?"""
        return not self.fields and not self.effects

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "set": self.title,
            "different": not self.is_none,
            "verdict": self.verdict,
            "fields": [
                {
                    "path": field.change.path,
                    "old": short(field.change.old),
                    "new": short(field.change.new),
                    "effect": field.effect.value,
                }
                for field in self.fields
            ],
            "effects": list(self.effects),
            "notes": list(self.notes),
        }


def compared_part(document: Document) -> dict[str, Any]:
    """What a person writes of an object: labels, annotations and spec."""
    metadata: dict[str, Any] = {}
    for part in METADATA:
        values = document["metadata"].get(part) or {}
        metadata[part] = {key: text for key, text in values.items() if key not in NOT_SAID}
    return {"metadata": metadata, "spec": document.get("spec") or {}}


def judged(found: Iterator[Change], effect_of: Callable[[Change], Effect]) -> tuple[Field, ...]:
    """Each change with what it does; `spec.` is left out of paths."""
    return tuple(Field(_bare(change), effect_of(change)) for change in found)


def _bare(change: Change) -> Change:
    if change.steps[:1] != ("spec",) or len(change.steps) < 2:
        return change
    return Change(change.steps[1:], change.old, change.new, change.is_order)


_COLOURS = {Effect.ROLLS: "yellow", Effect.SCALES: "cyan"}


def lines_of(difference: Difference, *, colour: bool) -> Iterator[str]:
    """A title with the verdict, the fields, what happens, notes."""
    yield f"{difference.title}: {difference.verdict}"
    rows: list[Sequence[str]] = []
    for field in difference.fields:
        word = field.effect.value
        if colour:
            word = click.style(word, fg=_COLOURS.get(field.effect, "bright_black"))
        rows.append((f"  {word}", str(field.change)))
    if rows:
        yield from aligned(rows)
    yield from difference.effects
    yield from (f"note: {note}" for note in difference.notes)


def counted(numbers: Sequence[int]) -> str:
    """`group 3`, `groups 0-2, 5`."""
    return f"group{'s' if len(numbers) > 1 else ''} {ranges(numbers)}"
