"""Conditions of a status: what is wished for, merged into what stands."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from lws.api.meta import Condition
from lws.base.times import format_time


@dataclass(frozen=True, slots=True)
class Wish:
    """What a condition should say."""

    type: str
    true: bool
    reason: str = ""
    message: str = ""
    speaks_when_false: bool = False
    """Listed though it was never true, and with this reason and message while it is false."""

    @property
    def word(self) -> str:
        """`status` on the wire."""
        return "True" if self.true else "False"

    @property
    def speaks(self) -> bool:
        """Whether its reason and message are to be told."""
        return self.true or self.speaks_when_false


def merged(
    standing: Sequence[Condition], wishes: Sequence[Wish], *, generation: int, now: float
) -> tuple[Condition, ...]:
    """Those that stand, in their order, changed where needed; then those that are new.

    Every one carries the present generation, false ones too; its time moves only on a flip. A
    condition that nobody wishes for stays as it is.
    """
    moment = format_time(now)
    wished = {wish.type: wish for wish in wishes}
    kept = [
        _changed(condition, wished.pop(condition.type, None), moment=moment, generation=generation)
        for condition in standing
    ]
    added = [
        Condition(
            type=wish.type,
            status=wish.word,
            reason=wish.reason,
            message=wish.message,
            last_transition_time=moment,
            observed_generation=generation,
        )
        for wish in wished.values()
        if wish.speaks
    ]
    return (*kept, *added)


def _changed(condition: Condition, wish: Wish | None, *, moment: str, generation: int) -> Condition:
    """One that has turned false keeps its reason and message, unless it speaks when false."""
    if wish is None:
        return msgspec.structs.replace(condition, observed_generation=generation)
    flips = condition.status != wish.word
    return msgspec.structs.replace(
        condition,
        status=wish.word,
        reason=wish.reason if wish.speaks else condition.reason,
        message=wish.message if wish.speaks else condition.message,
        last_transition_time=moment if flips else condition.last_transition_time,
        observed_generation=generation,
    )
