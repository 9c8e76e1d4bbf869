"""The connection of a pod."""

from pathlib import Path

import pytest

from lws.client.errors import KubeconfigError
from lws.client.incluster import in_cluster_config, is_in_cluster

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """A service account's folder."""
    for name, content in (("token", "t"), ("ca.crt", "PEM"), ("namespace", "ns\n")):
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_pod_finds_server_files_and_namespace(account: Path) -> None:
    config = in_cluster_config(ENVIRON, account)
    assert (config.server, config.namespace) == ("https://10.0.0.1:443", "ns")
    assert config.authentication.token_file == str(account / "token")
    assert config.tls.ca_file == str(account / "ca.crt")


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_an_ipv6_address_is_bracketed(account: Path, host: str) -> None:
    config = in_cluster_config({**ENVIRON, "KUBERNETES_SERVICE_HOST": host}, account)
    assert config.server == "https://[fd00::1]:443"


def test_a_pod_without_a_namespace_file_is_in_default(account: Path) -> None:
    (account / "namespace").unlink()
    assert in_cluster_config(ENVIRON, account).namespace == "default"


@pytest.mark.parametrize("name", ["token", "ca.crt"])
def test_a_missing_file_is_named_with_what_to_do(account: Path, name: str) -> None:
    (account / name).unlink()
    with pytest.raises(KubeconfigError, match=f"{name}: is not there; set automount"):
        in_cluster_config(ENVIRON, account)


def test_a_pod_is_known_by_its_variables_and_its_token(account: Path) -> None:
    assert is_in_cluster(ENVIRON, account)
    assert not is_in_cluster({}, account)
    assert not is_in_cluster({"KUBERNETES_SERVICE_HOST": "h"}, account)
    (account / "token").unlink()
    assert not is_in_cluster(ENVIRON, account)
