"""Pods and their templates."""

from collections.abc import Iterator, Mapping

from lws.sandbox.schema.defaults.words import CORE, JsonObject, Setter
from lws.sandbox.schema.totals import containers_together, is_of_pods

_SHARED_WITH_CONTEXT = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")


def _pod(pod: JsonObject) -> None:
    """What only a pod gets, and no template."""
    spec = pod["spec"]
    for container in _containers(spec):
        resources = container.get("resources") or {}
        if resources.get("limits"):
            requests = {**resources["limits"], **(resources.get("requests") or {})}
            container["resources"] = {**resources, "requests": requests}
    _request_as_a_whole(spec)
    spec.setdefault("enableServiceLinks", True)


def _request_as_a_whole(spec: JsonObject) -> None:
    """A limited pod asks for what its containers ask for, or else for all that it may have."""
    resources = spec.get("resources") or {}
    limits = {
        name: one for name, one in (resources.get("limits") or {}).items() if is_of_pods(name)
    }
    if limits:
        asked = {name: str(one) for name, one in containers_together(spec, "requests").items()}
        meant = {name: asked.get(name, limit) for name, limit in limits.items()}
        requests = {**meant, **(resources.get("requests") or {})}
        spec["resources"] = {**resources, "requests": requests}


def _containers(spec: JsonObject) -> Iterator[JsonObject]:
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def _pod_spec(spec: JsonObject) -> None:
    for name, value in (
        ("dnsPolicy", "ClusterFirst"),
        ("restartPolicy", "Always"),
        ("securityContext", {}),
        ("terminationGracePeriodSeconds", 30),
        ("schedulerName", "default-scheduler"),
    ):
        spec.setdefault(name, value)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    if spec.get("hostNetwork"):
        _share_host_ports(spec)


def _share_host_ports(spec: JsonObject) -> None:
    for container in _containers(spec):
        for port in container.get("ports") or ():
            if not port.get("hostPort") and port.get("containerPort"):
                port["hostPort"] = port["containerPort"]


SETTERS: Mapping[str, Setter] = {f"{CORE}Pod": _pod, f"{CORE}PodSpec": _pod_spec}
