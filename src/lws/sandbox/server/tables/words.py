"""Small texts in cells."""

from collections.abc import Mapping, Sequence
from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.selectors import selector_text
from lws.sandbox.server.tables.layout import NONE

JsonObject = dict[str, Any]

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def label_words(labels: Mapping[str, str] | None) -> str:
    """`a=b,c=d`"""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else NONE


def selector_words(selector: Mapping[str, Any] | None) -> str:
    """A label selector."""
    return selector_text(selector) or NONE if selector else NONE


def containers_cells(obj: JsonObject) -> list[str]:
    """Names and images of the containers of a template."""
    containers = part(obj, "spec", "template", "spec", "containers") or ()
    return [",".join(str(one.get(name, "")) for one in containers) for name in ("name", "image")]


def few(values: Sequence[str], most: int, *, separator: str = ",") -> str:
    """The first ones, and how many more there are."""
    shown = separator.join(values[:most])
    return f"{shown} + {len(values) - most} more..." if len(values) > most else shown


def access_modes(modes: Sequence[str] | None) -> str:
    """`RWO,ROX`"""
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def subjects(binding: JsonObject, kind: str) -> str:
    """Whom a role binding names, of one kind."""
    names = []
    for one in binding.get("subjects") or ():
        if one.get("kind") == kind:
            space = f"{one.get('namespace', '')}/" if kind == "ServiceAccount" else ""
            names.append(f"{space}{one.get('name', '')}")
    return ", ".join(names)


def event_source(source: Mapping[str, Any], event: JsonObject) -> str:
    """Who reported an event, and from where."""
    controller = event.get("reportingController") or event.get("reportingComponent")
    component = source.get("component") or controller or ""
    host = source.get("host") or event.get("reportingInstance")
    return f"{component}, {host}" if host else str(component)
