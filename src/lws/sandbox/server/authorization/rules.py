"""Rules of roles: what one allows, and whether others allow all that one does."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lws.sandbox.server.authorization.attributes import Attributes

Rule = Mapping[str, Any]
_ALL = "*"


def allows(rule: Rule, asked: Attributes) -> bool:
    """Does a rule allow it?"""
    if not _has(rule.get("verbs"), asked.verb):
        return False
    if asked.path:
        return any(_covers_path(one, asked.path) for one in rule.get("nonResourceURLs") or ())
    if not _has(rule.get("apiGroups"), asked.group):
        return False
    names = rule.get("resourceNames")
    return _has_resource(rule.get("resources") or (), asked) and (not names or asked.name in names)


def _has(values: Sequence[str] | None, wanted: str) -> bool:
    return bool(values) and (wanted in values or _ALL in values)  # type: ignore[operator]


def _has_resource(resources: Sequence[str], asked: Attributes) -> bool:
    """`*` is everything with all its parts, `*/scale` this part of everything."""
    if _ALL in resources or asked.whole_resource in resources:
        return True
    return bool(asked.subresource) and f"*/{asked.subresource}" in resources


def _covers_path(pattern: str, path: str) -> bool:
    if pattern.endswith(_ALL):
        return path.startswith(pattern.rstrip(_ALL))
    return pattern == path


# Whether somebody gives away more than he has


def missing(owned: Sequence[Rule], wanted: Iterable[Rule]) -> Sequence[str]:
    """What the wanted rules allow and the owned ones do not, in words; each in its own line."""
    return sorted({_words(rule) for rule in uncovered(owned, wanted)})


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> Sequence[Rule]:
    """What the wanted rules allow and the owned ones do not."""
    return list(
        _gathered(
            small
            for rule in wanted
            for small in _broken_down(rule)
            if not any(_covers(one, small) for one in owned)
        )
    )


def _broken_down(rule: Rule) -> Iterator[Rule]:
    """The same as rules of one verb each, on one thing each."""
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in rule.get("verbs") or ():
                small = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                names = rule.get("resourceNames")
                if not names:
                    yield small
                for name in names or ():
                    yield {**small, "resourceNames": [name]}
    for url in rule.get("nonResourceURLs") or ():
        for verb in rule.get("verbs") or ():
            yield {"nonResourceURLs": [url], "verbs": [verb]}


def _covers(owner: Rule, small: Rule) -> bool:
    if not _has(owner.get("verbs"), small["verbs"][0]):
        return False
    if "nonResourceURLs" in small:
        (path,) = small["nonResourceURLs"]
        return any(_covers_path(one, path) for one in owner.get("nonResourceURLs") or ())
    (resource,), names = small["resources"], owner.get("resourceNames")
    part = resource.partition("/")[2]
    resources = owner.get("resources") or ()
    is_resource = _has(resources, resource) or bool(part and f"*/{part}" in resources)
    is_name = not names or small.get("resourceNames", [""])[0] in names
    return is_resource and is_name and _has(owner.get("apiGroups"), small["apiGroups"][0])


def _gathered(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Verbs on the same resource in one rule; paths stay as they are."""
    together: dict[tuple[str, ...], dict[str, Any]] = {}
    for rule in rules:
        if "nonResourceURLs" in rule:
            yield rule
            continue
        place = (*rule["apiGroups"], *rule["resources"], *rule.get("resourceNames", ()))
        present = together.get(place)
        verbs = [*(present["verbs"] if present else ()), *rule["verbs"]]
        together[place] = {**rule, "verbs": verbs}
    yield from together.values()


_FIELDS = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


def _words(rule: Rule) -> str:
    said = (f"{title}:{quoted(rule[name])}" for name, title in _FIELDS.items() if name in rule)
    return f"{{{', '.join(said)}}}"


def quoted(values: Iterable[str]) -> str:
    """A list as Go prints it: `["a" "b"]`."""
    return f"[{' '.join(json.dumps(one, ensure_ascii=False) for one in values)}]"
