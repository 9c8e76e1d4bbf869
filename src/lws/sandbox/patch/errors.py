"""The ways in which a patch does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from lws.base.errors import LwsError


class PatchError(LwsError):
    """The patch does not fit; `message` and `code` are the API server's.

    The server answers every operation of a JSON patch that cannot be done with one sentence that
    does not say what is wrong; `detail` does, it is for logs and tests and never sent.
    """

    def __init__(self, message: str, code: int, *, detail: str = "") -> None:
        super().__init__(detail or message)
        self.message = message
        self.code = code
        self.detail = detail or message

    @property
    def reason(self) -> str:
        """The Status's reason; a 500 of a patch has none."""
        reasons = {400: "BadRequest", 413: "RequestEntityTooLarge", 422: "Invalid"}
        return reasons.get(self.code, "")


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that somebody else owns."""

    manager: str
    """As the server words it: `"kubectl" using apps/v1`."""
    path: str
    """`.spec.replicas`"""

    @property
    def message(self) -> str:
        """The cause's message (its reason is FieldManagerConflict, its field is the path)."""
        return f"conflict with {self.manager}"


class ApplyConflict(LwsError):
    """Server-side apply without force, of fields that others own: a 409 with reason Conflict."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        self.message = _words(self.conflicts)
        super().__init__(self.message)


def _words(conflicts: Sequence[Conflict]) -> str:
    if len(conflicts) == 1:
        (only,) = conflicts
        return f"Apply failed with 1 conflict: conflict with {only.manager}: {only.path}"
    lines: list[str] = []
    for manager in dict.fromkeys(each.manager for each in conflicts):
        lines.append(f"conflicts with {manager}:")
        lines += [f"- {each.path}" for each in conflicts if each.manager == manager]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
