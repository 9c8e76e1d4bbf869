"""The manifests that a cluster is given, on both planes."""

from pathlib import Path

import pytest
import yaml

from harness.kube import Json
from harness.plane import Plane
from harness.waiting import eventually

KUSTOMIZE = Path(__file__).resolve().parents[2] / "deploy" / "kustomize"
PLAIN = KUSTOMIZE.parent / "manifests.yaml"  # the base, as tests/deploy shows
NAMESPACE = "lws-system"
SERVED_ELSEWHERE = {"Certificate", "Issuer", "ServiceMonitor", "PrometheusRule"}


def rendered(plane: Plane, folder: str) -> list[Json]:
    text = plane.kubectl("kustomize", str(KUSTOMIZE / folder))
    return [one for one in yaml.safe_load_all(text) if one]


def test_the_manager_is_admitted_under_the_restricted_pod_security_standard(
    spare_control_plane: Plane,
) -> None:
    plane = spare_control_plane
    plane.kubectl("apply", "--server-side", "-f", str(PLAIN))
    selector = "control-plane=controller-manager"

    def both_run() -> bool:
        pods = plane.kube.items("pods", NAMESPACE, selector=selector)
        return len(pods) == 2 and all(pod["status"].get("phase") == "Running" for pod in pods)

    try:
        eventually(both_run, timeout=60, what="two managers run")
        namespace = plane.kube.get("namespaces", NAMESPACE)
        assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    finally:
        plane.kubectl("delete", "-f", str(PLAIN), "--wait=false", "--ignore-not-found")


@pytest.mark.parametrize(
    "folder", ["base", "overlays/cert-manager", "overlays/prometheus", "overlays/volcano"]
)
def test_every_overlay_is_accepted_by_the_api_server(
    spare_control_plane: Plane, folder: str, tmp_path: Path
) -> None:
    items = rendered(spare_control_plane, folder)
    ours = [item for item in items if item["kind"] not in SERVED_ELSEWHERE]
    for item in ours:
        if item.get("metadata", {}).get("namespace") == NAMESPACE:
            item["metadata"]["namespace"] = "default"  # a dry run makes no namespace
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(ours))
    answer = spare_control_plane.kubectl(
        "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", str(file)
    )
    assert answer.count("serverside-applied") == len(ours)


def test_the_configuration_in_the_manifests_is_read_as_it_stands(
    spare_control_plane: Plane,
) -> None:
    from lws.manager.configuration import read

    for folder in ("base", "overlays/cert-manager", "overlays/volcano"):
        (item,) = [
            one for one in rendered(spare_control_plane, folder) if one["kind"] == "ConfigMap"
        ]
        configuration = read(item["data"]["controller_manager_config.yaml"])
        assert configuration.leader_election.resource_name == "b8b2488c.x-k8s.io"


def test_cert_manager_puts_its_own_ca_into_the_webhooks(
    spare_control_plane: Plane,
) -> None:
    items = rendered(spare_control_plane, "overlays/cert-manager")
    hooks = [item for item in items if item["kind"].endswith("WebhookConfiguration")]
    wanted = "lws-system/lws-serving-cert"
    assert len(hooks) == 2
    for item in hooks:
        assert item["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == wanted
