"""Pods: what is filled in, and what is wrong."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.schema.base import CONTAINER, POD, Case, Json, changed

_C0 = "spec__containers__0__"


def _pod(name: str, **changes: Any) -> Case:
    return Case(f"pod: {name}", changed(POD, **changes))


def _container(label: str, /, **fields: Any) -> Case:
    return Case(
        f"container: {label}", changed(POD, **{_C0 + key: one for key, one in fields.items()})
    )


def _volume(name: str, *volumes: Json, mounts: list[Json] | None = None) -> Case:
    case = changed(POD, spec__volumes=list(volumes))
    if mounts is not None:
        case = changed(case, **{f"{_C0}volumeMounts": mounts})
    return Case(f"volume: {name}", case)


def cases() -> Iterator[Case]:
    """All of them."""
    yield _pod("plain")
    yield from _whole_pods()
    yield from _containers()
    yield from _images()
    yield from _resources()
    yield from _environment()
    yield from _probes()
    yield from _volumes()
    yield from _scheduling()


def _whole_pods() -> Iterator[Case]:
    yield _pod("no containers", spec__containers=[])
    yield _pod("no spec", spec=None)
    yield _pod("restart policy never", spec__restartPolicy="Never")
    yield _pod("restart policy unknown", spec__restartPolicy="Sometimes")
    yield _pod("dns policy unknown", spec__dnsPolicy="Mine")
    yield _pod(
        "host network gets host ports",
        spec__hostNetwork=True,
        **{f"{_C0}ports": [{"containerPort": 80}]},
    )
    yield _pod("old name of the service account", spec__serviceAccount="me")
    yield _pod("service account with a bad name", spec__serviceAccountName="Me!")
    yield _pod("hostname with dots", spec__hostname="a.b")
    yield _pod("subdomain in upper case", spec__subdomain="Sub")
    yield _pod("node name", spec__nodeName="Node_1")
    yield _pod("deadline of zero", spec__activeDeadlineSeconds=0)
    yield _pod("deadline", spec__activeDeadlineSeconds=10)
    yield _pod("kind as a number", kind="Pod", metadata=5)
    yield _pod("long labels", spec__nodeSelector={"a" * 64: "b" * 64, "c" * 254 + "/d": ""})
    yield _pod("empty values", spec__hostNetwork=False, spec__nodeSelector={}, spec__volumes=[])
    yield _pod("security context", spec__securityContext={"fsGroup": 5})
    yield _pod("image pull secrets", spec__imagePullSecrets=[{"name": "x"}, {}])
    yield _pod("host aliases", spec__hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a"]}])
    yield _pod("two containers of a name", spec__containers=[CONTAINER, CONTAINER])
    yield _pod("ephemeral containers", spec__ephemeralContainers=[CONTAINER])
    yield _pod("gates", spec__schedulingGates=[{"name": "a/b"}, {"name": "a/b"}, {"name": "-"}])
    yield _pod("readiness gates", spec__readinessGates=[{"conditionType": "x y"}])
    yield _pod("a node selector with bad values", spec__nodeSelector={"a b": "c d"})
    yield _pod("grace of zero", spec__terminationGracePeriodSeconds=0)
    yield _pod("service links off", spec__enableServiceLinks=False)
    yield _pod("init containers", spec__initContainers=[{"name": "init", "image": "busybox"}])
    yield _pod("an init container of the same name", spec__initContainers=[CONTAINER])
    yield _pod(
        "an init container with a probe",
        spec__initContainers=[
            {"name": "i", "image": "b", "readinessProbe": {"tcpSocket": {"port": 1}}}
        ],
    )
    yield _pod(
        "a sidecar",
        spec__initContainers=[{"name": "i", "image": "b", "restartPolicy": "Always"}],
    )
    yield _pod("replicas in a pod's spec are dropped", spec__replicas=3)
    yield _pod("containers as an object", spec__containers={})
    yield _pod("a container as a string", spec__containers=["x"])
    yield _pod("a number as restart policy", spec__restartPolicy=3)
    yield _pod("a word as grace", spec__terminationGracePeriodSeconds="long")
    yield _pod("a fraction as grace", spec__terminationGracePeriodSeconds=1.5)
    yield _pod("a word as host network", spec__hostNetwork="true")
    yield _pod("labels that are no strings", metadata__labels={"a": 1})
    yield _pod("a spec that is a list", spec=[])


def _containers() -> Iterator[Case]:
    yield _container("no name", name=None)
    yield _container("empty name", name="")
    yield _container("bad name", name="Main_1")
    yield _container("a name with dots", name="a.b")
    yield _container("long name", name="a" * 64)
    yield _container("no image", image=None)
    yield _container("an image with a space before", image=" nginx")
    yield _container("pull policy unknown", imagePullPolicy="Perhaps")
    yield _container("message policy unknown", terminationMessagePolicy="Shout")
    yield _container("command and arguments", command=["a"], args=[])
    yield _container(
        "ports", ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    )
    yield _container("a port without number", ports=[{"name": "http"}])
    yield _container("ports too large", ports=[{"containerPort": 70000, "hostPort": 70000}])
    yield _container("a port's name too long", ports=[{"containerPort": 1, "name": "a" * 16}])
    yield _container("a port's name of digits", ports=[{"containerPort": 1, "name": "80--1"}])
    yield _container(
        "two ports of a name",
        ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}],
    )
    yield _container("protocol unknown", ports=[{"containerPort": 1, "protocol": "ICMP"}])
    yield _container(
        "a host port twice",
        ports=[{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}],
    )
    yield _container("a word as port", ports=[{"containerPort": "http"}])
    yield _container("lifecycle", lifecycle={"preStop": {"httpGet": {"port": "http"}}})
    yield _container("lifecycle without handler", lifecycle={"preStop": {}})


def _images() -> Iterator[Case]:
    for image in (
        *("nginx", "nginx:latest", "nginx:1", "host:5000/nginx", "host:5000/nginx:latest"),
        *("a/b/c@sha256:" + "0" * 64, "a:latest@sha256:" + "0" * 64, "Upper/case", "::"),
    ):
        yield _container(f"image {image}", image=image)


def _resources() -> Iterator[Case]:
    for name, resources in {
        "limits alone": {"limits": {"cpu": "1", "memory": "1Gi"}},
        "some requests": {"limits": {"cpu": 2, "memory": "1Gi"}, "requests": {"cpu": "500m"}},
        "requests above limits": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
        "amounts in other forms": {"limits": {"cpu": "1000m", "memory": "1073741824"}},
        "too fine an amount": {"requests": {"cpu": "0.0001"}},
        "a negative amount": {"requests": {"cpu": "-1"}},
        "an unknown resource": {"limits": {"tea": "1"}},
        "a bad name": {"limits": {"a b": "1"}},
        "devices": {"limits": {"nvidia.com/gpu": 8}},
        "half a device": {"limits": {"nvidia.com/gpu": "500m"}},
        "devices asked for alone": {"requests": {"nvidia.com/gpu": 1}},
        "fewer devices asked for": {
            "limits": {"nvidia.com/gpu": 2},
            "requests": {"nvidia.com/gpu": 1},
        },
        "huge pages alone": {"limits": {"hugepages-2Mi": "2Mi"}},
        "no quantity": {"limits": {"cpu": "much"}},
        "a list": {"limits": []},
    }.items():
        yield _container(f"resources: {name}", resources=resources)


def _environment() -> Iterator[Case]:
    for name, one in {
        "value": {"name": "A", "value": "1"},
        "empty value": {"name": "A", "value": ""},
        "no name": {"value": "1"},
        "a name with =": {"name": "A=B"},
        "a number": {"name": "A", "value": 1},
        "field": {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        "label": {
            "name": "A",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}},
        },
        "field unknown": {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}},
        "no source": {"name": "A", "valueFrom": {}},
        "secret key": {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        "secret key missing": {"name": "A", "valueFrom": {"secretKeyRef": {}}},
        "value and source": {
            "name": "A",
            "value": "1",
            "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}},
        },
        "two sources": {
            "name": "A",
            "valueFrom": {
                "configMapKeyRef": {"name": "c", "key": "k"},
                "secretKeyRef": {"name": "c", "key": "k"},
            },
        },
        "resource": {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    }.items():
        yield _container(f"environment: {name}", env=[one])
    yield _container("environment from a map", envFrom=[{"configMapRef": {"name": "c"}}])
    yield _container("environment from nothing", envFrom=[{}])


def _probes() -> Iterator[Case]:
    for name, probe in {
        "http": {"httpGet": {"port": 80}},
        "tcp by name": {"tcpSocket": {"port": "http"}},
        "grpc": {"grpc": {"port": 9000}},
        "exec": {"exec": {"command": ["true"]}},
        "exec without command": {"exec": {}},
        "nothing": {},
        "two": {"httpGet": {"port": 80}, "tcpSocket": {"port": 80}},
        "port zero": {"httpGet": {"port": 0}},
        "a bad port name": {"httpGet": {"port": "Not_A_Port"}},
        "a bad scheme": {"httpGet": {"port": 80, "scheme": "FTP"}},
        "a bad header": {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": ""}]}},
        "negative numbers": {"tcpSocket": {"port": 1}, "periodSeconds": -1},
        "two successes": {"tcpSocket": {"port": 1}, "successThreshold": 2},
        "a port that is a float": {"httpGet": {"port": 80.5}},
        "a port that is a flag": {"httpGet": {"port": True}},
    }.items():
        yield _container(f"liveness: {name}", livenessProbe=probe)
    yield _container("readiness", readinessProbe={"tcpSocket": {"port": 1}, "successThreshold": 2})
    yield _container("startup", startupProbe={"exec": {"command": ["x"]}, "periodSeconds": 3})


def _volumes() -> Iterator[Case]:
    sources: dict[str, Json] = {
        "nothing is an empty directory": {},
        "memory": {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        "a negative size": {"emptyDir": {"sizeLimit": "-1"}},
        "config map": {"configMap": {"name": "c", "items": [{"key": "a", "path": "b"}]}},
        "config map with a bad path": {
            "configMap": {"name": "c", "items": [{"key": "a", "path": "../b"}]}
        },
        "config map without name": {"configMap": {}},
        "secret": {"secret": {"secretName": "s", "defaultMode": 256}},
        "secret with a bad mode": {"secret": {"secretName": "s", "defaultMode": 10000}},
        "secret without name": {"secret": {}},
        "claim": {"persistentVolumeClaim": {"claimName": "c"}},
        "claim without name": {"persistentVolumeClaim": {}},
        "host path": {"hostPath": {"path": "/x"}},
        "host path unknown": {"hostPath": {"path": "/x", "type": "Pipe"}},
        "host path going up": {"hostPath": {"path": "/x/../y"}},
        "downward": {
            "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}
        },
        "projected": {
            "projected": {"sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}]}
        },
        "nfs": {"nfs": {"server": "s", "path": "p"}},
        "ephemeral": {
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                }
            }
        },
        "two sources": {"emptyDir": {}, "hostPath": {"path": "/x"}},
        "csi": {"csi": {}},
    }
    for name, source in sources.items():
        yield _volume(name, {"name": "v", **source})
    yield _volume("no name", {"emptyDir": {}})
    yield _volume("bad name", {"name": "V_", "emptyDir": {}})
    yield _volume("twice", {"name": "v"}, {"name": "v"})
    good = {"name": "v", "mountPath": "/a"}
    yield _volume("mounted", {"name": "v"}, mounts=[good])
    yield _volume("mounted twice at a place", {"name": "v"}, mounts=[good, good])
    yield _volume("not there", mounts=[good])
    yield _volume("mounted nowhere", {"name": "v"}, mounts=[{"name": "v"}])
    yield _volume("mounted without name", {"name": "v"}, mounts=[{"mountPath": "/a"}])
    yield _volume("sub path", {"name": "v"}, mounts=[{**good, "subPath": "/abs"}])
    yield _volume("sub path going up", {"name": "v"}, mounts=[{**good, "subPath": "a/../b"}])


def _scheduling() -> Iterator[Case]:
    for name, one in {
        "all": {"operator": "Exists"},
        "no key": {"value": "x"},
        "exists with value": {"key": "a", "operator": "Exists", "value": "x"},
        "seconds": {"key": "a", "operator": "Exists", "tolerationSeconds": 5},
        "effect unknown": {"key": "a", "effect": "Perhaps"},
        "operator unknown": {"key": "a", "operator": "Like"},
        "operator greater": {"key": "a", "operator": "Gt", "value": "1"},
        "bad key": {"key": "a b"},
        "bad value": {"key": "a", "value": "c d"},
        "not ready for ever": {
            "key": "node.kubernetes.io/not-ready",
            "operator": "Exists",
            "effect": "NoExecute",
        },
    }.items():
        yield _pod(f"toleration: {name}", spec__tolerations=[one])
    term = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
    must, may = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    for name, affinity in {
        "anti": {"podAntiAffinity": {must: [term]}},
        "no key": {"podAffinity": {must: [{**term, "topologyKey": ""}]}},
        "a bad namespace": {"podAffinity": {must: [{**term, "namespaces": ["A"]}]}},
        "a bad weight": {"podAffinity": {may: [{"weight": 101, "podAffinityTerm": term}]}},
        "a bad selector": {
            "podAffinity": {
                must: [
                    {
                        "topologyKey": "z",
                        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]},
                    }
                ]
            }
        },
        "no node terms": {"nodeAffinity": {must: {"nodeSelectorTerms": []}}},
        "node operator unknown": {
            "nodeAffinity": {
                must: {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Like"}]}]
                }
            }
        },
        "node": {
            "nodeAffinity": {
                may: [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [
                                {"key": "a", "operator": "Gt", "values": ["1", "2"]}
                            ]
                        },
                    }
                ]
            }
        },
    }.items():
        yield _pod(f"affinity: {name}", spec__affinity=affinity)
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    yield _pod("spreading", spec__topologySpreadConstraints=[spread])
    yield _pod("spreading twice", spec__topologySpreadConstraints=[spread, spread])
    yield _pod("spreading with nothing", spec__topologySpreadConstraints=[{}])
