"""CustomResourceDefinitions of the cluster against ours. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.cli.check.findings import Finding, Severity, Subject, Topic

Document = Mapping[str, Any]
Path = tuple[str, ...]
"""Fields from the object down; `[]` is an item of a list, `{}` a value of a map."""

ADDITIONS = frozenset(
    {
        "paused",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
        "maxGroupRestarts",
        "groupRestarts",
    }
)
"""Optional fields that are ours alone: the public controller's definitions never have them."""
SHOWN = 8
_KIND = "CustomResourceDefinition"
_APPLY = "apply ours: kubectl apply --server-side --force-conflicts -f deploy/crds"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Fields that the cluster's definition knows and ours does not: ours would prune them."""

    kind: str
    paths: tuple[Path, ...]


def judge_definition(ours: Document, live: Document | None) -> list[Finding]:
    """What there is to say of one definition; None: it is not there."""
    about = Subject(_KIND, name=ours["metadata"]["name"])
    if live is None:
        message = "is not installed, so sets of this kind cannot be"
        return [Topic.DEFINITION.finding(Severity.WARNING, about, message, hint=_APPLY)]
    return [*_versions(about, ours, live), *_conversion(about, live), *_fields(about, ours, live)]


def unknown_fields(ours: Document, live: Document) -> Unknown:
    """What is lost if ours replaces the cluster's, where an object uses it."""
    theirs, mine = _schema(live, "v1"), _schema(ours, "v1")
    return Unknown(ours["spec"]["names"]["kind"], tuple(missing_fields(mine, theirs)))


def used_fields(document: Document, unknown: Unknown) -> list[str]:
    """Which of them an object has."""
    return [written(path) for path in unknown.paths if _has(document, path)]


def written(path: Path) -> str:
    """`spec.roles[].name`."""
    return ".".join(path).replace(".[]", "[]").replace(".{}", "{}")


def missing_fields(live: Document, wanted: Document, at: Path = ()) -> Iterator[Path]:
    """The outermost fields that `wanted` knows and `live` does not."""
    if live.get("x-kubernetes-preserve-unknown-fields"):
        return
    properties = live.get("properties") or {}
    for name, schema in (wanted.get("properties") or {}).items():
        if name not in properties:
            yield (*at, name)
        else:
            yield from missing_fields(properties[name], schema, (*at, name))
    for step, word in (("[]", "items"), ("{}", "additionalProperties")):
        ours, theirs = live.get(word), wanted.get(word)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            yield from missing_fields(ours, theirs, (*at, step))


def _versions(about: Subject, ours: Document, live: Document) -> Iterator[Finding]:
    mine = {one["name"] for one in ours["spec"]["versions"]}
    stored = set((live.get("status") or {}).get("storedVersions") or ())
    if stored - mine:
        yield Topic.DEFINITION.finding(
            Severity.ERROR,
            about,
            f"has objects stored as {', '.join(sorted(stored - mine))}, a version that ours has "
            "not: applying ours is refused",
            hint="write every object once as v1 (kubectl get -A -o yaml | kubectl replace -f -), "
            "then take the old version out of status.storedVersions",
        )
    served = {one["name"] for one in live["spec"]["versions"] if one.get("served")}
    if "v1" not in served:
        message = "does not serve v1, which this operator speaks"
        yield Topic.DEFINITION.finding(Severity.ERROR, about, message, hint=_APPLY)
    elif served - mine:
        message = f"also serves {', '.join(sorted(served - mine))}, which ends when ours is applied"
        yield Topic.DEFINITION.finding(
            Severity.WARNING, about, message, hint="move its clients to v1 before"
        )


def _conversion(about: Subject, live: Document) -> Iterator[Finding]:
    conversion = live["spec"].get("conversion") or {}
    if conversion.get("strategy", "None") == "None":
        return
    config = (conversion.get("webhook") or {}).get("clientConfig") or {}
    service = config.get("service") or {}
    where = f"{service.get('namespace')}/{service.get('name')}" if service else config.get("url")
    yield Topic.DEFINITION.finding(
        Severity.ERROR,
        about,
        f"converts its versions by a webhook ({where}): when that is gone, no object can be read",
        hint=_APPLY + ", before the webhook's manager is stopped; ours converts nothing",
    )


def _fields(about: Subject, ours: Document, live: Document) -> Iterator[Finding]:
    mine, theirs = _schema(ours, "v1"), _schema(live, "v1")
    if not theirs:
        return
    missing = list(missing_fields(theirs, mine))
    older = [path for path in missing if path[-1] not in ADDITIONS]
    if older:
        message = f"is older than ours: {len(older)} fields are missing"
        yield Topic.DEFINITION.finding(
            Severity.INFO, about, message, fields=_shown(older), hint=_APPLY
        )
    elif missing:
        message = "lacks the optional fields that are ours, and is else what ours is"
        yield Topic.DEFINITION.finding(
            Severity.INFO, about, message, fields=_shown(missing), hint=_APPLY
        )
    others = list(_other_defaults(theirs, mine))
    if others:
        message = "has other defaults: a field that is left out comes to mean something else"
        hint = "write those fields out in your manifests before you apply ours"
        yield Topic.DEFINITION.finding(
            Severity.WARNING, about, message, fields=tuple(others), hint=hint
        )


def _other_defaults(live: Document, ours: Document, at: Path = ()) -> Iterator[str]:
    if at and live.get("default") != ours.get("default"):
        yield f"{written(at)}: {live.get('default')!r}, ours {ours.get('default')!r}"
    mine = ours.get("properties") or {}
    for name, schema in (live.get("properties") or {}).items():
        if name in mine:
            yield from _other_defaults(schema, mine[name], (*at, name))
    if isinstance(live.get("items"), Mapping) and isinstance(ours.get("items"), Mapping):
        yield from _other_defaults(live["items"], ours["items"], (*at, "[]"))


def _schema(definition: Document, version: str) -> Document:
    for one in definition["spec"]["versions"]:
        if one["name"] == version:
            schema: Document = (one.get("schema") or {}).get("openAPIV3Schema") or {}
            return schema
    return {}


def _has(value: object, path: Path) -> bool:
    if not path:
        return value is not None
    step, rest = path[0], path[1:]
    if step == "[]":
        return isinstance(value, list) and any(_has(one, rest) for one in value)
    if step == "{}":
        return isinstance(value, Mapping) and any(_has(one, rest) for one in value.values())
    return isinstance(value, Mapping) and step in value and _has(value[step], rest)


def _shown(paths: Sequence[Path]) -> tuple[str, ...]:
    shown = [written(path) for path in paths[:SHOWN]]
    return (*shown, f"and {len(paths) - SHOWN} more") if len(paths) > SHOWN else tuple(shown)
