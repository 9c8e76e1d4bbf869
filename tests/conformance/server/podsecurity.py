"""Pods that violate the Pod Security Standards, each in one way, and some in several."""

import copy
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

LEVELS = ("baseline", "restricted")
VERSIONS = ("latest", *(f"v1.{minor}" for minor in (0, 8, 18, 19, 22, 23, 25, 27, 29, 31, 33, 34)))
"""Each that knows other checks than the one before it, and the last without each of the last."""
_SAFE: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_LISTS = ("containers", "initContainers", "ephemeralContainers")
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"


def plain(name: str = "a") -> Json:
    """A container that every level takes."""
    return {"name": name, "image": "app:1", "securityContext": copy.deepcopy(_SAFE)}


def pod(**spec: Any) -> Json:
    """A pod that every level takes but for `spec`."""
    metadata = {"name": "p", "annotations": spec.pop("annotations", {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [plain()], **spec},
    }


def cases() -> Iterator[tuple[str, Json]]:
    """Names and pods."""
    yield "safe", pod()
    yield "nothing said", pod(containers=[{"name": "a", "image": "app:1"}])
    for name, spec in _PODS:
        yield f"pod: {name}", pod(**copy.deepcopy(spec))
    for name, fields in _CONTAINERS:
        for place in _LISTS[:2]:
            one = _container("a", fields)
            if place == "initContainers" and fields.keys() & {"livenessProbe", "lifecycle"}:
                one["restartPolicy"] = "Always"
            yield f"{place}: {name}", pod(**{place: [one]} | _rest(place))
        two = [_container("a", fields), _container("b", fields), plain("c")]
        for port in two[1].get("ports", ()):
            port["hostPort"] += 100
        yield f"two containers: {name}", pod(containers=two)
    yield from _combined()


def _rest(place: str) -> Json:
    return {} if place == "containers" else {"containers": [plain("main")]}


def _container(name: str, fields: Json) -> Json:
    made = plain(name)
    for key, value in copy.deepcopy(fields).items():
        if key == "securityContext":
            made[key] = {
                inner: one for inner, one in {**made[key], **value}.items() if one is not None
            }
        else:
            made[key] = value
    return made


def _context(**fields: Any) -> Json:
    return {"securityContext": fields}


def _probe(**action: Any) -> Json:
    return {"livenessProbe": {"httpGet": {"port": 80, **action}}}


_HOOK = {"lifecycle": {"postStart": {"tcpSocket": {"port": 80, "host": "1.2.3.4"}}}}
_CONTAINERS: tuple[tuple[str, Json], ...] = (
    ("privileged", _context(privileged=True, allowPrivilegeEscalation=None)),
    ("escalation", _context(allowPrivilegeEscalation=None)),
    ("escalation allowed", _context(allowPrivilegeEscalation=True)),
    ("capability added", _context(capabilities={"add": ["NET_ADMIN", "CHOWN"], "drop": ["ALL"]})),
    (
        "capabilities added",
        _context(capabilities={"add": ["SYS_TIME", "NET_ADMIN"], "drop": ["ALL"]}),
    ),
    ("capability of ports", _context(capabilities={"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]})),
    ("capabilities kept", _context(capabilities=None)),
    ("capabilities half kept", _context(capabilities={"drop": ["NET_RAW"]})),
    ("host port", {"ports": [{"containerPort": 80, "hostPort": 8080}]}),
    (
        "host ports",
        {
            "ports": [
                {"containerPort": 80, "hostPort": 9090},
                {"containerPort": 81, "hostPort": 8080},
            ]
        },
    ),
    ("proc mount said", _context(procMount="Default")),
    ("root", _context(runAsNonRoot=None)),
    ("root said", _context(runAsNonRoot=False)),
    ("user 0", _context(runAsUser=0)),
    ("user 1", _context(runAsUser=1)),
    ("no seccomp", _context(seccompProfile=None)),
    ("unconfined", _context(seccompProfile={"type": "Unconfined"})),
    (
        "seccomp of the node",
        _context(seccompProfile={"type": "Localhost", "localhostProfile": "x.json"}),
    ),
    ("SELinux type", _context(seLinuxOptions={"type": "spc_t"})),
    ("SELinux type of engines", _context(seLinuxOptions={"type": "container_engine_t"})),
    ("SELinux type of containers", _context(seLinuxOptions={"type": "container_t", "level": "s0"})),
    ("SELinux user and role", _context(seLinuxOptions={"user": "u", "role": "r"})),
    ("AppArmor unconfined", _context(appArmorProfile={"type": "Unconfined"})),
    ("AppArmor default", _context(appArmorProfile={"type": "RuntimeDefault"})),
    ("probe at a host", _probe(host="1.2.3.4")),
    ("probe at localhost", _probe(host="127.0.0.1")),
    ("probe at no host", _probe(host="")),
    ("hook at a host", _HOOK),
)

_UNMASKED = _context(procMount="Unmasked")
_MANY = _context(
    seLinuxOptions={"type": "b_t", "user": "u"},
    appArmorProfile={"type": "Unconfined"},
    capabilities={"add": ["SYS_TIME"]},
    seccompProfile={"type": "Unconfined"},
    allowPrivilegeEscalation=True,
    runAsNonRoot=False,
)
_PODS: tuple[tuple[str, Json], ...] = (
    ("host network", {"hostNetwork": True}),
    ("host namespaces", {"hostNetwork": True, "hostPID": True, "hostIPC": True}),
    ("host users", {"hostUsers": False, "containers": [{"name": "a", "image": "b"}]}),
    ("host path", {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}),
    (
        "host paths",
        {
            "volumes": [
                {"name": "v", "hostPath": {"path": "/x"}},
                {"name": "w", "hostPath": {"path": "/y"}},
                {"name": "n", "nfs": {"server": "s", "path": "/z"}},
            ]
        },
    ),
    ("NFS", {"volumes": [{"name": "n", "nfs": {"server": "s", "path": "/z"}}]}),
    ("an image", {"volumes": [{"name": "i", "image": {"reference": "a:1"}}]}),
    (
        "volumes that are fine",
        {
            "volumes": [
                {"name": "a", "emptyDir": {}},
                {"name": "b", "configMap": {"name": "x"}},
                {"name": "c", "secret": {"secretName": "x"}},
                {"name": "d", "persistentVolumeClaim": {"claimName": "x"}},
                {"name": "e", "projected": {"sources": []}},
                {"name": "f", "downwardAPI": {}},
                {"name": "g", "csi": {"driver": "x"}},
            ]
        },
    ),
    ("sysctl", _context(sysctls=[{"name": "kernel.msgmax", "value": "1"}])),
    (
        "sysctls",
        _context(
            sysctls=[
                {"name": "net.core.somaxconn", "value": "1"},
                {"name": "kernel.msgmax", "value": "1"},
            ]
        ),
    ),
    *(
        (f"sysctl {one}", _context(sysctls=[{"name": one, "value": "1"}]))
        for one in (
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_rmem",
            "net.ipv4.tcp_wmem",
        )
    ),
    ("unconfined", _context(seccompProfile={"type": "Unconfined"})),
    ("root said", _context(runAsNonRoot=False)),
    ("user 0", _context(runAsUser=0)),
    ("SELinux", _context(seLinuxOptions={"type": "spc_t", "user": "u"})),
    ("AppArmor unconfined", _context(appArmorProfile={"type": "Unconfined"})),
    (
        "Windows host process",
        {
            "hostNetwork": True,
            **_context(windowsOptions={"hostProcess": True, "runAsUserName": "u"}),
        },
    ),
    ("proc mount", {"hostUsers": False, "containers": [_container("a", _UNMASKED)]}),
    (
        "proc mounts",
        {
            "hostUsers": False,
            "containers": [plain()],
            "initContainers": [_container("i", _UNMASKED), _container("j", _UNMASKED)],
        },
    ),
    ("AppArmor by annotation", {"annotations": {f"{_APP_ARMOR}a": "unconfined"}}),
    ("AppArmor by annotation, fine", {"annotations": {f"{_APP_ARMOR}a": "runtime/default"}}),
    (
        "SELinux types",
        _context(seLinuxOptions={"type": "z_t"})
        | {
            "containers": [
                _container("a", _context(seLinuxOptions={"type": "y_t", "role": "r"})),
                _container("b", _context(seLinuxOptions={"type": "x_t"})),
            ]
        },
    ),
    (
        "hosts of probes",
        {
            "containers": [
                _container("a", _probe(host="h.example.com")),
                _container(
                    "b", {"readinessProbe": {"tcpSocket": {"port": 1, "host": "a.example.com"}}}
                ),
                _container("c", {"startupProbe": {"httpGet": {"port": 1, "host": "::1"}}}),
                _container("d", {"lifecycle": {"preStop": {"httpGet": {"port": 1, "host": "b"}}}}),
            ]
        },
    ),
    (
        "AppArmor of pod and containers",
        _context(appArmorProfile={"type": "Unconfined"})
        | {
            "annotations": {f"{_APP_ARMOR}c": "unconfined"},
            "containers": [
                _container("a", _context(appArmorProfile={"type": "Unconfined"})),
                _container("b", _context(appArmorProfile={"type": "RuntimeDefault"})),
                plain("c"),
            ],
        },
    ),
    (
        "capabilities of containers",
        {
            "containers": [
                _container("a", _context(capabilities={"add": ["SYS_TIME"], "drop": ["ALL"]})),
                _container("b", _context(capabilities={"add": ["NET_ADMIN"]})),
                _container("c", _context(capabilities={"add": ["KILL"], "drop": ["KILL"]})),
            ]
        },
    ),
    (
        "seccomp by annotations",
        {
            "annotations": {
                "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
                "container.seccomp.security.alpha.kubernetes.io/a": "unconfined",
                "container.seccomp.security.alpha.kubernetes.io/b": "localhost/x",
            },
            "containers": [
                _container("a", _context(seccompProfile=None)),
                _container("b", _context(seccompProfile=None)),
            ],
        },
    ),
    (
        "seccomp by annotation",
        {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}},
    ),
)


def _in_user_namespaces() -> Iterator[tuple[str, Json]]:
    for name, context in (
        ("user 0", {"runAsUser": 0}),
        ("root", {"runAsNonRoot": False}),
        ("nothing", {"runAsNonRoot": None, "seccompProfile": None}),
        ("everything", {**_UNMASKED["securityContext"], **_MANY["securityContext"]}),
    ):
        spec = {"hostUsers": False, "containers": [_container("a", _context(**context))]}
        yield f"user namespace: {name}", pod(**spec)
        nfs = {"name": "n", "nfs": {"server": "s", "path": "/z"}}
        whole = {"runAsUser": 0, "sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
        yield f"user namespace and pod: {name}", pod(**spec, volumes=[nfs], securityContext=whole)


def _combined() -> Iterator[tuple[str, Json]]:
    """What pods and containers say together."""
    bare = {"name": "a", "image": "app:1"}
    for name, context in (
        ("non root", {"runAsNonRoot": True}),
        ("root", {"runAsNonRoot": False}),
        ("seccomp", {"seccompProfile": {"type": "RuntimeDefault"}}),
        ("unconfined", {"seccompProfile": {"type": "Unconfined"}}),
        ("user 0", {"runAsUser": 0}),
    ):
        both = [{**bare, "securityContext": context}, plain("b")]
        yield f"pod alone: {name}", pod(securityContext=context, containers=[bare])
        yield f"pod and container: {name}", pod(securityContext=context, containers=both)
        yield f"pod and safe container: {name}", pod(securityContext=context)
    everything: Json = {"name": "a", "image": "app:1"}
    worst: Json = {}
    for _, fields in _CONTAINERS:
        worst |= fields.get("securityContext", {})
        everything |= fields
    worst = {key: one for key, one in worst.items() if one is not None}
    worst |= {"privileged": True, "allowPrivilegeEscalation": True}
    everything["securityContext"] = worst
    yield "everything", pod(hostPID=True, containers=[everything])
    yield from _in_user_namespaces()
    windows = {"os": {"name": "windows"}, "containers": [bare]}
    yield "Windows", pod(**windows)
    bad = _container("a", _context(privileged=True, allowPrivilegeEscalation=None))
    for place in _LISTS[:2]:
        yield (
            f"in {place} and others",
            pod(**{place: [bad], **_rest(place)}, hostIPC=True, hostNetwork=True),
        )
