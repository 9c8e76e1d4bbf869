"""Requests as text: a line each, in the order in which they are sent.

    METHOD(options) PATH ~ignored,fields BODY

Options: the kind of patch (json, merge, strategic, apply) and the form of the answer (table,
partial, partials, html, other). `{ns}` and `{group}` are new names of each run. `WAIT 0.5` lets the
real server learn of what was written before; its admission goes by caches.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "requests"
_LINE = re.compile(r"(\w+)(?:\(([\w,]+)\))? (\S+)(?: ~(\S+))?(?: (.*))?")
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

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body or ''}"[:300]


def steps(name: str, **names: str) -> list[Step]:
    """The requests of a file."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    for key, value in names.items():
        text = text.replace(f"{{{key}}}", value)
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [_step(line) for line in lines]


def _step(line: str) -> Step:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    method, options, path, ignored, body = match.groups()
    kinds = (options or "").split(",")
    return Step(
        method=method,
        path=path,
        body=body,
        content_type=next((_PATCHES[k] for k in kinds if k in _PATCHES), "application/json"),
        accept=next((_FORMS[k] for k in kinds if k in _FORMS), "application/json"),
        ignored=tuple((ignored or "").split(",")) if ignored else (),
    )
