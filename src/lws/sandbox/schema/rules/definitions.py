"""CustomResourceDefinitions."""

from typing import Any

from lws.sandbox.schema.custom.definition import structural_errors
from lws.sandbox.schema.errors import invalid, required
from lws.sandbox.schema.naming import dns_1035_label, dns_subdomain
from lws.sandbox.schema.rules.words import IMMUTABLE, Faults, Object, named, one_of

_MUST_BE = 'must be spec.names.plural+"."+spec.group'


def definition_rules(obj: Object, old: Object | None) -> Faults:
    """CustomResourceDefinition."""
    spec = obj["spec"]
    names, group = spec["names"], spec.get("group") or ""
    wanted = f"{names.get('plural', '')}.{group}"
    if obj["metadata"].get("name") != wanted:
        yield invalid("metadata.name", obj["metadata"].get("name"), _MUST_BE)
    if not group:
        yield required("spec.group")
    else:
        yield from named(dns_subdomain, group, "spec.group")
        if "." not in group:
            yield invalid("spec.group", group, "should be a domain with at least one dot")
    yield from one_of(spec.get("scope"), ("Cluster", "Namespaced"), "spec.scope")
    yield from _names(names)
    yield from _versions(spec)
    if not (obj.get("status") or {}).get("storedVersions"):
        words = "must have at least one stored version"
        yield invalid("status.storedVersions", None, words)
    if old is not None:
        yield from _update(spec, old["spec"])


def _names(names: Object) -> Faults:
    for field in ("plural", "singular"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
        else:
            yield from named(dns_1035_label, names[field], f"spec.names.{field}")
    for field in ("kind", "listKind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
            continue
        faults = dns_1035_label(names[field].lower())
        if faults:
            head = "may have mixed case, but should otherwise match: "
            yield invalid(f"spec.names.{field}", names[field], head + ",".join(faults))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        words = "kind and listKind may not be the same"
        yield invalid("spec.names.listKind", names["listKind"], words)


def _versions(spec: Object) -> Faults:
    versions = spec.get("versions") or []
    stored = [one for one in versions if one.get("storage")]
    seen: set[str] = set()
    for index, one in enumerate(versions):
        path = f"spec.versions[{index}]"
        name = one.get("name") or ""
        yield from named(dns_1035_label, name, f"{path}.name")
        if index == 0:
            yield from named(dns_1035_label, name, "spec.version")
        if name in seen:
            yield invalid("spec.versions", _shown(versions), "must contain unique version names")
        seen.add(name)
        schema = (one.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            yield required(f"{path}.schema.openAPIV3Schema")
        else:
            yield from structural_errors(schema, f"{path}.schema.openAPIV3Schema")
    if len(stored) != 1:
        words = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", _shown(versions), words)


def _shown(versions: list[Object]) -> list[dict[str, Any]]:
    """The versions as the server's own types print them; what is one's alone is the whole's."""
    return [
        {
            "Name": one.get("name") or "",
            "Served": bool(one.get("served")),
            "Storage": bool(one.get("storage")),
            "Deprecated": bool(one.get("deprecated")),
            "DeprecationWarning": one.get("deprecationWarning"),
            "Schema": one.get("schema") if len(versions) > 1 else None,
            "Subresources": one.get("subresources") if len(versions) > 1 else None,
            "AdditionalPrinterColumns": None,
            "SelectableFields": None,
        }
        for one in versions
    ]


def _update(new: Object, old: Object) -> Faults:
    if new.get("scope") != old.get("scope"):
        yield invalid("spec.scope", new.get("scope"), IMMUTABLE)
    for field in ("group",):
        if new.get(field) != old.get(field):
            yield invalid(f"spec.{field}", new.get(field), IMMUTABLE)
    for field in ("plural", "kind"):
        if new["names"].get(field) != old["names"].get(field):
            yield invalid(f"spec.names.{field}", new["names"].get(field), IMMUTABLE)
