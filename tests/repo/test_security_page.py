"""The rights that the security page tells are those of the shipped roles."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from tests.repo.files import ROOT, text_of

PAGE = Path("docs/security.md")
RBAC = ROOT / "deploy" / "kustomize" / "base" / "rbac.yaml"


def granted() -> dict[str, dict[str, set[str]]]:
    """By kind of role: verbs by resource, of the manager's own two."""
    found: dict[str, dict[str, set[str]]] = {
        "ClusterRole": defaultdict(set),
        "Role": defaultdict(set),
    }
    for document in yaml.safe_load_all(RBAC.read_text(encoding="utf-8")):
        if document["kind"] in found and document["metadata"]["name"] == "lws-manager":
            for rule in document["rules"]:
                for resource in rule["resources"]:
                    found[document["kind"]][resource] |= set(rule["verbs"])
    return found


def told() -> dict[str, dict[str, set[str]]]:
    """The same, as the two tables have it."""
    page = text_of(PAGE) or ""
    everywhere, _, own = page.partition("In its own namespace only:")
    return {"ClusterRole": rows(everywhere), "Role": rows(own.partition("\n## ")[0])}


def rows(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        cells: list[Any] = [cell.strip() for cell in line.split("|")]
        for resource in re.findall(r"`([a-z/]+)`", cells[1]) if line.startswith("| `") else ():
            found[resource] = set(cells[2].split(", "))
    return found


def test_every_right_is_told_with_its_verbs_and_no_other() -> None:
    assert told() == granted()
    assert len(granted()["ClusterRole"]) > 10
