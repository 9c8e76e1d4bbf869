"""Requests as text: a line each, in the order in which they are sent.

    METHOD(options) PATH ~ignored,fields BODY
    bob,group> METHOD(options) PATH ~ignored,fields BODY

Options: the kind of patch (json, merge, strategic, apply) and the form of the answer (table,
partial, partials, html, other). `{ns}` and `{group}` are new names of each run. The real server's
admission goes by caches: `WAIT 0.5` lets it learn of what was written before, `UNTIL 403 METHOD …`
asks it, with a request that leaves nothing behind, until it answers so. Who asks stands before
`>`, with groups after the name (and `!` for a colon): somebody in whose name the administrator
asks; with `joe:bob,group>`, joe does, and nobody (`>` alone) has no token.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent / "requests"
_LINE = re.compile(r"(?:(\S*)> )?(\w+)(?:\(([\w,]+)\))? (\S+)(?: ~(\S+))?(?: (.*))?")
_UNTIL = re.compile(r"UNTIL (\d+) (.*)")
_PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "foo": "text/foo",
}
_META = "v=v1;g=meta.k8s.io"
_FORMS = {
    "table": f"application/json;as=Table;{_META}",
    "partial": f"application/json;as=PartialObjectMetadata;{_META}",
    "partials": f"application/json;as=PartialObjectMetadataList;{_META}",
    "other": f"application/json;as=Foo;{_META}",
    "html": "text/html",
}


@dataclass(frozen=True)
class Step:
    """One request, and which fields of its answer do not matter."""

    method: str
    path: str
    body: str | None
    content_type: str
    accept: str
    ignored: tuple[str, ...]
    who: str | None = None
    """None: the administrator."""
    until: int = 0
    """The answer that is waited for."""

    def __str__(self) -> str:
        asker = "" if self.who is None else f"{self.who}> "
        return f"{asker}{self.method} {self.path} {self.body or ''}"[:300]

    @property
    def asker(self) -> str | None:
        """Whose token is sent: a name, none, or (None) the administrator's."""
        if self.who is None or not self.who:
            return self.who
        asker, is_other, _ = self.who.partition(":")
        return asker if is_other else None

    @property
    def headers(self) -> list[tuple[str, str]]:
        """In whose name it is asked."""
        if not self.who:
            return []
        name, *groups = self.who.removeprefix(f"{self.asker}:").split(",")
        named = [("Impersonate-User", name.replace("!", ":"))] if name else []
        return [*named, *(("Impersonate-Group", one.replace("!", ":")) for one in groups)]


def steps(name: str, **names: str) -> list[Step]:
    """The requests of a file."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for key, value in names.items():
        text = text.replace(f"{{{key}}}", value)
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [_step(line) for line in lines]


def _step(line: str) -> Step:
    waiting = _UNTIL.fullmatch(line)
    if waiting is not None:
        return replace(_step(waiting[2]), until=int(waiting[1]))
    match = _LINE.fullmatch(line)
    assert match is not None, line
    who, method, options, path, ignored, body = match.groups()
    kinds = (options or "").split(",")
    return Step(
        method=method,
        path=path,
        body=body,
        content_type=next((_PATCHES[k] for k in kinds if k in _PATCHES), "application/json"),
        accept=next((_FORMS[k] for k in kinds if k in _FORMS), "application/json"),
        ignored=tuple((ignored or "").split(",")) if ignored else (),
        who=who,
    )
