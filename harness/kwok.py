"""The kubelets' stand-in: kwok, with stages that tests steer by annotations on the pods.

The annotations are described in `hack/controlplane/stages/*.yaml` and named here.
"""

from pathlib import Path

from harness.binaries import Binaries

HOLD = "test.lws/hold"
"""Any value: the pod stays Pending until the annotation is taken away."""
START_AFTER = "test.lws/start-after"
"""A duration such as "2s": the pod stays Pending that long."""
READY_AFTER = "test.lws/ready-after"
"""A duration: the pod runs at once and gets Ready that much later."""
UNREADY = "test.lws/unready"
"""Any value: the pod runs but is not Ready until the annotation is taken away."""
TERMINATE_AFTER = "test.lws/terminate-after"
"""A duration: how long the containers of a deleted pod take to end."""
STUCK = "test.lws/stuck"
"""Any value: a deleted pod never ends by itself, as on a node that cannot be reached."""

STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {
        "name": "kwok-volume",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": "kwok.x-k8s.io/volume",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""kwok's volume stages bind the claims of this class; it is the default one."""

_OUR_STAGES = Path(__file__).resolve().parent.parent / "hack" / "controlplane" / "stages"
# Complete: what a configuration leaves out is zero for kwok, not its default.
_CONFIGURATION = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  cidr: 10.0.0.0/14
  nodeIP: 10.255.0.1
  manageAllNodes: true
  nodeLeaseDurationSeconds: 40
  podPlayStageParallelism: 16
  nodePlayStageParallelism: 4
  nodeLeaseParallelism: 4
  podsOnNodeSyncParallelism: 4
  enablePodsOnNodeSyncListPager: true
  enablePodsOnNodeSyncStreamWatch: false
"""


def kwok_command(binaries: Binaries, *, kubeconfig: Path, folder: Path) -> list[str | Path]:
    """The command line; the configuration file is written into `folder`."""
    configuration = folder / "kwok.yaml"
    configuration.write_text(_CONFIGURATION, encoding="utf-8")
    stages = sorted(binaries.stages.glob("*.yaml")) + sorted(_OUR_STAGES.glob("*.yaml"))
    return [
        binaries.kwok,
        f"--kubeconfig={kubeconfig}",
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=40",
        f"--config={configuration}",
        *(f"--config={stage}" for stage in stages),
    ]
