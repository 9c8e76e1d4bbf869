"""What an object of a built-in kind is before anything is set.

The real server decodes built-in kinds into structures, parts of which are always there. So nobody
comes to own `.spec` of a StatefulSet by creating one, but whoever creates a custom resource owns
its `.spec`. What is there, as the structures are written empty:
"""

from typing import Any, Final

JsonObject = dict[str, Any]

_POD: Final[JsonObject] = {"metadata": {}, "spec": {"containers": None}}
_SPECIFIED: Final[JsonObject] = {"metadata": {}, "spec": {}, "status": {}}
_TARGET: Final[JsonObject] = {"kind": "", "name": ""}
_ROLE: Final[JsonObject] = {"metadata": {}, "rules": None}
_BINDING: Final[JsonObject] = {"metadata": {}, "roleRef": {"apiGroup": "", **_TARGET}}
_JOB: Final[JsonObject] = {"metadata": {}, "spec": {"template": _POD}}
_NAMES: Final[JsonObject] = {"kind": "", "plural": ""}
_NODE_INFO: Final = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)

_BLANKS: Final[dict[str, dict[str, JsonObject]]] = {
    "v1": {
        "ConfigMap": {"metadata": {}},
        "Endpoints": {"metadata": {}},
        "Event": {
            "metadata": {},
            "eventTime": None,
            "firstTimestamp": None,
            "involvedObject": {},
            "lastTimestamp": None,
            "reportingComponent": "",
            "reportingInstance": "",
            "source": {},
        },
        "LimitRange": {"metadata": {}, "spec": {"limits": None}},
        "Namespace": _SPECIFIED,
        "Node": {
            **_SPECIFIED,
            "status": {
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
                "nodeInfo": dict.fromkeys(_NODE_INFO, ""),
            },
        },
        "PersistentVolume": _SPECIFIED,
        "PersistentVolumeClaim": {**_SPECIFIED, "spec": {"resources": {}}},
        "Pod": {**_POD, "status": {}},
        "PodTemplate": {"metadata": {}, "template": _POD},
        "ReplicationController": {**_SPECIFIED, "status": {"replicas": 0}},
        "ResourceQuota": _SPECIFIED,
        "Secret": {"metadata": {}},
        "Service": {**_SPECIFIED, "status": {"loadBalancer": {}}},
        "ServiceAccount": {"metadata": {}},
    },
    "admissionregistration.k8s.io/v1": {
        "MutatingWebhookConfiguration": {"metadata": {}},
        "ValidatingAdmissionPolicy": _SPECIFIED,
        "ValidatingAdmissionPolicyBinding": {"metadata": {}, "spec": {}},
        "ValidatingWebhookConfiguration": {"metadata": {}},
    },
    "apiextensions.k8s.io/v1": {
        "CustomResourceDefinition": {
            "metadata": {},
            "spec": {"group": "", "names": _NAMES, "scope": "", "versions": None},
            "status": {"acceptedNames": _NAMES, "conditions": None, "storedVersions": None},
        }
    },
    "apps/v1": {
        "ControllerRevision": {"metadata": {}, "data": None, "revision": 0},
        "DaemonSet": {
            "metadata": {},
            "spec": {"selector": None, "template": _POD, "updateStrategy": {}},
            "status": {
                "currentNumberScheduled": 0,
                "desiredNumberScheduled": 0,
                "numberMisscheduled": 0,
                "numberReady": 0,
            },
        },
        "Deployment": {
            "metadata": {},
            "spec": {"selector": None, "strategy": {}, "template": _POD},
            "status": {},
        },
        "ReplicaSet": {
            "metadata": {},
            "spec": {"selector": None, "template": _POD},
            "status": {"replicas": 0},
        },
        "StatefulSet": {
            "metadata": {},
            "spec": {
                "selector": None,
                "serviceName": "",
                "template": _POD,
                "updateStrategy": {},
            },
            "status": {"availableReplicas": 0, "replicas": 0},
        },
    },
    "autoscaling/v1": {
        "HorizontalPodAutoscaler": {
            "metadata": {},
            "spec": {"maxReplicas": 0, "scaleTargetRef": _TARGET},
            "status": {"currentReplicas": 0, "desiredReplicas": 0},
        },
        "Scale": {"metadata": {}, "spec": {}, "status": {"replicas": 0}},
    },
    "autoscaling/v2": {
        "HorizontalPodAutoscaler": {
            "metadata": {},
            "spec": {"maxReplicas": 0, "scaleTargetRef": _TARGET},
            "status": {"currentMetrics": None, "desiredReplicas": 0},
        },
    },
    "batch/v1": {
        "CronJob": {"metadata": {}, "spec": {"jobTemplate": _JOB, "schedule": ""}, "status": {}},
        "Job": {**_JOB, "status": {}},
    },
    "coordination.k8s.io/v1": {"Lease": {"metadata": {}, "spec": {}}},
    "discovery.k8s.io/v1": {
        "EndpointSlice": {"metadata": {}, "addressType": "", "endpoints": None, "ports": None}
    },
    "events.k8s.io/v1": {
        "Event": {
            "metadata": {},
            "deprecatedFirstTimestamp": None,
            "deprecatedLastTimestamp": None,
            "deprecatedSource": {},
            "eventTime": None,
            "regarding": {},
        }
    },
    "networking.k8s.io/v1": {
        "Ingress": {**_SPECIFIED, "status": {"loadBalancer": {}}},
        "IngressClass": {"metadata": {}, "spec": {}},
        "NetworkPolicy": {"metadata": {}, "spec": {"podSelector": {}}},
    },
    "policy/v1": {
        "PodDisruptionBudget": {
            "metadata": {},
            "spec": {},
            "status": {
                "currentHealthy": 0,
                "desiredHealthy": 0,
                "disruptionsAllowed": 0,
                "expectedPods": 0,
            },
        }
    },
    "rbac.authorization.k8s.io/v1": {
        "ClusterRole": _ROLE,
        "ClusterRoleBinding": _BINDING,
        "Role": _ROLE,
        "RoleBinding": _BINDING,
    },
    "scheduling.k8s.io/v1": {"PriorityClass": {"metadata": {}, "value": 0}},
    "scheduling.k8s.io/v1alpha2": {
        "PodGroup": {
            "metadata": {},
            "spec": {"podGroupTemplateRef": None, "schedulingPolicy": {}},
            "status": {},
        },
        "Workload": {"metadata": {}, "spec": {"podGroupTemplates": None}},
    },
    "storage.k8s.io/v1": {"StorageClass": {"metadata": {}, "provisioner": ""}},
}


_SAME: Final = (
    frozenset({"autoscaling/v1", "autoscaling/v2"}),
    frozenset({"v1", "events.k8s.io/v1"}),
)
"""Versions that are served of one and the same built-in kind; all others have one version."""


def is_version(api_version: str, *, of: str, kind: str) -> bool:
    """May the kind, here in version `of`, be seen in the other version, too?

    Of custom resources we take every version of the group for one.
    """
    if api_version == of:
        return True
    if is_builtin(of, kind):
        return any({api_version, of} <= each for each in _SAME)
    return api_version.rpartition("/")[0] == of.rpartition("/")[0]


def is_builtin(api_version: str, kind: str) -> bool:
    """Is it a kind that we know as built in?"""
    return kind in _BLANKS.get(api_version, {})


def blank_object(api_version: str, kind: str) -> JsonObject:
    """The empty object of a built-in kind; of a custom one, nothing."""
    parts = _BLANKS.get(api_version, {}).get(kind, {})
    return {"apiVersion": api_version, "kind": kind, **parts}
