"""Which cluster, and as whom."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from lws.client.connection import CertificateConfig, ConnectionConfig
from lws.client.errors import KubeconfigError
from lws.client.kubeconfig import load_config

V1 = "client.authentication.k8s.io/v1"
PEM = "UEVN"  # base64 of PEM


def document(
    *, cluster: Any = None, user: Any = None, context: Any = None, name: str = "c"
) -> dict[str, Any]:
    """A kubeconfig with one of each."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "current-context": name,
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{name}:6443", **(cluster or {})}}
        ],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **(context or {})}}],
    }


def write(path: Path, content: object) -> str:
    """A file with this content, as YAML unless it is text."""
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    path.write_text(text)
    return str(path)


def load(folder: Path, content: object, **environ: str) -> ConnectionConfig:
    """The connection that one file gives."""
    file = write(folder / "config", content)
    return load_config(kubeconfig=file, context=None, environ=environ)


def test_a_context_names_cluster_user_and_namespace(tmp_path: Path) -> None:
    config = load(tmp_path, document(user={"token": "t"}, context={"namespace": "ns"}))
    assert (config.server, config.namespace) == ("https://c:6443", "ns")
    assert config.authentication.token == "t"
    assert config.source == f"{tmp_path}/config, context c"


def test_what_is_not_said_has_its_default(tmp_path: Path) -> None:
    config = load(tmp_path, document())
    assert config == ConnectionConfig(server="https://c:6443", source=config.source)
    assert config.is_compressed


def test_nulls_are_as_if_not_there(tmp_path: Path) -> None:
    content = document(user={"exec": {"command": "p", "apiVersion": V1, "args": None, "env": None}})
    content["extensions"] = None
    content["users"].append({"name": "d", "user": None})
    config = load(tmp_path, content)
    assert config.authentication.plugin is not None
    assert config.authentication.plugin.args == ()


def test_a_context_without_user_is_anonymous(tmp_path: Path) -> None:
    config = load(tmp_path, document(context={"user": ""}))
    assert config.authentication.token == ""


def test_a_servers_path_is_kept(tmp_path: Path) -> None:
    config = load(tmp_path, document(cluster={"server": "https://h/k8s/clusters/x/"}))
    assert config.server == "https://h/k8s/clusters/x"


def test_the_named_context_goes_before_the_current_one(tmp_path: Path) -> None:
    content = document()
    other = document(name="d")
    for key in ("clusters", "users", "contexts"):
        content[key] += other[key]
    file = write(tmp_path / "config", content)
    config = load_config(kubeconfig=file, context="d", environ={})
    assert config.server == "https://d:6443"


def test_of_several_files_the_first_has_the_last_word(tmp_path: Path) -> None:
    first = write(tmp_path / "first", document(cluster={"tls-server-name": "first"}))
    second = document(cluster={"tls-server-name": "second"})
    second["current-context"] = "d"
    for key, entries in document(name="d").items():
        if isinstance(entries, list):
            second[key] += entries
    write(tmp_path / "second", second)
    paths = f"{first}:{tmp_path / 'not there'}::{tmp_path / 'second'}"
    environ = {"KUBECONFIG": paths}
    config = load_config(kubeconfig=None, context=None, environ=environ)
    assert (config.server, config.tls.server_name) == ("https://c:6443", "first")
    config = load_config(kubeconfig=None, context="d", environ=environ)
    assert config.server == "https://d:6443"


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    user = {
        "client-certificate": "tls.crt",
        "client-key": "/abs/tls.key",
        "tokenFile": "tokens/t",
    }
    content = document(cluster={"certificate-authority": "../ca.crt"}, user=user)
    config = load(tmp_path / "a", content)
    assert config.tls.ca_file == f"{tmp_path}/a/../ca.crt"
    assert config.authentication.token_file == f"{tmp_path}/a/tokens/t"
    assert config.authentication.certificate == CertificateConfig(
        certificate_file=f"{tmp_path}/a/tls.crt", key_file="/abs/tls.key"
    )


def test_data_is_decoded(tmp_path: Path) -> None:
    user = {"client-certificate-data": PEM, "client-key-data": PEM}
    config = load(tmp_path, document(cluster={"certificate-authority-data": "UE\nVN\n"}, user=user))
    assert config.tls.ca_data == b"PEM"
    assert config.authentication.certificate == CertificateConfig(
        certificate_data=b"PEM", key_data=b"PEM"
    )


def test_settings_of_the_connection_are_read(tmp_path: Path) -> None:
    cluster = {
        "insecure-skip-tls-verify": True,
        "proxy-url": "http://proxy:1",
        "disable-compression": True,
    }
    config = load(tmp_path, document(cluster=cluster))
    assert (config.tls.is_insecure, config.is_compressed) == (True, False)
    assert config.proxy_url == "http://proxy:1"


def test_without_a_proxy_url_the_environments_counts(tmp_path: Path) -> None:
    config = load(tmp_path, document(), HTTPS_PROXY="http://proxy:2")
    assert config.proxy_url == "http://proxy:2"


def test_impersonation_becomes_headers(tmp_path: Path) -> None:
    user = {
        "as": "jane",
        "as-uid": "1",
        "as-groups": ["g", "h"],
        "as-user-extra": {"Some/Key": ["x", "y"]},
    }
    config = load(tmp_path, document(user=user))
    assert config.authentication.impersonation == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "1"),
        ("Impersonate-Group", "g"),
        ("Impersonate-Group", "h"),
        ("Impersonate-Extra-some%2Fkey", "x"),
        ("Impersonate-Extra-some%2Fkey", "y"),
    )


def test_a_plugin_is_read_and_told_of_its_cluster(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("PEM")
    plugin = {
        "command": "./bin/plugin",
        "apiVersion": V1,
        "args": ["get"],
        "env": [{"name": "A", "value": "b"}],
        "installHint": "hint",
        "interactiveMode": "IfAvailable",
        "provideClusterInfo": True,
    }
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"certificate-authority": "ca.crt", "extensions": [extension]}
    found = load(tmp_path, document(cluster=cluster, user={"exec": plugin})).authentication.plugin
    assert found is not None
    assert (found.command, found.args) == (f"{tmp_path}/bin/plugin", ("get",))
    assert (found.env, found.install_hint) == ((("A", "b"),), "hint")
    assert orjson.loads(found.cluster_info) == {
        "server": "https://c:6443",
        "certificate-authority-data": PEM,
        "config": {"audience": "x"},
    }


def test_to_act_as_somebody_the_name_is_enough(tmp_path: Path) -> None:
    config = load(tmp_path, document(user={"as": "jane"}))
    assert config.authentication.impersonation == (("Impersonate-User", "jane"),)


def test_a_plugin_is_told_of_a_cluster_without_an_authority(tmp_path: Path) -> None:
    plugin = {"command": "p", "apiVersion": V1, "provideClusterInfo": True}
    found = load(tmp_path, document(user={"exec": plugin})).authentication.plugin
    assert found is not None
    assert orjson.loads(found.cluster_info) == {"server": "https://c:6443"}


def test_a_plugin_without_a_path_is_looked_up(tmp_path: Path) -> None:
    plugin = {"command": "plugin", "apiVersion": V1}
    found = load(tmp_path, document(user={"exec": plugin})).authentication.plugin
    assert found is not None
    assert (found.command, found.cluster_info) == ("plugin", b"")


EXEC = {"command": "p", "apiVersion": V1}

WRONG = [
    ("a: [", r"config:2: is not YAML"),
    ("a: b: c", r"config:1: is not YAML: mapping values are not allowed"),
    ("\x01", r"config: is not YAML"),
    ("- a", r"config: Expected `object`, got `array`"),
    ("just words", r"Expected `object`, got `str`"),
    ("", r"config: current-context: is not set.*there are: none"),
    ("clusters: {}", r"config: clusters: Expected `array`, got `object`"),
    ("users: [{}]", r"config: users\[0\]: Object missing required field `name`"),
    (document(user={"token": 12345}), r"users\[0\]\.user\.token: .*put quotes around it"),
    (
        document(cluster={"insecure-skip-tls-verify": "yes"}),
        r"clusters\[0\]\.cluster\.insecure-skip-tls-verify: Expected `bool`",
    ),
    ({**document(), "current-context": ""}, r"current-context: is not set.*there are: c"),
    ({**document(), "current-context": "d"}, r"contexts: no context 'd'; there are: c"),
    (document(context={"cluster": "x"}), r"contexts\[c\]\.context\.cluster: no cluster 'x'"),
    (document(context={"cluster": ""}), r"contexts\[c\]\.context\.cluster: is empty; there are: c"),
    (document(context={"user": "x"}), r"contexts\[c\]\.context\.user: no user 'x'"),
    (document(cluster={"server": ""}), r"clusters\[c\]\.cluster\.server: is empty"),
    (document(cluster={"server": "host:6443"}), r"server: 'host:6443' is no URL"),
    (document(cluster={"server": "https://h:x"}), r"server: 'https://h:x' is no URL"),
    (document(cluster={"server": "https://[::1"}), r"is no URL"),
    (document(cluster={"server": "https://a..b"}), r"server: 'https://a..b' is no URL"),
    (document(cluster={"server": f"https://{'a' * 64}:6443"}), r"is no URL"),
    (document(cluster={"certificate-authority-data": "?"}), r"-data: is not base64"),
    (
        document(cluster={"insecure-skip-tls-verify": True, "certificate-authority": "a"}),
        r"insecure-skip-tls-verify: contradicts certificate-authority",
    ),
    (document(cluster={"proxy-url": "socks5://p:1"}), r"cluster\.proxy-url: is no proxy"),
    (document(user={"client-key-data": PEM}), r"user\.client-certificate: is missing"),
    (document(user={"client-certificate-data": PEM}), r"user\.client-key: is missing"),
    (document(user={"client-certificate": "a", "client-key-data": "?"}), r"key-data: is not base"),
    (document(user={"token": "t", "username": "u"}), r"user\.username: contradicts token"),
    (document(user={"token": "t", "exec": EXEC}), r"user\.exec: contradicts token"),
    (document(user={"auth-provider": {"name": "gcp"}}), r"auth-provider: gcp is gone.*exec plugin"),
    (document(user={"as-groups": ["g"]}), r"user\.as: is empty"),
    (document(user={"exec": {**EXEC, "command": ""}}), r"exec\.command: is empty"),
    (
        document(user={"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}}),
        r"exec\.apiVersion: 'client.authentication.k8s.io/v1alpha1' is not known; use",
    ),
    (
        document(user={"exec": {**EXEC, "interactiveMode": "Always"}}),
        r"exec\.interactiveMode: 'Always' cannot be had",
    ),
    (
        document(
            cluster={"certificate-authority": "no"},
            user={"exec": {**EXEC, "provideClusterInfo": True}},
        ),
        r"certificate-authority: .*no cannot be read",
    ),
]


@pytest.mark.parametrize(("content", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_named_by_file_and_field(
    tmp_path: Path, content: object, message: str
) -> None:
    with pytest.raises(KubeconfigError, match=message) as e:
        load(tmp_path, content)
    assert e.value.file.startswith(str(tmp_path))


def test_a_message_does_not_quote_a_secret(tmp_path: Path) -> None:
    for text in ("users: [{name: a, user: {token: [secret]}}]", "token: 'secret\nusers: ]"):
        with pytest.raises(KubeconfigError) as e:
            load(tmp_path, text)
        assert "secret" not in str(e.value)


@pytest.mark.parametrize("environ", [{}, {"KUBECONFIG": "/not/there"}])
def test_a_file_that_is_not_there_is_named(environ: dict[str, str]) -> None:
    given = None if environ else "/not/there"
    with pytest.raises(KubeconfigError, match="/not/there: cannot be read: No such file"):
        load_config(kubeconfig=given, context=None, environ=environ)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff\xfe")
    with pytest.raises(KubeconfigError, match="is not UTF-8 text"):
        load_config(kubeconfig=str(tmp_path / "config"), context=None, environ={})


def test_nothing_configured_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match=r"no cluster is configured.*give --kubeconfig"):
        load_config(
            kubeconfig=None,
            context=None,
            environ={"HOME": str(tmp_path)},
            service_account=tmp_path,
        )


def test_the_order_is_flag_variable_pod_home(tmp_path: Path) -> None:
    pod = tmp_path / "pod"
    pod.mkdir()
    for name in ("token", "ca.crt"):
        (pod / name).write_text("x")
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", document(name="home"))
    flag = write(tmp_path / "flag", document(name="flag"))
    environ = {
        "HOME": str(tmp_path),
        "KUBECONFIG": write(tmp_path / "variable", document(name="variable")),
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
    }

    def server(kubeconfig: str | None, context: str | None = None) -> str:
        return load_config(
            kubeconfig=kubeconfig, context=context, environ=environ, service_account=pod
        ).server

    assert server(flag) == "https://flag:6443"
    assert server(None) == "https://variable:6443"
    del environ["KUBECONFIG"]
    assert server(None) == "https://10.0.0.1:443"
    assert server(None, context="home") == "https://home:6443"
    del environ["KUBERNETES_SERVICE_HOST"]
    assert server(None) == "https://home:6443"
