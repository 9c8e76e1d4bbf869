"""The chart, rendered: the same as the kustomize manifests, and each knob does what it says."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import lws
from harness.tools import must
from lws.api.crds import custom_resource_definitions
from lws.manager.configuration import (
    ClientConnection,
    Configuration,
    GangSchedulingManagement,
    LeaderElection,
    Tls,
    read,
)
from lws.manager.gang import configured_gang
from lws.manager.settings import settings_of
from tests.deploy.rendering import (
    CHART,
    CRD,
    DEPLOY,
    KUBERNETES,
    NAMESPACE,
    PUBLIC,
    Item,
    Items,
    by_name,
    configuration_text,
    container,
    helm_template,
    kustomize,
    notes,
    pod,
    template,
)

MANAGER = "lws-controller-manager"
OF_HELM = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "helm.sh/chart",
)


def without_helm(items: Items) -> Items:
    """Without what only a release has, and with names as the base has them."""
    plain = copy.deepcopy(items)
    for item in plain.values():
        _drop(item["metadata"].get("labels"))
        spec = item.get("spec", {})
        _drop(spec.get("selector"))
        if item["kind"] == "Deployment":
            _drop(spec["selector"]["matchLabels"])
            _drop(spec["template"]["metadata"]["labels"])
            del spec["template"]["metadata"]["annotations"]["checksum/config"]
            _drop(*(one["labelSelector"]["matchLabels"] for one in _spread(spec)))
        for selector in (spec.get("podSelector"), spec.get("selector")):
            _drop((selector or {}).get("matchLabels"))
    return plain


def _spread(spec: Item) -> list[Item]:
    found: list[Item] = spec["template"]["spec"].get("topologySpreadConstraints", [])
    return found


def _drop(*labels: Item | None) -> None:
    for each in labels:
        for name in OF_HELM:
            (each or {}).pop(name, None)


def meant(items: Items) -> dict[Any, Any]:
    """Items by what they mean: a configuration file is read, volumes have no order."""
    read_items: dict[Any, Any] = copy.deepcopy(items)
    for volumes in (pod(read_items)["volumes"], container(read_items)["volumeMounts"]):
        volumes.sort(key=lambda one: one["name"])
    key = ("ConfigMap", "lws-manager-config")
    read_items[key] = read(configuration_text(items))
    return {name: item for name, item in read_items.items() if name[0] != "Namespace"}


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("base", []),
        ("overlays/cert-manager", ["enableCertManager=true"]),
        ("overlays/volcano", ["gangSchedulingManagement.schedulerProvider=volcano"]),
        ("overlays/prometheus", ["enablePrometheus=true", "prometheusRule.enabled=true"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_chart_and_kustomize_make_the_same(folder: str, words: list[str]) -> None:
    items = without_helm(template(*(part for word in words for part in ("--set", word))))
    monitor = items.pop(("ServiceMonitor", f"{MANAGER}-metrics-monitor"), None)
    wanted = kustomize(folder)
    theirs = wanted.pop(("ServiceMonitor", MANAGER), None)
    assert meant(items) == meant(without_labels_of_kinds(wanted))
    assert (monitor or {}).get("spec") == (theirs or {}).get("spec")


def without_labels_of_kinds(items: Items) -> Items:
    """Kinds of others that the overlays add have no common label."""
    for item in items.values():
        item["metadata"].setdefault("labels", {})["app.kubernetes.io/name"] = "lws"
    return items


def test_the_plain_manifests_are_the_base() -> None:
    assert by_name((DEPLOY / "manifests.yaml").read_text()) == kustomize("base")


def test_chart_base_and_package_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (lws.__version__, lws.__version__)
    assert container(kustomize("base"))["image"] == f"lws:{lws.__version__}"
    assert container(template())["image"] == f"lws:{lws.__version__}"


def test_a_cluster_that_is_too_old_is_told_so() -> None:
    done = helm_template("--kube-version", "1.26")
    assert "chart requires kubeVersion: >=1.27.0-0" in done.stderr


def test_helm_has_nothing_to_say_against_the_chart() -> None:
    from harness.tools import run_tool

    assert "1 chart(s) linted, 0 chart(s) failed" in must(
        run_tool("helm", "lint", CHART, "--kube-version", KUBERNETES)
    )


# Values


def test_the_schema_knows_each_value_and_each_property_has_a_default() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert set(schema["properties"]) - set(values) == {"global", "enabled", "install"}
    assert set(values) - set(schema["properties"]) == set()


def leaves(values: Any, path: str = "") -> set[str]:
    """Paths of all values that are no mapping with something in it."""
    if not isinstance(values, dict) or not values:
        return {path}
    return {leaf for key, one in values.items() for leaf in leaves(one, f"{path}.{key}")}


def test_every_value_is_read_by_a_template_and_every_value_that_is_read_has_a_default() -> None:
    values = leaves(yaml.safe_load((CHART / "values.yaml").read_text()))
    files = [*(CHART / "templates").rglob("*.*")]
    text = "".join(file.read_text() for file in files)
    used = set(re.findall(r"[.]Values((?:[.]\w+)+)", text))
    assert len(used) > 30
    said_to_say_nothing = {leaf for leaf in values if leaf.startswith(".crdUpgrade.")}
    unread = {leaf for leaf in values if not any(reads(one, leaf) for one in used)}
    assert unread == said_to_say_nothing - {".crdUpgrade.enabled"}
    unknown = {one for one in used if not any(reads(one, leaf) for leaf in values)}
    # Fields within a value whose default is empty or another text.
    assert unknown == {".leaderElection.resourceName"}


def reads(used: str, leaf: str) -> bool:
    """Whether a template that reads one path reads the other, or part of it."""
    return leaf == used or leaf.startswith(used + ".")


def test_sections_of_the_configuration_file_have_the_fields_that_the_manager_reads() -> None:
    properties = json.loads((CHART / "values.schema.json").read_text())["properties"]

    def wanted(section: type[msgspec.Struct]) -> set[str]:
        return {field.encode_name for field in msgspec.structs.fields(section)}

    def known(name: str) -> set[str]:
        return set(properties[name]["properties"])

    assert known("clientConnection") == wanted(ClientConnection)
    assert known("tls") == wanted(Tls)
    assert known("gangSchedulingManagement") == wanted(GangSchedulingManagement)
    not_to_choose = {"resourceLock", "resourceNamespace"}
    assert known("leaderElection") == wanted(LeaderElection) - not_to_choose


MISSPELT = {
    "replicaCuont=3": "replicaCuont",
    "image.manager.tga=v1": "tga",
    "image.repository=lws": "repository",
    "crds.instal=false": "instal",
    "leaderElection.leaseDurations=15s": "leaseDurations",
    "resources.request.cpu=1": "request",
    "metrics.serviceMonitor.interval=1m": "interval",
    "gangSchedulingManagement.provider=volcano": "provider",
    "podDisruptionBudget.maxUnavailable=1": "maxUnavailable",
}
WRONG = {
    "replicaCount=-1": "/replicaCount",
    "service.port=443": "/service/port",
    "service.type=Headless": "/service/type",
    "enableCertManager=yes": "/enableCertManager",
    "image.manager.pullPolicy=Sometimes": "/image/manager/pullPolicy",
    "leaderElection.leaseDuration=15": "/leaderElection/leaseDuration",
    "clientConnection.qps=0": "/clientConnection/qps",
    "tls.minVersion=VersionTLS10": "/tls/minVersion",
    "logLevel=loud": "/logLevel",
    "featureGates=Gate": "/featureGates",
    "nameOverride=My_Name": "/nameOverride",
    "crds.install=1": "/crds/install",
}


def complaints(*knobs: str) -> str:
    """What helm says of values that it does not take, all at once."""
    done = helm_template(*(word for knob in knobs for word in ("--set", knob)))
    assert done.returncode != 0
    return done.stderr


def test_a_misspelt_knob_is_an_error_that_names_it() -> None:
    said = complaints(*MISSPELT)
    wanted = [f"additional properties '{name}' not allowed" for name in MISSPELT.values()]
    assert [one for one in wanted if one not in said] == []


def test_a_wrong_value_is_an_error_that_names_the_knob() -> None:
    said = complaints(*WRONG)
    assert [path for path in WRONG.values() if f"at '{path}'" not in said] == []


@pytest.mark.parametrize(
    ("knob", "named"),
    [
        ("featureGates=WorkloadAwareScheduling=true", "there is no gate WorkloadAwareScheduling"),
        ("featureGates.Some=true", "there is no gate Some"),
        ("health.port=8443", "service.port, metrics.port and health.port"),
        ("tls.minVersion=VersionTLS13,tls.cipherSuites={TLS_A}", "tls.cipherSuites"),
    ],
)
def test_what_a_schema_cannot_say_is_said_by_the_templates(knob: str, named: str) -> None:
    assert named in complaints(knob)


@pytest.mark.parametrize("gates", ["A=false, B=false", {"A": False}])
def test_gates_that_are_off_are_as_none(gates: object, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({"featureGates": gates}))
    assert template("--values", file) == template()


def test_a_values_file_of_the_public_chart_means_the_same_here(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(PUBLIC)
    items = template("--values", file)
    spec, only = pod(items), container(items)
    assert items["Deployment", MANAGER]["spec"]["replicas"] == 1
    assert only["image"] == "example.com/lws/lws:main"
    assert only["imagePullPolicy"] == "Always"
    assert only["resources"] == {"requests": {"cpu": 1, "memory": "1Gi"}}
    assert spec["imagePullSecrets"] == [{"name": "regcred"}]
    assert spec["securityContext"]["fsGroup"] == 2000
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["nodeSelector"] == {"pool": "system"}
    assert spec["tolerations"] == [
        {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert "podAntiAffinity" in spec["affinity"]
    assert spec["priorityClassName"] == "system-cluster-critical"
    annotations = items["Deployment", MANAGER]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["team"] == "serving"
    assert annotations["kubectl.kubernetes.io/default-container"] == "manager"
    assert (
        read(configuration_text(items)).gang_scheduling_management.scheduler_provider == "volcano"
    )
    monitor = items["ServiceMonitor", f"{MANAGER}-metrics-monitor"]
    assert monitor["spec"]["endpoints"][0]["tlsConfig"] == {"insecureSkipVerify": True}
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert ("PodDisruptionBudget", MANAGER) not in items, "one replica could not be drained"


def test_names_are_those_of_the_public_chart() -> None:
    names = [
        ("Deployment", "llm-lws-controller-manager"),
        ("ConfigMap", "llm-lws-manager-config"),
        ("Service", "llm-lws-controller-manager-metrics-service"),
        ("ServiceAccount", "llm-lws-controller-manager"),
        ("ServiceMonitor", "llm-lws-controller-manager-metrics-monitor"),
        ("Service", "lws-webhook-service"),
    ]
    items = template("--set", "enablePrometheus=true", release="llm")
    assert [name for name in names if name not in items] == []
    labels = items["Deployment", "llm-lws-controller-manager"]["spec"]["selector"]["matchLabels"]
    assert labels == {
        "control-plane": "controller-manager",
        "app.kubernetes.io/name": "lws",
        "app.kubernetes.io/instance": "llm",
    }
    assert ("Deployment", "one-controller-manager") in template("--set", "fullnameOverride=one")
    assert ("Deployment", "lws-two-controller-manager") in template("--set", "nameOverride=two")


def test_every_section_of_the_configuration_file_can_be_set(tmp_path: Path) -> None:
    values = {
        "service": {"port": 10443},
        "metrics": {"port": 10444},
        "health": {"port": 10445},
        "leaderElection": {"resourceName": "mine", "leaseDuration": "30s", "renewDeadline": "20s"},
        "clientConnection": {"qps": 50, "burst": 100},
        "tls": {"minVersion": "VersionTLS12"},
        "gangSchedulingManagement": {"schedulerProvider": "coscheduling"},
        "logLevel": 3,
    }
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    items = template("--values", file)
    configuration = read(configuration_text(items))
    assert configuration.webhook.port == 10443
    assert configuration.metrics.bind_address == ":10444"
    assert configuration.health.health_probe_bind_address == ":10445"
    assert configuration.leader_election.lease_duration == "30s"
    assert configuration.leader_election.leader_elect is True
    assert configuration.client_connection.burst == 100
    assert configuration.tls.min_version == "VersionTLS12"
    assert container(items)["args"][-1] == "--zap-log-level=3"
    ports = {one["name"]: one["containerPort"] for one in container(items)["ports"]}
    assert ports == {"webhook": 10443, "metrics": 10444, "health": 10445}
    (lease,) = [
        rule["resourceNames"]
        for rule in items["Role", "lws-manager"]["rules"]
        if rule["resources"] == ["leases"] and "resourceNames" in rule
    ]
    assert lease == ["mine"]


def test_the_rendered_arguments_are_ones_that_the_manager_takes(tmp_path: Path) -> None:
    items = template()
    file = tmp_path / "controller_manager_config.yaml"
    file.write_text(configuration_text(items))
    program, *flags = container(items)["args"]
    assert program == "run"
    assert flags == ["--config=/etc/lws/controller_manager_config.yaml", "--zap-log-level=info"]
    settings = settings_of(
        config=str(file), flags={}, environ={}, kubeconfig=None, context=None, log_level="info"
    )
    assert isinstance(settings.configuration, Configuration)


@pytest.mark.parametrize("provider", ["volcano", "coscheduling"])
def test_a_provider_has_rights_on_its_pod_groups_and_nobody_else_has(provider: str) -> None:
    knob = f"gangSchedulingManagement.schedulerProvider={provider}"
    rules = template("--set", knob)["ClusterRole", "lws-manager"]["rules"]
    gang = configured_gang(provider)
    assert gang is not None
    wanted = {
        "apiGroups": [gang.resource.group],
        "resources": [gang.resource.plural],
        "verbs": ["get", "list", "watch", "create"],
    }
    assert wanted in rules
    assert len(rules) == len(template()["ClusterRole", "lws-manager"]["rules"]) + 1


def test_rights_for_a_third_provider_can_be_added() -> None:
    rule = "rbac.extraRules[0].apiGroups={g},rbac.extraRules[0].resources={podgroups}"
    items = template("--set", rule, "--set", "rbac.extraRules[0].verbs={get,create}")
    assert items["ClusterRole", "lws-manager"]["rules"][-1] == {
        "apiGroups": ["g"],
        "resources": ["podgroups"],
        "verbs": ["get", "create"],
    }


def test_without_disaggregatedsets_their_webhook_and_roles_are_not_made() -> None:
    items = template("--set", "enableDisaggregatedSet=false")
    gone = {name for _, name in template()} - {name for _, name in items}
    assert gone == {"lws-disaggregatedset-editor", "lws-disaggregatedset-viewer"}
    (hook,) = items["ValidatingWebhookConfiguration", "lws-validating-webhook-configuration"][
        "webhooks"
    ]
    assert hook["name"] == "vleaderworkerset.kb.io"


@pytest.mark.parametrize(
    ("knob", "gone"),
    [
        ("podDisruptionBudget.enabled=false", ("PodDisruptionBudget", MANAGER)),
        ("replicaCount=1", ("PodDisruptionBudget", MANAGER)),
        ("networkPolicy.enabled=false", ("NetworkPolicy", MANAGER)),
    ],
)
def test_what_is_turned_off_is_not_made(knob: str, gone: tuple[str, str]) -> None:
    assert template().keys() - template("--set", knob).keys() == {gone}


def test_the_platform_may_choose_the_user() -> None:
    chosen = "podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null"
    context = pod(template("--set", chosen))["securityContext"]
    assert context == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_a_chart_above_this_one_may_say_whether_it_is_wanted_and_pass_globals() -> None:
    assert template("--set", "enabled=true,install=true,global.domain=x") == template()


def test_pods_can_be_spread_otherwise() -> None:
    none = template("--set", "spreadOverNodes=false")
    assert "topologySpreadConstraints" not in pod(none)
    zone = "topologySpreadConstraints[0].topologyKey=zone"
    keys = [one["topologyKey"] for one in pod(template("--set", zone))["topologySpreadConstraints"]]
    assert keys == ["kubernetes.io/hostname", "zone"]


def test_another_configuration_makes_other_pods() -> None:
    def checksum(*words: str) -> str:
        spec = template(*words)["Deployment", MANAGER]["spec"]["template"]
        text: str = spec["metadata"]["annotations"]["checksum/config"]
        return text

    assert checksum() == checksum("--set", "podDisruptionBudget.enabled=false")
    assert checksum() != checksum("--set", "clientConnection.qps=1")


def test_the_dashboard_and_the_rules_are_those_of_monitoring() -> None:
    items = template("--set", "grafanaDashboard.enabled=true,prometheusRule.enabled=true")
    board = items["ConfigMap", "lws-grafana-dashboard"]
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    monitoring = DEPLOY / "monitoring"
    assert json.loads(board["data"]["lws.json"]) == json.loads(
        (monitoring / "dashboard.json").read_text()
    )
    assert items["PrometheusRule", MANAGER]["spec"] == yaml.safe_load(
        (monitoring / "rules.yaml").read_text()
    )


# CRDs


def crds(*words: str) -> dict[str, Item]:
    shown = ("--show-only", "templates/crds/*")
    done = helm_template(*words, *shown, chart=CHART)
    if "could not find template" in done.stderr:
        return {}
    items = by_name(must(done))
    return {name: item for (kind, name), item in items.items() if kind == CRD}


def test_crds_are_those_of_the_api_and_are_kept() -> None:
    rendered = crds()
    for item in rendered.values():
        assert item["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
    assert list(rendered.values()) == sorted(
        custom_resource_definitions(), key=lambda crd: list(rendered).index(crd["metadata"]["name"])
    )


def test_crds_need_not_be_kept_nor_be_part_of_the_release() -> None:
    assert all(
        "annotations" not in one["metadata"] for one in crds("--set", "crds.keep=false").values()
    )
    assert crds("--set", "crds.install=false") == {}


def test_crds_that_are_not_to_be_upgraded_are_installed_only() -> None:
    assert len(crds("--set", "crdUpgrade.enabled=false")) == 3
    assert crds("--set", "crdUpgrade.enabled=false", "--is-upgrade") == {}
    assert len(crds("--is-upgrade")) == 3


# What is said


def test_the_notes_say_how_to_look_and_no_more_than_is_so() -> None:
    said = notes()
    assert f"kubectl -n {NAMESPACE} rollout status deployment/{MANAGER}" in said
    assert "leaves the CRDs" in said
    assert "WARNING" not in said
    assert "metrics-reader" not in said


def test_the_notes_warn_of_another_projects_image() -> None:
    said = notes("--set", "image.manager.repository=example.com/lws/lws")
    assert "WARNING: image.manager.repository is example.com/lws/lws" in said


def test_the_notes_say_what_is_left_to_do_for_prometheus_and_for_crds() -> None:
    said = notes("--set", "enablePrometheus=true,crds.install=false")
    assert "--clusterrole=lws-metrics-reader" in said
    assert "kubectl apply --server-side -f deploy/crds" in said
    assert "leaves the CRDs" not in said
