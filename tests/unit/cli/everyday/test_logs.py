"""Whose logs are read, in which order their lines come, and what is said of those without one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli import main
from lws.cli.everyday.logs.basket import ROOM, Basket
from lws.cli.everyday.logs.command import Printer
from lws.cli.everyday.logs.following import Cursor, Following
from lws.cli.everyday.logs.reading import Extent, Reading, Told
from lws.cli.everyday.logs.sources import (
    SOURCES_MAX,
    Choice,
    Life,
    Source,
    require_few,
    require_groups,
    seconds_of,
    sources_of,
)
from lws.client import errors
from lws.client.kubernetes import KubernetesClient
from lws.client.logs import LogLine
from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from tests.unit.cli.everyday.objects import container, pod
from tests.unit.client.support import OwnClock, serving, transport_to

RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def a_pod(group: int, worker: int = 0, *, spec: Any = None, **status: Any) -> dict[str, Any]:
    made = pod(group, worker, **status)
    made["spec"] |= spec or {"containers": [{"name": "main"}]}
    return made


def source(
    label: str = "p", *, restarts: int = 0, uid: str = "u", state: str = "running"
) -> Source:
    return Source(label, "team", label, "main", Life(uid, restarts), state, "")


def test_pods_come_group_after_group_and_the_leader_first() -> None:
    pods = [a_pod(10), a_pod(2, 1), a_pod(2, 10), a_pod(2), a_pod(2, 9)]
    labels = [one.label for one in sources_of(pods, Choice())]
    assert labels == ["chat-2", "chat-2-1", "chat-2-9", "chat-2-10", "chat-10"]
    assert [one.pod for one in sources_of(pods, Choice(groups=(10,)))] == ["chat-10"]


def of_role(role: str, group: int, *, revision: str = "r1", slice_: str = "0") -> dict[str, Any]:
    made = a_pod(group)
    made["metadata"]["name"] = f"chat-{slice_}-{revision}-{role}-{group}"
    made["metadata"]["labels"] |= {
        names.DS_ROLE: role,
        names.DS_REVISION: revision,
        names.DS_SLICE: slice_,
    }
    return made


def test_pods_of_a_disaggregatedset_are_called_by_what_tells_them_apart() -> None:
    both = [of_role("prefill", 0), of_role("decode", 1)]
    assert [one.label for one in sources_of(both, Choice())] == ["decode-1", "prefill-0"]
    assert [one.label for one in sources_of(both, Choice(role="prefill"))] == ["prefill-0"]
    rolling = [of_role("decode", 0), of_role("decode", 0, revision="r2")]
    assert [one.label for one in sources_of(rolling, Choice())] == ["decode-0@r1", "decode-0@r2"]
    sliced = [of_role("decode", 0), of_role("decode", 0, slice_="1")]
    assert [one.label for one in sources_of(sliced, Choice())] == ["0/decode-0", "1/decode-0"]


def test_the_container_is_the_one_asked_for_the_default_one_or_the_first() -> None:
    two = a_pod(
        0, spec={"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}]}
    )
    assert sources_of([two], Choice())[0].container == "a"
    assert sources_of([two], Choice(container="i"))[0].container == "i"
    two["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"] = "b"
    assert sources_of([two], Choice())[0].container == "b"
    with pytest.raises(InvalidInput, match="has no container 'x'; it has: a, b, i"):
        sources_of([two], Choice(container="x"))


@pytest.mark.parametrize(
    ("status", "state", "words"),
    [
        ({"containerStatuses": [container(RUNNING)]}, "running", ""),
        (
            {
                "containerStatuses": [
                    container({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})
                ]
            },
            "ended",
            "container main ended with exit code 137 (OOMKilled)",
        ),
        (
            {"containerStatuses": [container({"waiting": {"reason": "ImagePullBackOff"}})]},
            "waiting",
            "running, container main cannot get its image some/image:1",
        ),
        (
            {"message": "0/20 nodes are available: 20 Insufficient nvidia.com/gpu."},
            "waiting",
            "pending, 0/20 nodes have nvidia.com/gpu to spare",
        ),
    ],
)
def test_a_pod_without_a_log_is_told_of_in_plain_words(status: Any, state: str, words: str) -> None:
    (found,) = sources_of([a_pod(0, ready=False, **status)], Choice())
    assert (found.state, found.words) == (state, words)


def test_what_cannot_be_read_is_refused_by_its_flag() -> None:
    with pytest.raises(InvalidInput, match="--group: there is no group 7; there are: 0, 1"):
        require_groups([a_pod(1), a_pod(0)], Choice(groups=(7,)), wanted=2)
    require_groups([a_pod(0)], Choice(groups=(1,)), wanted=2)  # it is going to be
    with pytest.raises(InvalidInput, match="--role: there is no role 'x'; there are: decode"):
        require_groups([of_role("decode", 0)], Choice(role="x"), wanted=None)
    with pytest.raises(InvalidInput, match="choose groups"):
        require_few([source()] * (SOURCES_MAX + 1))


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("5m", 300), ("1h30m", 5400), ("1.5m", 90)]
)
def test_spans_are_read(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "x", "5", "-5m", "0.1s", "5 m"])
def test_what_is_no_span_is_refused(text: str) -> None:
    if text == "5":
        assert seconds_of(text) == 5
        return
    with pytest.raises(InvalidInput, match="--since"):
        seconds_of(text)


class Logs(KubernetesClient):
    """Answers for logs as scripted: by pod, a list of streams; each a list of lines or an error
    that cuts it off. The last one stays open."""

    def __init__(self, **streams: list[list[str | Exception]]) -> None:
        self.streams = {name: list(each) for name, each in streams.items()}
        self.asked: list[Request] = []

    @asynccontextmanager
    async def log_lines(self, request: Request) -> AsyncIterator[AsyncIterator[LogLine]]:
        self.asked.append(request)
        left = self.streams[request.path.split("/")[-2]]
        script: list[str | Exception] = left.pop(0) if left else [errors.NotFound("gone")]
        if script and isinstance(script[0], errors.ApiError):
            raise script[0]
        yield _scripted(script)


async def _scripted(script: list[str | Exception]) -> AsyncIterator[LogLine]:
    for one in script:
        await asyncio.sleep(0)
        if isinstance(one, Exception):
            raise one
        time, _, text = one.partition(" ")
        yield LogLine(f"2026-01-01T00:00:{time}Z" if time != "-" else "", text)


async def read(client: Logs, *sources: Source, **extent: Any) -> tuple[list[str], list[str]]:
    said: list[str] = []
    reading = Reading(
        client, Extent(**extent), lambda label, words: said.append(f"{label}: {words}")
    )
    async with aclosing(reading.lines(sources)) as lines:
        found = [f"{told.source.label} {told.line.text}" async for told in lines]
    assert reading.failures == sum("cannot be read" in words for words in said)
    return found, said


async def test_lines_of_several_logs_are_merged_by_time() -> None:
    client = Logs(a=[["01 one", "04 four", "- more"]], b=[["02 two", "03 three", "05 five"]])
    found, said = await read(client, source("a"), source("b"))
    assert found == ["a one", "b two", "b three", "a four", "a more", "b five"]
    assert said == []


async def test_a_log_that_is_not_there_is_said_and_the_others_are_read() -> None:
    missing = errors.BadRequest('previous terminated container "main" in pod "a" not found')
    client = Logs(a=[[missing]], b=[["01 one"]], c=[[errors.NotFound("no")]])
    found, said = await read(client, *map(source, "abc"), previous=True, tail_lines=5)
    assert found == ["b one"]
    assert said == ["a: container main has not run before in this pod", "c: is gone"]
    assert dict(client.asked[0].query) == {
        "container": "main",
        "previous": "true",
        "tailLines": "5",
        "timestamps": "true",
    }


async def test_a_node_that_is_away_does_not_hide_the_logs_of_the_others() -> None:
    away = errors.Unavailable("dial tcp: lookup node-0: no such host")
    client = Logs(a=[[away]], b=[["01 one", errors.TransportError("reset")]], c=[["02 two"]])
    found, said = await read(client, *map(source, "abc"))
    assert found == ["b one", "c two"]
    assert said == [
        "a: its log cannot be read: dial tcp: lookup node-0: no such host",
        "b: its log cannot be read: reset",
    ]


def test_a_line_is_new_once_also_when_its_second_is_asked_for_again() -> None:
    cursor, lines = Cursor(), [LogLine(f"2026-01-01T00:00:0{t}Z", t) for t in "1223"]
    assert [cursor.is_new(line) for line in lines] == [True] * 4
    cursor.rewind()
    assert cursor.time == "2026-01-01T00:00:03Z"
    again = [lines[2], lines[3], lines[3], LogLine("2026-01-01T00:00:04Z", "4")]
    assert [cursor.is_new(line) for line in again] == [False, False, True, True]


async def follow(
    client: Logs, *looks: list[Source] | Exception | None
) -> tuple[list[str], list[str]]:
    """What is shown and said while the looks find this, one after the other."""
    found = list(looks)
    shown: list[str] = []
    said: list[str] = []

    async def look() -> list[Source] | None:
        one = found.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    following = Following(
        client,
        look,
        extent=Extent(tail_lines=9),
        clock=VirtualClock(),
        tell=lambda label, words: said.append(f"{label}: {words}"),
    )
    await following.run(lambda batch: shown.extend(told.line.text for told in batch))
    assert found == []
    return shown, said


async def test_a_cut_log_is_gone_on_with_where_it_was() -> None:
    cut = errors.TransportError("reset")
    client = Logs(
        p=[["01 a", "02 b", cut], ["02 b", "03 c", errors.SilentStream("")], ["03 c", "04 d"], []]
    )
    shown, said = await follow(
        client,
        *[[source()]] * 8,
        [source(state="ended")],
        [source(state="ended")],
        [source(state="ended")],
        [source(state="ended")],
        None,
    )
    assert shown == ["a", "b", "c", "d"]
    assert said == ["p: its log was cut off; connecting again", "p: is gone"]
    since = [dict(one.query).get("sinceTime") for one in client.asked]
    assert since[:3] == [None, "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z"]
    assert [dict(one.query).get("tailLines") for one in client.asked[:2]] == ["9", None]


async def test_a_restarted_container_is_read_to_its_end_and_then_from_its_beginning() -> None:
    client = Logs(p=[["01 a"], ["01 a", "02 end"], ["03 new"], [], [], []])
    again = source(restarts=1)
    shown, said = await follow(client, [source()], [source()], *[[again]] * 6, None)
    assert sorted(shown) == ["a", "end", "new"]
    assert said[0] == "p: container main was restarted"
    first, *rest = [dict(one.query) for one in client.asked]
    assert "previous" not in first
    assert [one.get("tailLines") for one in rest] == [None] * len(rest)
    assert sum(one.get("previous") == "true" for one in rest) == 1


async def test_over_http_a_connection_that_breaks_in_a_line_loses_and_repeats_nothing() -> None:
    asked: list[dict[str, str]] = []
    is_over = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(dict(request.query))
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"2026-01-01T00:00:02.5Z b\n2026-01-01T00:00:03Z c")
        if len(asked) == 1:
            await asyncio.sleep(0)
            assert request.transport is not None
            request.transport.abort()
        else:
            await answer.write(b"c\n")
            is_over.set()
        return answer

    async def look() -> list[Source] | None:
        return None if is_over.is_set() and len(shown) > 1 else [source()]

    shown: list[str] = []
    said: list[str] = []
    async with serving(handle) as url, transport_to(url) as transport:
        following = Following(
            KubernetesClient(transport),
            look,
            extent=Extent(),
            tell=lambda label, words: said.append(words),
            clock=OwnClock(),
        )
        await following.run(lambda batch: shown.extend(told.line.text for told in batch))
    assert shown == ["b", "cc"]
    assert said == ["its log was cut off; connecting again", "is gone"]
    assert asked[1]["sinceTime"] == "2026-01-01T00:00:02.5Z"


async def test_another_pod_of_the_same_name_is_followed_too() -> None:
    client = Logs(p=[["01 a"], ["05 b"], [], [], []])
    other = source(uid="v")
    shown, said = await follow(client, [source()], *[[other]] * 3, [], None)
    assert shown == ["a", "b"]
    assert said == ["p: is another pod now", "p: is gone"]


async def test_a_server_that_is_away_is_said_once() -> None:
    away = errors.TransportError("refused")
    client = Logs(p=[["01 a"], [], [], [], []])
    shown, said = await follow(client, [source()], away, away, [source()], None)
    assert shown == ["a"]
    assert said == ["lws: refused; trying again", "p: is gone"]


async def test_a_chatty_log_waits_and_the_others_are_heard() -> None:
    basket, chatty, quiet = Basket(), source("chatty"), source("quiet")

    async def pour() -> None:
        for _ in range(10 * ROOM):
            await basket.put(Told(chatty, LogLine("", "x")))

    pouring = asyncio.create_task(pour())
    await asyncio.sleep(0)
    await basket.put(Told(quiet, LogLine("", "y")))
    labels = [told.source.label for told in basket.take()]
    assert (labels.count("chatty"), labels.count("quiet")) == (ROOM, 1)
    for _ in range(9):
        await asyncio.sleep(0)
        assert len(basket.take()) == ROOM
    await pouring


def test_a_line_is_printed_behind_its_label_with_colour_only_if_wanted() -> None:
    told = Told(source("a"), LogLine("2026-01-01T00:00:01Z", "x"))
    plain = Printer(timestamps=True, output="text", colour=False)
    plain.expect(["long"])
    assert plain.text(told) == "a    | 2026-01-01T00:00:01Z x"
    coloured = Printer(timestamps=False, output="text", colour=True)
    assert coloured.text(told) == "\x1b[36ma\x1b[0m | x"
    assert coloured.text(Told(source("b"), told.line)).startswith("\x1b[32mb")
    as_json = Printer(timestamps=False, output="json", colour=False).text(told)
    assert (
        as_json == '{"time": "2026-01-01T00:00:01Z", "pod": "a", "container": "main", "line": "x"}'
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--previous", "--follow"], "--previous is over"),
        (["--since", "soon"], "--since: must be a span"),
        (["--tail", "-1"], "--tail"),
        (["-g", "x"], "--group"),
    ],
)
def test_wrong_words_are_told_before_anybody_is_asked(words: list[str], told: str) -> None:
    done = CliRunner().invoke(main, ["logs", "lws/chat", *words, "--kubeconfig", "none"])
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_leaderworkerset_has_no_roles() -> None:
    done = CliRunner().invoke(main, ["logs", "lws/chat", "--role", "x", "--kubeconfig", "none"])
    assert (done.exit_code, done.stderr) == (
        2,
        "error: --role: a LeaderWorkerSet has no roles; leave it out\n",
    )
