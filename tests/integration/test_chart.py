"""The life of a release on a real API server, and the manager as the chart starts it."""

import http.client
import shutil
import socket
import ssl
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import yaml

from harness.kube import Json
from harness.plane import Plane, kubeconfig_text
from harness.ports import release_port, take_port
from harness.process import Process
from harness.tools import must, run_tool
from harness.waiting import eventually
from tests.deploy.exported import exported
from tests.deploy.rendering import CHART, PUBLIC, template
from tests.integration.disaggregatedset.support import API_VERSION, role
from tests.integration.leaderworkerset.manifests import leader_worker_set

pytestmark = [pytest.mark.timeout(240)]

NAMESPACE, RELEASE = "lws-system", "inference"
MANAGER = f"{RELEASE}-lws-controller-manager"
CRD = "leaderworkersets.leaderworkerset.x-k8s.io"
CRDS = "customresourcedefinitions.apiextensions.k8s.io"
SETS = (("leaderworkersets", "up"), ("disaggregatedsets", "roles"))
SERVED_ELSEWHERE = {"Certificate", "Issuer", "ServiceMonitor", "PrometheusRule"}
HOOKS = (
    ("mutatingwebhookconfigurations", "lws-mutating-webhook-configuration"),
    ("validatingwebhookconfigurations", "lws-validating-webhook-configuration"),
)


class Release:
    """A release of the chart, its ports free ones of this machine."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.ports = {name: take_port() for name in ("service", "metrics", "health")}

    def helm(self, verb: str, *words: str | Path, chart: Path | None = None) -> Any:
        """One call of helm about this release."""
        knobs = [f"{name}.port={port}" for name, port in self.ports.items()]
        with_chart: list[str | Path] = []
        if chart is not None:
            with_chart = [chart, "--set", ",".join(knobs)]
        where = ("--namespace", NAMESPACE)
        config = self._plane.admin_kubeconfig
        return run_tool("helm", verb, RELEASE, *with_chart, *where, *words, kubeconfig=config)

    def close(self) -> None:
        """Uninstall it, whatever is left of it; the CRDs stay."""
        self.helm("uninstall", "--ignore-not-found")
        for port in self.ports.values():
            release_port(port)


@pytest.fixture
def release(spare_control_plane: Plane) -> Iterator[Release]:
    """Not installed yet; the namespace is there, and restricted."""
    words = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    namespace = {"apiVersion": "v1", "kind": "Namespace"}
    spare_control_plane.kube.apply({**namespace, "metadata": {"name": NAMESPACE, "labels": words}})
    with closing(Release(spare_control_plane)) as made:
        yield made


@pytest.fixture
def place(spare_control_plane: Plane) -> Iterator[str]:
    """A namespace for sets; what outlives the manager goes with it."""
    kube, name = spare_control_plane.kube, f"test-{token_hex(4)}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    kube.delete("namespaces", name)
    kube.delete_all("pods", name, grace=0)
    kube.delete("clusterrolebindings.rbac.authorization.k8s.io", f"metrics-{name}")


def older_chart(folder: Path) -> Path:
    """The chart as it was when a field of LeaderWorkerSet had another name."""
    copy = folder / "chart"
    shutil.copytree(CHART, copy)
    file = copy / "templates" / "crds" / "leaderworkerset.x-k8s.io_leaderworkersets.yaml"
    text = file.read_text()
    assert text.count("\n              paused:\n") == 1
    file.write_text(text.replace("\n              paused:\n", "\n              formerly:\n"))
    return copy


def fields(plane: Plane) -> set[str]:
    """Fields of a LeaderWorkerSet's spec, as the API server knows them."""
    (version,) = plane.kube.get(CRDS, CRD)["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return set(schema["properties"])


def test_a_release_lives_and_its_manager_works_as_the_chart_starts_it(
    spare_control_plane: Plane, release: Release, place: str, tmp_path: Path
) -> None:
    plane = spare_control_plane
    refused = release.helm("install", chart=older_chart(tmp_path))
    assert "cannot be imported into the current release" in refused.stderr, "CRDs of others"
    older = tmp_path / "chart"
    must(release.helm("install", "--take-ownership", chart=older))
    assert ("formerly" in fields(plane), "paused" in fields(plane)) == (True, False)
    eventually(lambda: both_run(plane), timeout=60, what="two managers are admitted and run")
    with started(plane, release, tmp_path) as manager:
        eventually(lambda: all(bundles(plane)), timeout=30, what="the CA is in the webhooks")
        said = must(release.helm("upgrade", chart=CHART))
        assert "rollout status deployment/" + MANAGER in said
        assert all(bundles(plane)), "an upgrade leaves the CA there"
        assert ("formerly" in fields(plane), "paused" in fields(plane)) == (False, True)
        eventually(lambda: is_ready(release), timeout=60, what="the manager is ready")
        reach_webhooks(plane, release)
        put_up(plane, place)
        pod = plane.kube.get("pods", "up-0", place)
        variables = {one["name"] for one in pod["spec"]["containers"][0]["env"]}
        assert "LWS_LEADER_ADDRESS" in variables, "the webhook marked the pod"
        nobody, reader = token_of(plane, "default", place), a_reader(plane, place)
        assert scraped(plane, release, nobody).startswith("HTTP/1.0 403")
        assert types_of(scraped(plane, release, reader)) >= families()
        assert manager.stop(30) == 0
    must(release.helm("uninstall"))
    assert plane.kube.find("deployments.apps", MANAGER, NAMESPACE) is None
    assert "paused" in fields(plane), "the CRD is kept"
    for kind, name in SETS:
        assert plane.kube.find(kind, name, place) is not None, "the sets stay"
        assert is_available(plane, place, kind, name)


def test_the_chart_with_every_knob_is_accepted(spare_control_plane: Plane, tmp_path: Path) -> None:
    values = {
        **yaml.safe_load(PUBLIC),
        "replicaCount": 3,
        "enableCertManager": True,
        "prometheusRule": {"enabled": True},
        "grafanaDashboard": {"enabled": True},
        "rbac": {"extraRules": [{"apiGroups": ["g"], "resources": ["r"], "verbs": ["get"]}]},
        "podLabels": {"team": "serving"},
        "resources": {},
    }
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values))
    items = list(template("--values", tmp_path / "values.yaml").values())
    ours = [item for item in items if item["kind"] not in SERVED_ELSEWHERE]
    assert {item["kind"] for item in items} >= SERVED_ELSEWHERE
    for item in ours:
        if "namespace" in item["metadata"]:
            item["metadata"]["namespace"] = "default"  # the release's need not be there
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(ours))
    words = ("--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f")
    answer = spare_control_plane.kubectl("apply", *words, str(tmp_path / "all.yaml"))
    assert answer.count("serverside-applied") == len(ours)


def both_run(plane: Plane) -> bool:
    pods = plane.kube.items("pods", NAMESPACE, selector=f"app.kubernetes.io/instance={RELEASE}")
    return len(pods) == 2 and all(pod["status"].get("phase") == "Running" for pod in pods)


@contextmanager
def started(plane: Plane, release: Release, folder: Path) -> Iterator[Process]:
    """The container of the Deployment as a process: its command, files, account; not its image."""
    spec = plane.kube.get("deployments.apps", MANAGER, NAMESPACE)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    mounted = mounts(plane, spec, folder)
    (_,), arguments = container["command"], container["args"]
    program = Path(sys.executable).parent / "lws"
    command: list[str | Path] = [program, *(inside(word, mounted) for word in arguments)]
    config = account(plane, spec["serviceAccountName"], folder)
    process = Process(
        "chart", command, home=plane.runtime_home, environment={"KUBECONFIG": str(config)}
    )
    process.start()
    try:
        yield process
    except BaseException as error:
        error.add_note(process.tail())
        raise
    finally:
        process.stop(10)


def mounts(plane: Plane, spec: Json, folder: Path) -> dict[str, Path]:
    """By their paths in the container: ConfigMaps as files, an emptyDir as a folder."""
    (container,) = spec["containers"]
    paths = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    mounted = {path: folder / name for name, path in paths.items()}
    for volume in spec["volumes"]:
        place = folder / volume["name"]
        place.mkdir()
        if "configMap" in volume:
            data = plane.kube.get("configmaps", volume["configMap"]["name"], NAMESPACE)["data"]
            for name, text in data.items():
                (place / name).write_text(inside(text, mounted))
    return mounted


def inside(text: str, mounted: dict[str, Path]) -> str:
    """With paths of this machine for those of the container."""
    for path, place in mounted.items():
        text = text.replace(path, str(place))
    return text


def account(plane: Plane, name: str, folder: Path) -> Path:
    """A kubeconfig of the ServiceAccount."""
    file = folder / "account.kubeconfig"
    token = token_of(plane, name, NAMESPACE)
    file.write_text(kubeconfig_text(plane.server, plane.server_files, name, token))
    return file


def token_of(plane: Plane, account: str, namespace: str) -> str:
    """A token as the kubelet would ask for it."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token: str = plane.kube.request("POST", path, body)["status"]["token"]
    return token


def a_reader(plane: Plane, place: str) -> str:
    """The token of an account that may read the metrics, as the notes of the chart say."""
    plane.kubectl("create", "serviceaccount", "prometheus", "--namespace", place)
    role = f"--clusterrole={RELEASE}-lws-metrics-reader"
    who = f"--serviceaccount={place}:prometheus"
    plane.kubectl("create", "clusterrolebinding", f"metrics-{place}", role, who)
    return token_of(plane, "prometheus", place)


def is_ready(release: Release) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", release.ports["health"], timeout=2)
    with closing(connection):
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False


def bundles(plane: Plane) -> list[str]:
    return [
        hook["clientConfig"].get("caBundle", "")
        for kind, name in HOOKS
        for hook in plane.kube.get(f"{kind}.admissionregistration.k8s.io", name)["webhooks"]
    ]


def reach_webhooks(plane: Plane, release: Release) -> None:
    """No kube-proxy is here: the Service leads to this machine, at the manager's own port.

    Names, CA and certificate are those of the release and of the manager.
    """
    external = {"type": "ExternalName", "externalName": "localhost"}
    plane.kube.patch("services", "lws-webhook-service", {"spec": external}, NAMESPACE)
    for kind, name in HOOKS:
        plural = f"{kind}.admissionregistration.k8s.io"
        hooks = plane.kube.get(plural, name)["webhooks"]
        for hook in hooks:
            hook["clientConfig"]["service"]["port"] = release.ports["service"]
        plane.kube.patch(plural, name, {"webhooks": hooks})


def put_up(plane: Plane, place: str) -> None:
    """A LeaderWorkerSet and a DisaggregatedSet, until both are available."""
    lws = leader_worker_set("up", replicas=1)
    roles = [role("prefill", 1), role("decode", 1)]
    ds = {
        "apiVersion": API_VERSION,
        "kind": "DisaggregatedSet",
        "metadata": {"name": "roles"},
        "spec": {"roles": roles},
    }
    eventually(lambda: plane.kube.create(lws, place), timeout=30, what="admission")
    plane.kube.create(ds, place)
    for kind, name in SETS:
        check = partial(is_available, plane, place, kind, name)
        eventually(check, timeout=60, what=f"{name} is up")


def is_available(plane: Plane, place: str, kind: str, name: str) -> bool:
    found = plane.kube.get(kind, name, place).get("status", {}).get("conditions", [])
    return any(one["type"] == "Available" and one["status"] == "True" for one in found)


def scraped(plane: Plane, release: Release, token: str) -> str:
    """The answer to one with that token; the certificate is checked as the ServiceMonitor says."""
    secret = plane.kube.get("secrets", "lws-webhook-server-cert", NAMESPACE)["data"]
    context = ssl.create_default_context(cadata=b64decode(secret["ca.crt"]).decode())
    name = f"lws-webhook-service.{NAMESPACE}.svc"
    request = f"GET /metrics HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    plain = socket.create_connection(("127.0.0.1", release.ports["metrics"]), timeout=10)
    with closing(context.wrap_socket(plain, server_hostname=name)) as secure:
        secure.sendall(request.encode())
        return b"".join(iter(lambda: secure.recv(65536), b"")).decode()


def types_of(answer: str) -> set[str]:
    return {line.split()[2] for line in answer.splitlines() if line.startswith("# TYPE ")}


def families() -> set[str]:
    """Names that the registry of the unit tests says are exported."""
    endings = ("_bucket", "_sum", "_count", "_created")
    return {name for name in exported() if not name.endswith(endings)} - {
        name.removesuffix("_total") for name in exported() if name.endswith("_total")
    }
