"""Pods and their templates."""

from collections.abc import Iterator, Mapping

from lws.sandbox.schema.defaults.words import CORE, JsonObject, Setter

_SHARED_WITH_CONTEXT = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")


def _pod(pod: JsonObject) -> None:
    """What only a pod gets, and no template."""
    spec = pod["spec"]
    for container in _containers(spec):
        resources = container.get("resources") or {}
        if resources.get("limits"):
            requests = {**resources["limits"], **(resources.get("requests") or {})}
            container["resources"] = {**resources, "requests": requests}
    spec.setdefault("enableServiceLinks", True)


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
