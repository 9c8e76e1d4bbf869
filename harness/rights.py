"""What the operator may do in tests: what the shipped manifests grant, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from harness.kube import Json, Kube

HOME_NAMESPACE = "operator-home"
"""Where the operator keeps its lease in tests, and its Secret if it has one."""

_KUSTOMIZE = Path(__file__).resolve().parent.parent / "deploy" / "kustomize"
_RBAC = "rbac.authorization.k8s.io"
_ROLE = "lws-manager"


def make_home(kube: Kube) -> None:
    """The operator's own namespace."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME_NAMESPACE}}
    kube.create(namespace)


def grant_shipped(kube: Kube, user: str) -> None:
    """Bind a user to copies of the shipped roles; those of gangs too, as the overlay adds them."""
    for role in _roles():
        role["metadata"] = {"name": f"shipped-{user}"}
        inside = HOME_NAMESPACE if role["kind"] == "Role" else None
        kube.create(role, inside)
        binding = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": f"{role['kind']}Binding",
            "metadata": role["metadata"],
            "roleRef": {"apiGroup": _RBAC, "kind": role["kind"], "name": f"shipped-{user}"},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        }
        kube.create(binding, inside)


def _roles() -> Iterator[Json]:
    """The manager's ClusterRole and Role."""
    text = (_KUSTOMIZE / "base" / "rbac.yaml").read_text(encoding="utf-8")
    for item in yaml.safe_load_all(text):
        if item["metadata"]["name"] == _ROLE and "rules" in item:
            if item["kind"] == "ClusterRole":
                item["rules"] += _rules_of_gangs()
            yield item


def _rules_of_gangs() -> list[Json]:
    text = (_KUSTOMIZE / "overlays" / "volcano" / "kustomization.yaml").read_text(encoding="utf-8")
    patches = yaml.safe_load(text)["patches"]
    added = [yaml.safe_load(one["patch"]) for one in patches if "patch" in one]
    return [operation["value"] for operations in added for operation in operations]
