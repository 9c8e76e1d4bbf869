"""Objects for tests."""

from typing import Any

Json = dict[str, Any]


def stateful_set(
    name: str = "web", *, replicas: int = 3, parallel: bool = False, grace: int = 5, **spec: Any
) -> Json:
    """A StatefulSet of plain pods; `spec` are further fields of its spec."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "podManagementPolicy": "Parallel" if parallel else "OrderedReady",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": grace,
                    "containers": [{"name": "main", "image": "app:1"}],
                },
            },
            **spec,
        },
    }


def deployment(name: str = "web", *, replicas: int = 3, **spec: Any) -> Json:
    """A Deployment of plain pods; `spec` are further fields of its spec."""
    labels = {"app": name}
    containers = [{"name": "main", "image": "app:1"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "annotations": {"team": "serving"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"terminationGracePeriodSeconds": 5, "containers": containers},
            },
            **spec,
        },
    }


def replica_set(name: str = "web", **spec: Any) -> Json:
    """A ReplicaSet of the same."""
    made = deployment(name, **spec)
    return {**made, "kind": "ReplicaSet", "metadata": {"name": name}}


def with_pod_annotations(stateful_set: Json, **annotations: str) -> Json:
    """Whose pods the kubelet treats so; short names of `test.lws/…`."""
    named = {f"test.lws/{key.replace('_', '-')}": one for key, one in annotations.items()}
    stateful_set["spec"]["template"]["metadata"]["annotations"] = named
    return stateful_set


def rolling(**fields: Any) -> Json:
    """An update strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": fields}


def pod(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Json:
    """A pod of its own."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 5,
            "containers": [{"name": "main", "image": "app:1"}],
            **spec,
        },
    }


def config_map(name: str, *owners: Json, blocks: bool = True) -> Json:
    """A thing that others own."""
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]
    metadata: Json = {"name": name}
    if references:
        metadata["ownerReferences"] = references
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def claim_template(name: str = "data") -> Json:
    """A claim of a gibibyte."""
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
