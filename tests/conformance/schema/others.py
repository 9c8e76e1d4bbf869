"""All kinds but pods."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.schema.base import (
    CLAIM,
    POD,
    SERVICE,
    SET,
    TEMPLATE,
    Case,
    Json,
    changed,
    of,
)

_RBAC = "rbac.authorization.k8s.io/v1"
_HOOKS = "admissionregistration.k8s.io/v1"


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _sets()
    yield from _services()
    yield from _claims()
    yield from _data()
    yield from _small()
    yield from _policies()
    yield from _addresses()
    yield from _rights()
    yield from _webhooks()
    yield from _stored()
    yield from _definitions()


def _set(name: str, **changes: Any) -> Case:
    return Case(f"stateful set: {name}", changed(SET, **changes))


def _sets() -> Iterator[Case]:
    template = "spec__template__spec__"
    yield _set("plain")
    yield _set("parallel", spec__podManagementPolicy="Parallel")
    yield _set("management unknown", spec__podManagementPolicy="Random")
    yield _set("on delete", spec__updateStrategy={"type": "OnDelete"})
    yield _set(
        "on delete with partition",
        spec__updateStrategy={"type": "OnDelete", "rollingUpdate": {"partition": 1}},
    )
    yield _set("rolling, said", spec__updateStrategy={"type": "RollingUpdate"})
    yield _set("partition", spec__updateStrategy={"rollingUpdate": {"partition": 3}})
    yield _set("negative partition", spec__updateStrategy={"rollingUpdate": {"partition": -3}})
    yield _set("strategy unknown", spec__updateStrategy={"type": "Surge"})
    yield _set("retention", spec__persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"})
    yield _set("retention unknown", spec__persistentVolumeClaimRetentionPolicy={"whenScaled": "X"})
    yield _set("no replicas", spec__replicas=0)
    yield _set("negative replicas", spec__replicas=-1)
    yield _set("start ordinal", spec__ordinals={"start": 3})
    yield _set("negative start", spec__ordinals={"start": -3})
    yield _set("no selector", spec__selector=None)
    yield _set("empty selector", spec__selector={})
    yield _set("another selector", spec__selector={"matchLabels": {"app": "x"}})
    yield _set("no template", spec__template=None)
    yield _set("no service", spec__serviceName=None)
    yield _set("a service with a bad name", spec__serviceName="Web.1")
    yield _set("a template that never restarts", **{f"{template}restartPolicy": "Never"})
    yield _set("a template with a deadline", **{f"{template}activeDeadlineSeconds": 5})
    yield _set("a template with bad labels", spec__template__metadata__labels={"app": "w b"})
    yield _set("a template with a bad container", **{f"{template}containers": [{"name": "A"}]})
    yield _set(
        "limits do not become requests",
        **{
            f"{template}containers": [
                {"name": "a", "image": "b", "resources": {"limits": {"cpu": 1}}}
            ]
        },
    )
    yield _set("claims", spec__volumeClaimTemplates=[CLAIM])
    yield _set("a bad claim", spec__volumeClaimTemplates=[changed(CLAIM, spec={})])
    yield _set(
        "a mounted claim",
        spec__volumeClaimTemplates=[CLAIM],
        **{
            f"{template}containers": [
                {
                    "name": "a",
                    "image": "b",
                    "volumeMounts": [{"name": "data", "mountPath": "/d"}],
                }
            ]
        },
    )
    yield _set("replicas as a word", spec__replicas="three")
    yield _set("replicas too many", spec__replicas=1 << 40)
    yield _set("a status that is not taken", status={"replicas": 5})


def _services() -> Iterator[Case]:
    def service(name: str, **changes: Any) -> Case:
        return Case(f"service: {name}", changed(SERVICE, **changes))

    yield service("plain")
    yield service("headless", spec__clusterIP="None")
    yield service("headless without ports", spec__clusterIP="None", spec__ports=None)
    yield service("no ports", spec__ports=None)
    yield service("not ready addresses", spec__publishNotReadyAddresses=True)
    yield service("two ports without names", spec__ports=[{"port": 1}, {"port": 2}])
    yield service("a port twice", spec__ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}])
    yield service("two names", spec__ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "a"}])
    yield service("target by name", spec__ports=[{"port": 1, "targetPort": "http"}])
    yield service("a bad target", spec__ports=[{"port": 1, "targetPort": "HTTP"}])
    yield service("port zero", spec__ports=[{"port": 0}])
    yield service("protocol unknown", spec__ports=[{"port": 1, "protocol": "X"}])
    yield service("node port on a cluster IP", spec__ports=[{"port": 1, "nodePort": 30001}])
    yield service("type unknown", spec__type="Mesh")
    yield service("external name", spec__type="ExternalName", spec__externalName="a.b")
    yield service("no external name", spec__type="ExternalName")
    yield service("affinity", spec__sessionAffinity="ClientIP")
    yield service("affinity unknown", spec__sessionAffinity="Cookie")
    yield service(
        "affinity too long",
        spec__sessionAffinity="ClientIP",
        spec__sessionAffinityConfig={"clientIP": {"timeoutSeconds": 100000}},
    )
    yield service("a bad selector", spec__selector={"a b": "c"})
    yield service("headless balancer", spec__type="LoadBalancer", spec__clusterIP="None")
    yield service("internal policy unknown", spec__internalTrafficPolicy="Near")
    yield service("external policy on a cluster IP", spec__externalTrafficPolicy="Local")
    yield service("a bad external IP", spec__externalIPs=["a"])
    yield service("protocol of an application", spec__ports=[{"port": 1, "appProtocol": "a b"}])


def _claims() -> Iterator[Case]:
    def claim(name: str, **changes: Any) -> Case:
        return Case(f"claim: {name}", changed(CLAIM, **changes))

    yield claim("plain")
    yield claim("no modes", spec__accessModes=[])
    yield claim("mode unknown", spec__accessModes=["Sometimes"])
    yield claim(
        "modes that exclude each other", spec__accessModes=["ReadWriteOncePod", "ReadWriteOnce"]
    )
    yield claim("no size", spec__resources={})
    yield claim("size zero", spec__resources={"requests": {"storage": "0"}})
    yield claim("a bad class", spec__storageClassName="A")
    yield claim("an empty class", spec__storageClassName="")
    yield claim("volume mode unknown", spec__volumeMode="Tape")
    yield claim("block", spec__volumeMode="Block")


def _data() -> Iterator[Case]:
    maps: dict[str, Json] = {
        "empty": {},
        "data": {"data": {"a": "b"}},
        "empty data": {"data": {}},
        "binary": {"binaryData": {"a": "AAEC"}},
        "in both": {"data": {"a": "b"}, "binaryData": {"a": "AAEC"}},
        "a bad key": {"data": {"a b": "c", "..": "d"}},
        "a number": {"data": {"a": 1}},
        "immutable": {"immutable": True, "data": {"a": "b"}},
        "too large": {"data": {"a": "x" * (1 << 20), "b": "y"}},
    }
    for name, fields in maps.items():
        yield Case(f"config map: {name}", of("ConfigMap", **fields))
    secrets: dict[str, Json] = {
        "empty": {},
        "data": {"data": {"a": "YQ=="}},
        "a bad key": {"data": {"a/b": "YQ=="}},
        "text": {"stringData": {"a": "b"}},
        "tls without data": {"type": "kubernetes.io/tls"},
        "basic without data": {"type": "kubernetes.io/basic-auth"},
        "ssh without data": {"type": "kubernetes.io/ssh-auth"},
        "token without account": {"type": "kubernetes.io/service-account-token"},
        "own type": {"type": "me/mine"},
    }
    for name, fields in secrets.items():
        yield Case(f"secret: {name}", of("Secret", **fields))


def _small() -> Iterator[Case]:
    yield Case("namespace", of("Namespace"))
    yield Case("service account", of("ServiceAccount"))
    yield Case("pod template", of("PodTemplate", template=TEMPLATE))
    yield Case("pod template without containers", of("PodTemplate", template={"spec": {}}))
    yield Case("revision", of("ControllerRevision", "apps/v1", revision=1, data={"a": 1}))
    yield Case("revision without data", of("ControllerRevision", "apps/v1", revision=1))
    yield Case("negative revision", of("ControllerRevision", "apps/v1", revision=-1, data={}))
    yield Case("node", of("Node", status={"capacity": {"cpu": "4"}}))
    taint = {"key": "a", "effect": "NoSchedule"}
    yield Case("node with taints", of("Node", spec={"taints": [taint]}))
    yield Case("node with a taint twice", of("Node", spec={"taints": [taint, taint]}))
    yield Case(
        "node with an unknown effect", of("Node", spec={"taints": [{"key": "a", "effect": "X"}]})
    )
    lease = "coordination.k8s.io/v1"
    yield Case(
        "lease", of("Lease", lease, spec={"holderIdentity": "me", "leaseDurationSeconds": 15})
    )
    yield Case("lease of no length", of("Lease", lease, spec={"leaseDurationSeconds": 0}))
    yield Case(
        "lease's times", of("Lease", lease, spec={"renewTime": "2026-01-02T03:04:05.678901Z"})
    )
    yield Case("lease with a bad time", of("Lease", lease, spec={"renewTime": "yesterday"}))


def _policies() -> Iterator[Case]:
    budget = "policy/v1"
    pods = {"matchLabels": {"a": "b"}}
    yield Case(
        "budget", of("PodDisruptionBudget", budget, spec={"minAvailable": 1, "selector": pods})
    )
    yield Case(
        "budget with both",
        of("PodDisruptionBudget", budget, spec={"minAvailable": 1, "maxUnavailable": 1}),
    )
    yield Case("budget over 100", of("PodDisruptionBudget", budget, spec={"minAvailable": "101%"}))
    yield Case("budget of nonsense", of("PodDisruptionBudget", budget, spec={"minAvailable": "x"}))
    yield Case(
        "volume",
        of(
            "PersistentVolume",
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/x"},
            },
        ),
    )
    yield Case("class", of("StorageClass", "storage.k8s.io/v1", provisioner="a/b"))
    yield Case("class without provisioner", of("StorageClass", "storage.k8s.io/v1"))
    yield Case(
        "class with a bad policy",
        of("StorageClass", "storage.k8s.io/v1", provisioner="a/b", reclaimPolicy="X"),
    )
    yield Case("priority", of("PriorityClass", "scheduling.k8s.io/v1", value=5))
    yield Case(
        "priority too high", of("PriorityClass", "scheduling.k8s.io/v1", value=2_000_000_000)
    )
    yield Case("quota", of("ResourceQuota", spec={"hard": {"pods": 5, "cpu": "1000m"}}))
    yield Case(
        "range", of("LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": 2}}]})
    )


def _addresses() -> Iterator[Case]:
    yield Case(
        "slice",
        of(
            "EndpointSlice",
            "discovery.k8s.io/v1",
            addressType="IPv4",
            endpoints=[{"addresses": ["1.2.3.4"]}],
            ports=[{"port": 80}],
        ),
    )
    yield Case(
        "endpoints",
        of("Endpoints", subsets=[{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]),
    )


def _rights() -> Iterator[Case]:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    for name, one in {
        "plain": rule,
        "no verbs": {**rule, "verbs": []},
        "no groups": {**rule, "apiGroups": []},
        "no resources": {**rule, "resources": []},
        "URLs": {"nonResourceURLs": ["/x"], "verbs": ["get"]},
        "URLs and resources": {**rule, "nonResourceURLs": ["/x"]},
    }.items():
        yield Case(f"role: {name}", of("Role", _RBAC, rules=[one]))
        yield Case(f"cluster role: {name}", of("ClusterRole", _RBAC, rules=[one]))
    yield Case("role without rules", of("Role", _RBAC))
    role = {"kind": "ClusterRole", "name": "view"}
    user = {"kind": "User", "name": "me"}
    bindings: dict[str, Json] = {
        "plain": {"roleRef": role, "subjects": [user]},
        "no subjects": {"roleRef": role},
        "role unknown": {"roleRef": {"kind": "Job", "name": "x"}},
        "no role's name": {"roleRef": {"kind": "ClusterRole"}},
        "subject unknown": {"roleRef": role, "subjects": [{"kind": "Dog", "name": "x"}]},
        "account": {
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}],
        },
        "account without namespace": {
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": "a"}],
        },
    }
    for name, fields in bindings.items():
        yield Case(f"role binding: {name}", of("RoleBinding", _RBAC, **fields))
        yield Case(f"cluster role binding: {name}", of("ClusterRoleBinding", _RBAC, **fields))


def _webhooks() -> Iterator[Case]:
    hook: Json = {
        "name": "a.b.c",
        "clientConfig": {"service": {"name": "a", "namespace": "b"}},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["pods"],
                "operations": ["CREATE"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        yield Case(f"{kind}: plain", of(kind, _HOOKS, webhooks=[hook]))
        yield Case(f"{kind}: none", of(kind, _HOOKS))


def _definitions() -> Iterator[Case]:
    plain: Json = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "toys.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "toys", "kind": "Toy"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    version = "spec__versions__0__"

    def one(name: str, **changes: Any) -> Case:
        return Case(f"definition: {name}", changed(plain, **changes))

    yield one("plain")
    yield one("another name", metadata__name="toy.example.com")
    yield one("no scope", spec__scope=None)
    yield one("scope unknown", spec__scope="World")
    yield one("group without a dot", spec__group="example", metadata__name="toys.example")
    yield one("no group", spec__group=None)
    yield one("no kind", spec__names__kind=None)
    yield one("kind with a space", spec__names__kind="To y")
    yield one("list kind the same", spec__names__listKind="Toy")
    yield one("not stored", **{f"{version}storage": False})
    yield one("no schema", **{f"{version}schema": None})
    yield one("no versions", spec__versions=[])
    yield one("a version with a bad name", **{f"{version}name": "V_1"})
    yield one("short names", spec__names__shortNames=["t"], spec__names__categories=["all"])
    yield one(
        "status and scale",
        **{
            f"{version}subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
            }
        },
    )
    yield one(
        "columns",
        **{
            f"{version}additionalPrinterColumns": [
                {"name": "N", "type": "integer", "jsonPath": ".spec.n"}
            ]
        },
    )


def _stored() -> Iterator[Case]:
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
    for kind in ("Deployment", "ReplicaSet", "DaemonSet"):
        yield Case(f"{kind}: plain", of(kind, "apps/v1", spec=spec))
        wrong = {**spec, "selector": {"matchLabels": {"app": "x"}}}
        yield Case(f"{kind}: another selector", of(kind, "apps/v1", spec=wrong))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}
    yield Case(
        "autoscaler",
        of(
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            spec={"scaleTargetRef": target, "maxReplicas": 3},
        ),
    )
    yield Case(
        "autoscaler with behaviour",
        of(
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            spec={
                "scaleTargetRef": target,
                "maxReplicas": 3,
                "behavior": {"scaleUp": {"selectPolicy": "Min"}},
            },
        ),
    )
    yield Case(
        "controller",
        of(
            "ReplicationController",
            spec={
                "template": changed(
                    POD, apiVersion=None, kind=None, metadata={"labels": {"a": "b"}}
                )
            },
        ),
    )
