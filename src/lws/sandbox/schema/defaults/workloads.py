"""StatefulSets and their kin, services, autoscalers, webhooks, definitions."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.schema.defaults.words import (
    CORE,
    JsonObject,
    Setter,
    absent_filler,
    fill,
    filler,
)

_APPS = "io.k8s.api.apps.v1."
_BATCH = "io.k8s.api.batch.v1."
_ADMISSION = "io.k8s.api.admissionregistration.v1."
_AUTOSCALING = "io.k8s.api.autoscaling.v2."
OTHER_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
"""What version 1 has no field for."""
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."


def _stateful_set_spec(spec: JsonObject) -> None:
    fill(spec, podManagementPolicy="OrderedReady", replicas=1, revisionHistoryLimit=10)
    strategy = spec["updateStrategy"]
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    fill(retention, whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"


def _deployment_spec(spec: JsonObject) -> None:
    fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec["strategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")


def _daemon_set_spec(spec: JsonObject) -> None:
    fill(spec, revisionHistoryLimit=10)
    strategy = spec["updateStrategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), maxUnavailable=1, maxSurge=0)


def _job_spec(spec: JsonObject) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill(spec, parallelism=1, backoffLimit=6, completionMode="NonIndexed", suspend=False)
    fill(spec, podReplacementPolicy="TerminatingOrFailed", manualSelector=False)


def _job(job: JsonObject) -> None:
    labels = (job["spec"]["template"].get("metadata") or {}).get("labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)


def _replication_controller(controller: JsonObject) -> None:
    spec = controller["spec"]
    spec.setdefault("replicas", 1)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        spec.setdefault("selector", labels)
        controller["metadata"].setdefault("labels", labels)


def _service_spec(spec: JsonObject) -> None:
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        _client_ip_affinity(spec)
    spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port["targetPort"] in (0, ""):
            port["targetPort"] = port["port"]
    _traffic(spec)


def _client_ip_affinity(spec: JsonObject) -> None:
    config = spec.get("sessionAffinityConfig") or {}
    if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}


def _traffic(spec: JsonObject) -> None:
    is_balanced = spec["type"] == "LoadBalancer"
    is_external = is_balanced or spec["type"] == "NodePort"
    is_external = is_external or (spec["type"] == "ClusterIP" and bool(spec.get("externalIPs")))
    if is_external:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if is_balanced:
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _autoscaler_of_v1(autoscaler: JsonObject) -> None:
    spec = autoscaler["spec"]
    fill(spec, minReplicas=1)
    if OTHER_METRICS not in (autoscaler["metadata"].get("annotations") or {}):
        fill(spec, targetCPUUtilizationPercentage=80)


_CPU_METRIC: Mapping[str, Any] = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


def _autoscaler_spec(spec: JsonObject) -> None:
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [dict(_CPU_METRIC)]
    behavior = spec.get("behavior")
    if behavior is None:
        return
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    }
    down = {
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    }
    behavior["scaleUp"] = {**up, **(behavior.get("scaleUp") or {})}
    behavior["scaleDown"] = {**down, **(behavior.get("scaleDown") or {})}


def _webhook(webhook: JsonObject) -> None:
    fill(webhook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)
    fill(webhook, namespaceSelector={}, objectSelector={})


def _match_resources(match: JsonObject) -> None:
    fill(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})


def _mutating_webhook(webhook: JsonObject) -> None:
    _webhook(webhook)
    webhook.setdefault("reinvocationPolicy", "Never")


def _definition(definition: JsonObject) -> None:
    spec = definition["spec"]
    names = spec["names"]
    if not names.get("singular"):
        names["singular"] = names.get("kind", "").lower()
    if not names.get("listKind") and names.get("kind"):
        names["listKind"] = f"{names['kind']}List"
    spec.setdefault("conversion", {"strategy": "None"})
    status = definition["status"]
    if not status.get("storedVersions"):
        stored = [one["name"] for one in spec.get("versions") or () if one.get("storage")]
        if stored:
            status["storedVersions"] = stored[:1]


SETTERS: Mapping[str, Setter] = {
    f"{_APPS}StatefulSetSpec": _stateful_set_spec,
    f"{_APPS}DeploymentSpec": _deployment_spec,
    f"{_APPS}DaemonSetSpec": _daemon_set_spec,
    f"{_APPS}ReplicaSetSpec": absent_filler(replicas=1),
    f"{_BATCH}Job": _job,
    f"{_BATCH}JobSpec": _job_spec,
    f"{CORE}ReplicationController": _replication_controller,
    f"{CORE}ServiceSpec": _service_spec,
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler": _autoscaler_of_v1,
    f"{_AUTOSCALING}HorizontalPodAutoscalerSpec": _autoscaler_spec,
    f"{_ADMISSION}ValidatingWebhook": _webhook,
    f"{_ADMISSION}MutatingWebhook": _mutating_webhook,
    f"{_ADMISSION}RuleWithOperations": filler(scope="*"),
    f"{_ADMISSION}NamedRuleWithOperations": filler(scope="*"),
    f"{_ADMISSION}MatchResources": _match_resources,
    f"{_ADMISSION}ValidatingAdmissionPolicySpec": absent_filler(failurePolicy="Fail"),
    f"{_ADMISSION}ServiceReference": absent_filler(port=443),
    f"{_EXTENSIONS}CustomResourceDefinition": _definition,
    f"{_EXTENSIONS}ServiceReference": absent_filler(port=443),
}
