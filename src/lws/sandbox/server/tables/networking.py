"""Network policies, Ingresses and their classes."""

from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.tables.layout import NONE, Cells, age_of, name_of
from lws.sandbox.server.tables.words import few, selector_words

JsonObject = dict[str, Any]


def network_policy(obj: JsonObject, now: float) -> Cells:
    """Which pods it is about."""
    return [name_of(obj), selector_words(part(obj, "spec", "podSelector")), age_of(obj, now)]


def ingress(obj: JsonObject, now: float) -> Cells:
    """Who serves it, and what."""
    spec = obj.get("spec") or {}
    hosts = [one["host"] for one in spec.get("rules") or () if one.get("host")]
    return [
        name_of(obj),
        spec.get("ingressClassName") or NONE,
        few(hosts, 3) or "*",
        ",".join(_addresses(obj)),
        "80, 443" if spec.get("tls") else "80",
        age_of(obj, now),
    ]


def _addresses(obj: JsonObject) -> list[str]:
    given = part(obj, "status", "loadBalancer", "ingress") or ()
    return [one.get("ip") or one.get("hostname") or "" for one in given]


def ingress_class(obj: JsonObject, now: float) -> Cells:
    """Whose it is."""
    spec = obj.get("spec") or {}
    return [name_of(obj), spec.get("controller", ""), _parameters(spec), age_of(obj, now)]


def _parameters(spec: JsonObject) -> str:
    found = spec.get("parameters")
    if not found:
        return NONE
    group = f".{found['apiGroup']}" if found.get("apiGroup") else ""
    return f"{found.get('kind', '')}{group}/{found.get('name', '')}"
