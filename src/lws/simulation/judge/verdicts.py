"""What is wrong, and when it was seen."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that was broken."""

    seconds: float
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.seconds:9.3f}  {self.rule}: {self.words}"
