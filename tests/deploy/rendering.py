"""What helm and kustomize make of deploy/."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from harness.binaries import find_kubectl
from harness.tools import must, run_tool

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CHART = DEPLOY / "chart"
NAMESPACE = "lws-system"
KUBERNETES = "1.36"
"""Without a cluster, helm assumes whatever it was built with."""
CRD = "CustomResourceDefinition"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Item = dict[str, Any]
Items = dict[tuple[str, str], Item]


PUBLIC = """
nameOverride: ""
fullnameOverride: ""
enablePrometheus: true
enableCertManager: false
enableDisaggregatedSet: true
replicaCount: 1
imagePullSecrets: [{name: regcred}]
image: {manager: {repository: example.com/lws/lws, tag: main, pullPolicy: Always}}
podAnnotations: {team: serving}
podSecurityContext: {runAsNonRoot: true, fsGroup: 2000}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
service: {type: ClusterIP, port: 9443}
resources: {requests: {cpu: 1, memory: 1Gi}}
nodeSelector: {pool: system}
tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchLabels: {app.kubernetes.io/name: lws}}}
priorityClassName: system-cluster-critical
gangSchedulingManagement: {schedulerProvider: volcano}
featureGates: ""
metrics: {serviceMonitor: {tlsConfig: {insecureSkipVerify: true}}}
serviceMonitor: {extraLabels: {release: prometheus}}
crdUpgrade:
  enabled: true
  ttlSecondsAfterFinished: 259200
  image: {repository: example.com/lws/upgrade-crd, tag: v0.11.0, pullPolicy: IfNotPresent}
  tolerations: [{operator: Exists}]
  nodeSelector: {}
"""
"""Every knob of the public project's chart, each with a value."""

NOTES_PROBE = """
kind: Notes
metadata: {name: notes}
text: {{ tpl (.Files.Get "files/NOTES.txt") . | toJson }}
"""


@cache
def light_chart() -> Path:
    """A copy that is quick to render: without the CRDs (a megabyte), and with its notes as an item.

    Helm shows notes only where there is a cluster.
    """
    copy = Path(tempfile.mkdtemp(prefix="lws-chart-")) / "lws"
    atexit.register(shutil.rmtree, copy.parent, ignore_errors=True)
    shutil.copytree(CHART, copy, ignore=lambda folder, _: ["crds"] if "templates" in folder else [])
    shutil.copy(copy / "templates" / "NOTES.txt", copy / "files")
    (copy / "templates" / "notes.yaml").write_text(NOTES_PROBE)
    return copy


def helm_template(
    *words: str | Path, release: str = "lws", chart: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`helm template` of the light chart, or of another."""
    where = chart or light_chart()
    fixed = ("--namespace", NAMESPACE, "--kube-version", KUBERNETES)
    return run_tool("helm", "template", release, where, *fixed, *words)


def template(*words: str | Path, release: str = "lws") -> Items:
    """The chart's items but CRDs."""
    items = by_name(_rendered(*words, release=release))
    del items["Notes", "notes"]
    return items


@cache
def _rendered(*words: str | Path, release: str) -> str:
    return must(helm_template(*words, release=release))


def notes(*words: str) -> str:
    """What an installation says at its end."""
    text: str = by_name(_rendered(*words, release="lws"))["Notes", "notes"]["text"]
    return text


def by_name(text: str) -> Items:
    items = [one for one in yaml.load_all(text, Loader=_LOADER) if one]
    named = {(one["kind"], one["metadata"]["name"]): one for one in items}
    assert len(named) == len(items), "two items have one name"
    return named


def kustomize(folder: str) -> Items:
    command = [str(find_kubectl()), "kustomize", str(DEPLOY / "kustomize" / folder)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return by_name(done.stdout)


def configuration_text(items: Items) -> str:
    """The manager's configuration file as a pod has it."""
    text: str = items["ConfigMap", "lws-manager-config"]["data"]["controller_manager_config.yaml"]
    return text


def container(items: Items, name: str = "lws-controller-manager") -> Item:
    (only,) = pod(items, name)["containers"]
    assert isinstance(only, dict)
    return only


def pod(items: Items, name: str = "lws-controller-manager") -> Item:
    spec: Item = items["Deployment", name]["spec"]["template"]["spec"]
    return spec
