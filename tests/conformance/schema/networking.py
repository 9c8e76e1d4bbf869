"""Network policies, Ingresses and their classes."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.schema.base import Case, Json, changed, of

_API = "networking.k8s.io/v1"
_WEB = {"matchLabels": {"app": "web"}}
POLICY: Json = of(
    "NetworkPolicy",
    _API,
    spec={"podSelector": _WEB, "ingress": [{"ports": [{"port": 80}], "from": [{}]}]},
)
POLICY["spec"]["ingress"][0]["from"] = [{"podSelector": _WEB}]
_SERVICE = {"service": {"name": "web", "port": {"number": 80}}}
INGRESS: Json = of(
    "Ingress",
    _API,
    spec={
        "rules": [
            {
                "host": "web.example.com",
                "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": _SERVICE}]},
            }
        ]
    },
)
CLASS: Json = of("IngressClass", _API, spec={"controller": "example.com/router"})


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _policies()
    yield from _peers()
    yield from _ingresses()
    yield from _backends()
    yield from _paths()
    yield from _classes()


def _policy(name: str, **changes: Any) -> Case:
    return Case(f"network policy: {name}", changed(POLICY, **changes))


def _policies() -> Iterator[Case]:
    port, rule = "spec__ingress__0__ports__0", {"ports": [{"port": 53}], "to": [{"ipBlock": {}}]}
    yield _policy("plain")
    yield _policy("of all pods, deny all", spec={"podSelector": {}})
    yield _policy("nothing at all", spec=None)
    yield _policy("an empty rule", spec__ingress=[{}])
    yield _policy("egress", spec__egress=[{"ports": [{"protocol": "UDP", "port": "dns"}]}])
    yield _policy("egress alone", spec={"podSelector": {}, "egress": []})
    yield _policy("egress, said", spec__policyTypes=["Egress"])
    yield _policy("no types", spec__policyTypes=[])
    yield _policy("a type unknown", spec__policyTypes=["Sideways"])
    yield _policy("too many types", spec__policyTypes=["Ingress", "Egress", "Ingress"])
    yield _policy("a bad selector", spec__podSelector={"matchLabels": {"a b": "c"}})
    yield _policy(
        "a bad requirement",
        spec__podSelector={"matchExpressions": [{"key": "a", "operator": "In"}]},
    )
    yield _policy("a port of no protocol", **{port: {"protocol": "ICMP", "port": 1}})
    yield _policy("a port out of range", **{port: {"port": 70000}})
    yield _policy("a port with a bad name", **{port: {"port": "Web!"}})
    yield _policy("a range", **{port: {"port": 80, "endPort": 90}})
    yield _policy("a range backwards", **{port: {"port": 80, "endPort": 70}})
    yield _policy("a range too far", **{port: {"port": 80, "endPort": 70000}})
    yield _policy("a range from a name", **{port: {"port": "web", "endPort": 70}})
    yield _policy("a range from nowhere", **{port: {"endPort": 70}})
    yield _policy("a port that is none", **{port: {}})
    yield _policy("a port as text", **{port: {"port": "80"}})
    yield _policy("a rule with a bad peer", spec__egress=[rule])
    yield _policy("a list for an object", spec__podSelector=[])


def _peers() -> Iterator[Case]:
    peer, block = "spec__ingress__0__from__0", {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}
    yield _policy("a namespace", **{peer: {"namespaceSelector": {}}})
    yield _policy("a namespace and pods", **{peer: {"namespaceSelector": {}, "podSelector": {}}})
    yield _policy("no peer", **{peer: {}})
    yield _policy("a block", **{peer: {"ipBlock": block}})
    yield _policy("a block and pods", **{peer: {"ipBlock": block, "podSelector": {}}})
    yield _policy("a block of nothing", **{peer: {"ipBlock": {"cidr": ""}}})
    yield _policy("a block that is none", **{peer: {"ipBlock": {"cidr": "10.0.0/8"}}})
    yield _policy("a block of one", **{peer: {"ipBlock": {"cidr": "10.0.0.1"}}})
    yield _policy("a block of IPv6", **{peer: {"ipBlock": {"cidr": "fd00::/8"}}})
    for name, value in (
        ("outside", "11.0.0.0/16"),
        ("as wide", "10.0.0.0/8"),
        ("wider", "10.0.0.0/7"),
        ("that is none", "ten"),
        ("of the other family", "fd00::/16"),
    ):
        cut = {"cidr": "10.0.0.0/8", "except": [value]}
        yield _policy(f"a block with an exception {name}", **{peer: {"ipBlock": cut}})
    yield _policy("peers with bad selectors", **{peer: {"podSelector": {"matchLabels": {"": ""}}}})


def _ingress(name: str, **changes: Any) -> Case:
    return Case(f"ingress: {name}", changed(INGRESS, **changes))


def _ingresses() -> Iterator[Case]:
    host = "spec__rules__0__host"
    yield _ingress("plain")
    yield _ingress("no host", **{host: None})
    yield _ingress("no rules", spec={})
    yield _ingress("nothing but a default", spec={"defaultBackend": _SERVICE})
    yield _ingress("a rule of a host alone", spec__rules=[{"host": "a.example.com"}])
    yield _ingress("no paths", spec__rules__0__http={"paths": []})
    for name, value in (
        ("a wildcard", "*.example.com"),
        ("a wildcard inside", "a.*.example.com"),
        ("an address", "10.0.0.1"),
        ("an address of IPv6", "fd00::1"),
        ("in capitals", "Web.example.com"),
        ("with a port", "web.example.com:80"),
    ):
        yield _ingress(f"a host that is {name}", **{host: value})
    yield _ingress("a class", spec__ingressClassName="router")
    yield _ingress("a class with a bad name", spec__ingressClassName="Router!")
    both = {"kubernetes.io/ingress.class": "router"}
    yield _ingress("a class of old", metadata={"name": "one", "annotations": both})
    yield _ingress(
        "a class twice",
        metadata={"name": "one", "annotations": both},
        spec__ingressClassName="router",
    )
    yield _ingress(
        "two classes",
        metadata={"name": "one", "annotations": both},
        spec__ingressClassName="switch",
    )
    yield _ingress("TLS", spec__tls=[{"hosts": ["*.example.com"], "secretName": "cert"}])
    yield _ingress("TLS of all", spec__tls=[{}])
    yield _ingress("TLS with a bad host", spec__tls=[{"hosts": ["Web!", "*.*.x", ""]}])
    yield _ingress("TLS with a bad secret", spec__tls=[{"secretName": "Cert"}])


def _backends() -> Iterator[Case]:
    backend = "spec__rules__0__http__paths__0__backend"
    resource = {"apiGroup": "example.com", "kind": "Bucket", "name": "b"}
    yield _ingress("no backend", **{backend: None})
    yield _ingress("an empty backend", **{backend: {}})
    yield _ingress("a resource", **{backend: {"resource": resource}})
    yield _ingress("an empty resource", **{backend: {"resource": {"kind": "", "name": ""}}})
    yield _ingress("a bad resource", **{backend: {"resource": {"kind": "a/b", "name": ".."}}})
    bad_group = {"apiGroup": "Ex ample", "kind": "a", "name": "b"}
    yield _ingress("a resource of a bad group", **{backend: {"resource": bad_group}})
    yield _ingress("a resource and a service", **{backend: {"resource": resource, **_SERVICE}})
    for name, service in (
        ("no name", {"port": {"number": 80}}),
        ("a bad name", {"name": "Web", "port": {"number": 80}}),
        ("a name that begins with a digit", {"name": "1web", "port": {"number": 80}}),
        ("no port", {"name": "web"}),
        ("two ports", {"name": "web", "port": {"number": 80, "name": "http"}}),
        ("a port with a name", {"name": "web", "port": {"name": "http"}}),
        ("a port with a bad name", {"name": "web", "port": {"name": "HTTP"}}),
        ("a port out of range", {"name": "web", "port": {"number": 70000}}),
        ("a negative port", {"name": "web", "port": {"number": -1}}),
        ("a port as text", {"name": "web", "port": {"number": "80"}}),
    ):
        yield _ingress(f"a service with {name}", **{backend: {"service": service}})
    yield _ingress("a bad default", spec={"defaultBackend": {"service": {"name": ""}}})
    yield _ingress("a service as of v1beta1", **{backend: {"serviceName": "web"}})


def _paths() -> Iterator[Case]:
    one = "spec__rules__0__http__paths__0__"
    yield _ingress("no path type", **{f"{one}pathType": None})
    yield _ingress("an unknown path type", **{f"{one}pathType": "Regex"})
    yield _ingress("an empty path type", **{f"{one}pathType": ""})
    for kind in ("Exact", "Prefix", "ImplementationSpecific"):
        for path in ("/a/", "", "a", "//", "/a/./b", "/a/../b", "/..", "/.", "/a%2fb", "/a%2Fb"):
            changes = {f"{one}pathType": kind, f"{one}path": path}
            yield _ingress(f"{kind} path {path}", **changes)


def _class(name: str, **changes: Any) -> Case:
    return Case(f"ingress class: {name}", changed(CLASS, **changes))


def _classes() -> Iterator[Case]:
    yield _class("plain")
    yield _class("nothing", spec=None)
    yield _class("no controller", spec={})
    yield _class("a controller without domain", spec__controller="router")
    yield _class("a controller of a bad domain", spec__controller="Example/router")
    yield _class("a controller with a bad path", spec__controller="example.com/a b/c")
    yield _class("a controller with a path", spec__controller="example.com/a/b")
    yield _class("a long controller", spec__controller="example.com/" + "a" * 250)
    for name, parameters in (
        ("plain", {"kind": "Settings", "name": "a"}),
        ("of a group", {"apiGroup": "example.com", "kind": "Settings", "name": "a"}),
        ("of a bad group", {"apiGroup": "Example!", "kind": "Settings", "name": "a"}),
        ("of nothing", {}),
        ("with a bad name", {"kind": "a/b", "name": "a%b"}),
        ("of a scope unknown", {"kind": "Settings", "name": "a", "scope": "Galaxy"}),
        ("of the cluster", {"kind": "Settings", "name": "a", "scope": "Cluster"}),
        ("of no namespace", {"kind": "Settings", "name": "a", "scope": "Namespace"}),
        ("of a cluster's", {"kind": "a", "name": "a", "scope": "Cluster", "namespace": "b"}),
        ("of a namespace", {"kind": "a", "name": "a", "scope": "Namespace", "namespace": "b"}),
        ("of a bad one", {"kind": "a", "name": "a", "scope": "Namespace", "namespace": "B"}),
        ("of an empty one", {"kind": "a", "name": "a", "scope": "Namespace", "namespace": ""}),
    ):
        yield _class(f"parameters {name}", spec__parameters=parameters)
