"""The configuration file and the flags: what holds, and each field wrong once (manager.md)."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from lws.base.errors import InvalidInput
from lws.cli import main
from lws.manager.configuration import Configuration, defaults, read, read_file, split_address
from lws.manager.durations import parse_duration
from lws.manager.settings import Settings, settings_of

HEADER = "apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\n"


def test_the_defaults_are_those_of_the_page() -> None:
    found = read(HEADER)
    assert found == defaults()
    assert (found.webhook.port, found.webhook.host) == (9443, "")
    assert found.webhook.cert_dir == "/tmp/k8s-webhook-server/serving-certs"
    election = found.leader_election
    assert (election.leader_elect, election.resource_name) == (True, "b8b2488c.x-k8s.io")
    assert election.resource_namespace == ""
    durations = (election.lease_duration, election.renew_deadline, election.retry_period)
    assert durations == ("15s", "10s", "2s")
    assert found.metrics.bind_address == ":8443"
    assert found.health.health_probe_bind_address == ":8081"
    assert found.health.readiness_endpoint_name == "/readyz"
    assert found.health.liveness_endpoint_name == "/healthz"
    certificates = found.internal_cert_management
    assert certificates.enable is True
    assert certificates.webhook_service_name == "lws-webhook-service"
    assert certificates.webhook_secret_name == "lws-webhook-server-cert"
    assert found.gang_scheduling_management.scheduler_provider is None
    assert (found.client_connection.qps, found.client_connection.burst) == (500, 500)
    assert (found.tls.min_version, found.tls.cipher_suites) == ("", ())


def test_a_field_that_is_null_is_not_set() -> None:
    assert read(HEADER + "webhook: null\nmetrics: {bindAddress: null}\n") == defaults()


WRONG = [
    ("webhook: {port: 70000}", "webhook.port"),
    ("webhook: {port: '9443'}", "webhook.port"),
    ("webhook: {host: 5}", "webhook.host"),
    ("webhook: {certDir: ''}", "webhook.certDir"),
    ("webhook: {certName: a}", "webhook.certName"),
    ("webhook: 5", "webhook"),
    ("leaderElection: {leaderElect: 'yes please'}", "leaderElection.leaderElect"),
    ("leaderElection: {resourceName: ''}", "leaderElection.resourceName"),
    ("leaderElection: {resourceNamespace: 1}", "leaderElection.resourceNamespace"),
    ("leaderElection: {resourceLock: configmaps}", "leaderElection.resourceLock"),
    ("leaderElection: {leaseDuration: 15}", "leaderElection.leaseDuration"),
    ("leaderElection: {leaseDuration: soon}", "leaderElection.leaseDuration"),
    ("leaderElection: {leaseDuration: 5s}", "leaderElection.leaseDuration"),
    ("leaderElection: {leaseDuration: 1000000h}", "leaderElection.leaseDuration"),
    ("leaderElection: {retryPeriod: 9s}", "leaderElection.renewDeadline"),
    ("leaderElection: {renewDeadline: -10s}", "leaderElection.renewDeadline"),
    ("leaderElection: {retryPeriod: 2 s}", "leaderElection.retryPeriod"),
    ("leaderElection: {retryPeriod: '0'}", "leaderElection"),
    ("metrics: {bindAddress: '8443'}", "metrics.bindAddress"),
    ("metrics: {bindAddress: ':99999'}", "metrics.bindAddress"),
    ("metrics: {address: ':1'}", "metrics.address"),
    ("health: {healthProbeBindAddress: here}", "health.healthProbeBindAddress"),
    ("health: {readinessEndpointName: 1}", "health.readinessEndpointName"),
    ("health: {readinessEndpointName: readyz}", "health.readinessEndpointName"),
    ("health: {livenessEndpointName: ''}", "health.livenessEndpointName"),
    ("health: {livenessEndpointName: [a]}", "health.livenessEndpointName"),
    ("internalCertManagement: {enable: 1}", "internalCertManagement.enable"),
    (
        "internalCertManagement: {webhookServiceName: 1}",
        "internalCertManagement.webhookServiceName",
    ),
    ("internalCertManagement: {webhookSecretName: ''}", "internalCertManagement.webhookSecretName"),
    (
        "gangSchedulingManagement: {schedulerProvider: 7}",
        "gangSchedulingManagement.schedulerProvider",
    ),
    ("clientConnection: {qps: 0}", "clientConnection.qps"),
    ("clientConnection: {qps: .nan}", "clientConnection.qps"),
    ("clientConnection: {burst: 1.5}", "clientConnection.burst"),
    ("clientConnection: {burst: 0}", "clientConnection.burst"),
    ("tls: {minVersion: '1.2'}", "tls.minVersion"),
    ("tls: {cipherSuites: ECDHE}", "tls.cipherSuites"),
    ("tls: {cipherSuites: [ROT13]}", "tls.cipherSuites"),
    (
        "tls: {minVersion: VersionTLS13, cipherSuites: [TLS_RSA_WITH_AES_128_GCM_SHA256]}",
        "tls.cipherSuites",
    ),
    ("webhook: {host: 'not a host'}", "webhook.host"),
    ("webhook: {port: -1}", "webhook.port"),
    ('webhook: {certDir: "a\\0b"}', "webhook.certDir"),
    ("leaderElection: {leaderElect: 1}", "leaderElection.leaderElect"),
    ("leaderElection: {renewDeadline: 15s}", "leaderElection.leaseDuration"),
    ("leaderElection: {retryPeriod: 10s}", "leaderElection.leaseDuration"),
    ("leaderElection: {resourceLock: 1}", "leaderElection.resourceLock"),
    ("leaderElection: {resourceName: Not-A-Name}", "leaderElection.resourceName"),
    ("leaderElection: {resourceNamespace: a.b}", "leaderElection.resourceNamespace"),
    ("metrics: {bindAddress: ':8081'}", "health.healthProbeBindAddress"),
    ("metrics: {bindAddress: ':9443'}", "metrics.bindAddress"),
    ("metrics: {bindAddress: 'a b:80'}", "metrics.bindAddress"),
    ("health: {readinessEndpointName: /healthz}", "health.livenessEndpointName"),
    (
        "internalCertManagement: {webhookServiceName: 1a}",
        "internalCertManagement.webhookServiceName",
    ),
    (
        "internalCertManagement: {webhookSecretName: a_b}",
        "internalCertManagement.webhookSecretName",
    ),
    (
        "gangSchedulingManagement: {schedulerProvider: nobodys}",
        "gangSchedulingManagement.schedulerProvider",
    ),
    ("clientConnection: {qps: 1e999}", "clientConnection.qps"),
    ("tls: {minVersion: 12}", "tls.minVersion"),
    ("surprise: 1", "surprise"),
    ("1: 2", "line 3"),
    ("webhook: !!python/object:os.system {}", "line 3"),
    ("webhook: &a [*a]", "line 3"),
    ("kind: Other\n", "line 3"),
    ("webhook: {port: 1, port: 2}", "line 3"),
    ("a: [", "line"),
    ("? [1, 2]\n: x", "line"),
]


@pytest.mark.parametrize(("text", "field"), WRONG, ids=[text for text, _ in WRONG])
def test_every_wrong_field_is_named(text: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(HEADER + text)
    assert refused.value.field.startswith(field)
    assert refused.value.message
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("text", "field"), WRONG, ids=[text for text, _ in WRONG])
def test_a_wrong_file_is_one_line_on_stderr_and_exit_code_2(
    text: str, field: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEADER + text, encoding="utf-8")
    words = ["run", "--config", str(file), "--kubeconfig", str(tmp_path / "none")]
    done = CliRunner().invoke(main, words)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {field}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert isinstance(done.exception, SystemExit)


def test_every_field_is_wrong_once() -> None:
    sections = msgspec.structs.fields(Configuration)
    every = {
        f"{section.encode_name}.{field.encode_name}"
        for section in sections
        if isinstance(section.type, type) and issubclass(section.type, msgspec.Struct)
        for field in msgspec.structs.fields(section.type)
    }
    wrong_types = {
        text.partition(":")[0] + "." + text.split("{")[-1].partition(":")[0] for text, _ in WRONG
    }
    assert len(every) > 20
    assert every - wrong_types == set()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--leader-elect=perhaps"], "--leader-elect"),
        (["--kube-api-qps=x"], "--kube-api-qps"),
        (["--kube-api-qps=nan"], "--kube-api-qps"),
        (["--kube-api-burst=1.5"], "--kube-api-burst"),
        (["--zap-log-level=loud"], "--zap-log-level"),
        (["--leader-elect-lease-duration=5s"], "leaseDuration 5s must be longer than"),
        (["--leader-elect-renew-deadline=20s"], "--leader-elect-renew-deadline: leaseDuration 15s"),
        (["--leader-elect-resource-name=A B"], "--leader-elect-resource-name"),
        (["--metrics-bind-address=:8081"], "has the port of metrics.bindAddress, 8081"),
        (["--metrics-bind-address=x"], "--metrics-bind-address"),
        (["--health-probe-bind-address=:9443"], "--health-probe-bind-address"),
        (["--surprise=1"], "--surprise"),
        (["--config=none.yaml"], "--config none.yaml"),
    ],
)
def test_a_wrong_flag_is_named_with_exit_code_2(
    words: list[str], named: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(main, ["run", *words, "--kubeconfig", str(tmp_path / "none")])
    assert named in done.stderr.splitlines()[-1]
    assert (done.exit_code, done.stdout) == (2, "")
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "file"),
        ("# nothing", "file"),
        ("- a", "file"),
        ("kind: Configuration", "apiVersion"),
        ("apiVersion: config.lws.x-k8s.io/v1alpha1", "kind"),
        (HEADER.replace("v1alpha1", "v2"), "apiVersion"),
        (HEADER.replace("Configuration", "Other"), "kind"),
    ],
)
def test_what_is_no_configuration_is_told(text: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert refused.value.field == field


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere\.yaml: cannot be read"):
        read_file(tmp_path / "nowhere.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        read_file(binary)


@pytest.mark.parametrize(
    ("address", "split"),
    [
        (":8443", ("", 8443)),
        ("127.0.0.1:1", ("127.0.0.1", 1)),
        ("[::1]:80", ("::1", 80)),
        ("0", None),
        ("", None),
    ],
)
def test_addresses_are_read_as_go_reads_them(address: str, split: tuple[str, int] | None) -> None:
    assert split_address(address) == split


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15s", 15), ("1m30s", 90), ("500ms", 0.5), ("1.5h", 5400), (".5s", 0.5), ("0", 0)],
)
def test_durations_are_read_as_go_reads_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


def settings(*, environ: dict[str, str] | None = None, **given: Any) -> Settings:
    return settings_of(
        config=given.pop("config", None),
        flags={name.replace("_", "-"): value for name, value in given.items()},
        environ=environ or {},
        kubeconfig=None,
        context=None,
        log_level="info",
    )


def test_a_flag_beats_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        HEADER + "leaderElection: {leaseDuration: 20s}\nmetrics: {bindAddress: ':1'}\n",
        encoding="utf-8",
    )
    found = settings(config=str(file), metrics_bind_address="0", kube_api_qps=7.0).configuration
    assert found.metrics.bind_address == "0"
    assert found.leader_election.lease_duration == "20s"
    assert found.client_connection.qps == 7


def test_the_durations_of_the_election_are_judged_together() -> None:
    found = settings(
        leader_elect_lease_duration="6s",
        leader_elect_renew_deadline="4s",
        leader_elect_retry_period="1s",
    ).configuration.leader_election
    assert (found.lease_duration, found.renew_deadline, found.retry_period) == ("6s", "4s", "1s")


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("metrics_bind_address", "here"),
        ("health_probe_bind_address", "8081"),
        ("leader_elect_lease_duration", "1s"),
        ("leader_elect_renew_deadline", "soon"),
        ("leader_elect_retry_period", "1h"),
        ("leader_elect_resource_lock", "endpoints"),
        ("leader_elect_resource_name", ""),
        ("kube_api_qps", 0.0),
        ("kube_api_burst", 0),
    ],
)
def test_every_wrong_flag_is_named(flag: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        settings(**{flag: value})
    assert refused.value.field == "--" + flag.replace("_", "-")


@pytest.mark.parametrize(
    ("text", "webhooks"),
    [("", True), ("true", True), ("1", True), ("false", False), ("False", False), ("0", False)],
)
def test_webhooks_are_switched_by_the_environment(text: str, webhooks: bool) -> None:
    assert settings(environ={"ENABLE_WEBHOOKS": text}).webhooks is webhooks


def test_a_switch_that_is_neither_is_named() -> None:
    with pytest.raises(InvalidInput, match="ENABLE_WEBHOOKS"):
        settings(environ={"ENABLE_WEBHOOKS": "perhaps"})
