"""Which way leads through a proxy."""

import pytest

from lws.client.errors import KubeconfigError
from lws.client.proxies import check_proxy, proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


def test_the_variable_of_the_scheme_counts() -> None:
    environ = {"https_proxy": "http://secure:1", "HTTP_PROXY": "plain:2"}
    assert proxy_for("https://api.example:6443", environ) == "http://secure:1"
    assert proxy_for("http://api.example", environ) == "http://plain:2"
    assert proxy_for("https://api.example", {}) == ""


@pytest.mark.parametrize(
    "server", ["https://localhost:6443", "https://127.0.0.1", "https://[::1]:6443"]
)
def test_loopback_is_never_proxied(server: str) -> None:
    assert proxy_for(server, PROXY) == ""


@pytest.mark.parametrize(
    ("rules", "server", "is_exempt"),
    [
        ("*", "https://api.example", True),
        ("example", "https://api.example", True),
        ("api.example", "https://api.example:6443", True),
        ("API.Example", "https://api.example", True),
        (".example", "https://api.example", True),
        (".api.example", "https://api.example", False),
        ("*.example", "https://api.example", True),
        ("ample", "https://api.example", False),
        ("api.example:6443", "https://api.example:6443", True),
        ("api.example:6443", "https://api.example", False),
        ("api.example:443", "https://api.example", True),
        ("a, ,10.0.0.1", "https://10.0.0.1", True),
        ("10.0.0.1:443", "https://10.0.0.1", True),
        ("10.0.0.0/8", "https://10.1.2.3", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://api.example", False),
        ("no/network", "https://10.1.2.3", False),
        ("fd00::/8", "https://[fd00::1]:6443", True),
        ("fd00::1", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
    ],
)
def test_no_proxy_is_read_as_go_reads_it(rules: str, server: str, is_exempt: bool) -> None:
    found = proxy_for(server, {**PROXY, "NO_PROXY": rules})
    assert found == ("" if is_exempt else "http://proxy:3128")


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://p:1",
        "ftp://p",
        "http://",
        "p:3128",
        "http://p:99999",
        "http://p..q:3128",
        f"http://{'p' * 64}:3128",
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_by_name(proxy: str) -> None:
    with pytest.raises(KubeconfigError, match="f: clusters: is no proxy that can be used"):
        check_proxy(proxy, file="f", field="clusters")


def test_an_exempt_port_is_that_of_the_scheme_where_none_is_given() -> None:
    environ = {"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "api.example:80"}
    assert proxy_for("http://api.example", environ) == ""
