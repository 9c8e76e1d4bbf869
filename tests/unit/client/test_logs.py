"""Container logs: bytes to lines, lines to when and what."""

import pytest
from aiohttp import web

from lws.client import errors, requests
from lws.client.kubernetes import KubernetesClient
from lws.client.logs import LogLine, LogSplitter, moment_of, read_line
from tests.unit.client.support import serving, transport_to

REQUEST = requests.pod_log(namespace="n", name="p", container="c", follow=True, tail_lines=3)


def split(*chunks: bytes, line_bytes_max: int = 100) -> list[bytes]:
    splitter = LogSplitter(line_bytes_max)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.rest()


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\n\nc"], [b"ab", b"", b"c"]),
        ([b"", b"\n"], [b""]),
        ([b"x" * 250], [b"x" * 100, b"x" * 100, b"x" * 50]),
        ([], []),
    ],
)
def test_lines_are_put_together_from_chunks(chunks: list[bytes], lines: list[bytes]) -> None:
    assert split(*chunks) == lines


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b"2026-01-02T03:04:05.123456789Z a b", ("2026-01-02T03:04:05.123456789Z", "a b")),
        (b"2026-01-02T03:04:05+02:00 a\r", ("2026-01-02T03:04:05+02:00", "a")),
        (b"2026-01-02T03:04:05Z", ("2026-01-02T03:04:05Z", "")),
        (b"no time", ("", "no time")),
        (b"\xff\xfe", ("", "\ufffd\ufffd")),
        (b"", ("", "")),
    ],
)
def test_a_line_is_its_time_and_its_text(line: bytes, read: tuple[str, str]) -> None:
    assert read_line(line) == LogLine(*read)


def test_times_sort_by_the_moment_whatever_their_zone_and_digits() -> None:
    times = [
        "2026-01-02T03:04:05Z",
        "2026-01-02T05:04:05.2+02:00",
        "2026-01-02T03:04:05.25Z",
        "2026-01-01T23:04:05.3-04:00",
        "2026-01-02T03:04:06.000000001Z",
    ]
    mixed = [times[number] for number in (3, 1, 4, 0, 2)]
    assert sorted(mixed, key=moment_of) == times


async def test_a_log_is_asked_for_with_times_and_read_to_its_unfinished_end() -> None:
    asked = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(request.path_qs)
        return web.Response(body=b"2026-01-02T03:04:05Z one\n2026-01-02T03:04:06Z tw")

    async with (
        serving(handle) as url,
        transport_to(url) as transport,
        KubernetesClient(transport).log_lines(REQUEST) as lines,
    ):
        found = [line.text async for line in lines]
    assert found == ["one", "tw"]
    where, _, query = asked[0].partition("?")
    assert where == "/api/v1/namespaces/n/pods/p/log"
    assert query == "container=c&follow=true&tailLines=3&timestamps=true"


async def test_a_refused_log_is_an_error_of_its_kind() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "Status", "message": "waiting to start"}, status=400)

    async with serving(handle) as url, transport_to(url) as transport:
        with pytest.raises(errors.BadRequest, match="waiting to start"):
            async with KubernetesClient(transport).log_lines(REQUEST):
                pass
