"""`lws run` as a process: how it starts or refuses to, ends, and serves."""

import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from harness.kube import Json
from harness.operator import Operator
from harness.plane import RESTRICTED, Plane
from harness.ports import release_port, take_port
from harness.rights import HOME_NAMESPACE
from harness.waiting import eventually
from tests.integration.leaderworkerset.manifests import PREFIX, leader_worker_set

_LWS = Path(sys.executable).parent / "lws"
_HEADER = {"apiVersion": "config.lws.x-k8s.io/v1alpha1", "kind": "Configuration"}


@pytest.fixture(scope="module")
def process(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator that serves webhooks and metrics."""
    with Operator(spare_control_plane) as running:
        yield running


# What it refuses to start with


def _run(
    *arguments: str | Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.run(
        [str(_LWS), "run", *map(str, arguments)],
        env={**kept, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _refusal(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """The one line that it says before it ends with exit code 2."""
    done = _run(*arguments, environment=environment)
    assert done.returncode == 2, done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


_WRONG = {
    "an unknown field": ("webhook: {prot: 9443}", "webhook.prot"),
    "a wrong type": ("webhook: {port: high}", "webhook.port"),
    "a key that stands twice": ("webhook: {port: 1, port: 2}", "'port' stands twice"),
    "a duration that is none": (
        "leaderElection: {leaseDuration: 15}",
        "leaderElection.leaseDuration",
    ),
    "a cipher suite that is none": ("tls: {cipherSuites: [ROT13]}", "tls.cipherSuites"),
    "a provider that is none": (
        "gangSchedulingManagement: {schedulerProvider: nobody}",
        "gangSchedulingManagement.schedulerProvider",
    ),
}


@pytest.mark.parametrize(("text", "named"), _WRONG.values(), ids=list(_WRONG))
def test_a_wrong_configuration_is_one_line_that_names_it(
    tmp_path: Path, spare_control_plane: Plane, text: str, named: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(_HEADER) + text, encoding="utf-8")
    environment = {"KUBECONFIG": str(spare_control_plane.operator_kubeconfig)}
    line = _refusal("--config", file, environment=environment)
    assert line.startswith("error: ")
    assert named in line


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
        (["--metrics-bind-address", "everywhere"], "--metrics-bind-address"),
        (["--leader-elect-lease-duration", "1s"], "--leader-elect-lease-duration"),
        (["--leader-elect-resource-lock", "configmaps"], "--leader-elect-resource-lock"),
        (["--kube-api-qps", "0"], "--kube-api-qps"),
        (["--kube-api-burst", "-1"], "--kube-api-burst"),
        (["--zap-log-level", "loud"], "zap-log-level"),
    ],
)
def test_a_wrong_flag_is_one_line_that_names_it(arguments: list[str], named: str) -> None:
    assert named in _refusal(*arguments, environment={"KUBECONFIG": "nowhere"})


def test_a_wrong_switch_of_webhooks_is_one_line_that_names_it() -> None:
    assert "ENABLE_WEBHOOKS" in _refusal(environment={"ENABLE_WEBHOOKS": "perhaps"})


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"KUBECONFIG": "nowhere/config"}, "nowhere/config"),
        ({"HOME": "nowhere"}, "kubeconfig"),
    ],
    ids=["a file that is not there", "nothing said"],
)
def test_without_a_kubeconfig_it_says_where_it_looked(
    environment: dict[str, str], named: str
) -> None:
    assert named in _refusal(environment=environment)


# Start and end


@pytest.fixture
def far(spare_control_plane: Plane, tmp_path: Path) -> Iterator[Path]:
    """A kubeconfig of a server that nobody can reach."""
    port = take_port()
    text = spare_control_plane.operator_kubeconfig.read_text(encoding="utf-8")
    file = tmp_path / "kubeconfig"
    nobody = f"https://127.0.0.1:{port}"
    file.write_text(text.replace(spare_control_plane.server, nobody), encoding="utf-8")
    yield file
    release_port(port)


def test_a_server_that_cannot_be_reached_is_waited_for_alive_and_not_ready(
    spare_control_plane: Plane, far: Path
) -> None:
    operator = Operator(spare_control_plane, kubeconfig=far, webhooks=False)
    operator.start(wait=False)
    try:
        eventually(lambda: operator.probe("/healthz") == 200, what="it is alive")
        time.sleep(3)
        assert operator.probe("/healthz") == 200
        assert operator.probe("/readyz") == 500
        assert operator.stop() == 0
        assert "Traceback" not in operator.log_tail(1000)
    finally:
        operator.close()


def test_it_ends_in_order_on_sigterm_while_it_works(spare_control_plane: Plane) -> None:
    kube = spare_control_plane.kube
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ending"}}
    kube.create(namespace)
    with Operator(spare_control_plane, leader_elect=True) as operator:
        for number in range(8):
            kube.create(leader_worker_set(f"set-{number}", replicas=3), "ending")
        eventually(lambda: kube.items("statefulsets", "ending"), what="it works")
        began = time.monotonic()
        assert operator.stop() == 0
        assert time.monotonic() - began < 25
        lease = kube.get("leases.coordination.k8s.io", "b8b2488c.x-k8s.io", HOME_NAMESPACE)
        assert not lease["spec"].get("holderIdentity"), "the lease is given up"
    kube.delete_all("leaderworkersets.leaderworkerset.x-k8s.io", "ending")
    kube.delete("namespaces", "ending")


# What it serves: webhooks

_BASE = leader_worker_set("refused", replicas=2)


def _with(spec: Json, **metadata: object) -> Json:
    return _BASE | {"metadata": _BASE["metadata"] | metadata, "spec": _BASE["spec"] | spec}


def _budgets(**budgets: object) -> Json:
    return {"rolloutStrategy": {"rollingUpdateConfiguration": budgets}}


def _template(**parts: object) -> Json:
    return {"leaderWorkerTemplate": _BASE["spec"]["leaderWorkerTemplate"] | parts}


_REFUSED: dict[str, tuple[Json, list[str]]] = {
    "no budget": (
        _with(_budgets(maxSurge=0, maxUnavailable=0)),
        ["spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable"],
    ),
    "percent": (
        _with(_budgets(maxSurge="150%")),
        ["spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge"],
    ),
    "subgroup": (
        _with(_template(size=5, subGroupPolicy={"subGroupSize": 3})),
        ["spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"],
    ),
    "topology without subgroups": (
        _with({}, annotations={f"{PREFIX}subgroup-exclusive-topology": "rack"}),
        ["metadata.annotations", "subgroup-exclusive-topology"],
    ),
    "long name": (_with({}, name="x" * 60), ["metadata.name"]),
    "several at once": (
        _with(
            _budgets(maxSurge="x") | _template(size=5, subGroupPolicy={"subGroupSize": 3}),
        ),
        [
            "spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge",
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
        ],
    ),
}


@pytest.mark.parametrize(("manifest", "named"), _REFUSED.values(), ids=list(_REFUSED))
def test_kubectl_apply_is_told_which_fields_are_wrong(
    process: Operator, spare_control_plane: Plane, manifest: Json, named: list[str]
) -> None:
    with pytest.raises(RuntimeError, match="is invalid") as refused:
        spare_control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
    for words in named:
        assert words in str(refused.value)


def test_kubectl_apply_is_told_what_cannot_be_changed(
    process: Operator, spare_control_plane: Plane
) -> None:
    claims = _template(volumeClaimTemplates=[{"metadata": {"name": "a"}, "spec": {}}])
    first = _BASE | {"metadata": {"name": "fixed"}, "spec": _BASE["spec"] | {"replicas": 0}}
    spare_control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(first))
    changed = first | {"spec": first["spec"] | claims}
    with pytest.raises(RuntimeError, match=r"spec\.leaderWorkerTemplate\.volumeClaimTemplates"):
        spare_control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(changed))
    spare_control_plane.kubectl("delete", "lws", "fixed")


def test_a_pod_that_carries_our_label_and_nothing_else_is_told_what_it_lacks(
    process: Operator, spare_control_plane: Plane
) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stray-1", "labels": {f"{PREFIX}name": "nobody"}},
        "spec": {"containers": [{"name": "main", "image": "a:1"}]},
    }
    with pytest.raises(RuntimeError, match=rf"mpod\.kb\.io.*{PREFIX}size"):
        spare_control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    pod["metadata"] = {"name": "other"}
    spare_control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    spare_control_plane.kubectl("delete", "pod", "other", "--force")


# What it serves: metrics


def _metrics(operator: Operator, token: str | None) -> tuple[int, str]:
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(
        "127.0.0.1", operator.metrics_port, context=tls, timeout=10
    )
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _token(kubeconfig: Path) -> str:
    found: str = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))["users"][0]["user"]["token"]
    return found


@pytest.fixture
def reader(spare_control_plane: Plane) -> Iterator[str]:
    """The token of somebody who may read metrics and nothing else."""
    kube = spare_control_plane.kube
    group = "rbac.authorization.k8s.io"
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "metrics-reader"},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "metrics-reader"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "metrics-reader"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": RESTRICTED}],
    }
    kube.apply(role)
    kube.apply(binding)
    yield _token(spare_control_plane.restricted_kubeconfig)
    kube.delete(f"clusterrolebindings.{group}", "metrics-reader")
    kube.delete(f"clusterroles.{group}", "metrics-reader")


def test_metrics_are_for_those_who_may_read_them(
    process: Operator, spare_control_plane: Plane
) -> None:
    assert _metrics(process, None)[0] == 401
    assert _metrics(process, "made-up")[0] in (401, 403)
    assert _metrics(process, _token(spare_control_plane.restricted_kubeconfig))[0] == 403
    assert _metrics(process, _token(spare_control_plane.admin_kubeconfig))[0] == 200


_NAMES = (
    "controller_runtime_reconcile_total",
    "controller_runtime_reconcile_errors_total",
    "controller_runtime_reconcile_time_seconds",
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_queue_duration_seconds",
    "workqueue_retries_total",
    "rest_client_requests_total",
    "leader_election_master_status",
)


def test_metrics_have_the_names_that_dashboards_use(
    process: Operator, spare_control_plane: Plane, reader: str
) -> None:
    kube = spare_control_plane.kube
    kube.create(leader_worker_set("counted", replicas=1), "default")
    eventually(lambda: kube.find("pods", "counted-0-1", "default"), what="it worked")

    def read() -> str:
        status, text = _metrics(process, reader)
        assert status == 200
        return text

    text = eventually(read, what="rights reach the server in a moment", timeout=10)
    names = {match[1] for match in re.finditer(r"^# TYPE (\S+)", text, re.MULTILINE)}
    missing = [name for name in _NAMES if name not in names]
    assert missing in ([], ["leader_election_master_status"]), missing
    for controller in ("leaderworkerset",):
        found = re.search(
            rf'^controller_runtime_reconcile_total\{{controller="{controller}",result="success"\}} '
            r"([\d.]+)",
            text,
            re.MULTILINE,
        )
        assert found is not None
        assert float(found[1]) > 0
    kube.delete("leaderworkersets.leaderworkerset.x-k8s.io", "counted", "default")


def test_metrics_tell_who_leads(spare_control_plane: Plane) -> None:
    with Operator(spare_control_plane, webhooks=False, leader_elect=True) as operator:
        token = _token(spare_control_plane.admin_kubeconfig)
        wanted = 'leader_election_master_status{name="b8b2488c.x-k8s.io"} 1.0'
        eventually(lambda: wanted in _metrics(operator, token)[1], what="it leads")
