"""Lines of a stream, and what stands in them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lws.client import errors
from lws.client.watch import EventType, LineSplitter, decode_event, error_of_event


@given(
    st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and line.strip())),
    st.lists(st.integers(min_value=1, max_value=30), min_size=1),
)
def test_lines_are_the_same_however_the_stream_is_cut(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter, found, position, turn = LineSplitter(), [], 0, 0
    while position < len(stream):
        size = cuts[turn % len(cuts)]
        found += splitter.feed(stream[position : position + size])
        position, turn = position + size, turn + 1
    assert found == lines
    assert splitter.pending_bytes == 0


def test_blank_lines_are_left_out() -> None:
    assert LineSplitter().feed(b"\n\r\na\n\n") == [b"a"]


def test_a_line_without_its_end_is_pending() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.pending_bytes == 4


def test_a_line_of_several_mib_comes_out_whole() -> None:
    splitter, line = LineSplitter(), b"x" * (5 << 20)
    stream = line + b"\n"
    found = [
        one
        for start in range(0, len(stream), 4096)
        for one in splitter.feed(stream[start : start + 4096])
    ]
    assert found == [line]


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    splitter = LineSplitter(line_bytes_max=100)
    with pytest.raises(errors.MalformedAnswer, match="more than 100 bytes"):
        splitter.feed(b"x" * 101)


def test_an_event_keeps_its_object_undecoded() -> None:
    event = decode_event(b'{"type":"ADDED","object":{"kind":"Pod", "n": 1}}')
    assert event.type is EventType.ADDED
    assert bytes(event.object_bytes) == b'{"kind":"Pod", "n": 1}'
    assert msgspec.json.decode(event.object_bytes)["n"] == 1


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b'{"type":"ADDED"}', b'{"type":"NEWS","object":{}}', b'"\xff"', b"null"],
)
def test_a_line_that_is_no_event_is_malformed(line: bytes) -> None:
    with pytest.raises(errors.MalformedAnswer, match="not a watch event"):
        decode_event(line)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (b'{"kind":"Status","code":410,"reason":"Expired"}', errors.Expired),
        (b'{"kind":"Status","code":410,"reason":"Gone"}', errors.Expired),
        (b'{"kind":"Status","reason":"Expired"}', errors.Expired),
        (b'{"kind":"Status","code":429,"reason":"TooManyRequests"}', errors.TooManyRequests),
        (b'{"kind":"Status","code":500,"reason":"InternalError"}', errors.Unavailable),
        (b'{"kind":"Status"}', errors.Unavailable),
        (b'{"kind":"Pod"}', errors.Unavailable),
    ],
)
def test_an_error_event_is_the_error_that_an_answer_would_be(
    status: bytes, expected: type[errors.ApiError]
) -> None:
    event = decode_event(b'{"type":"ERROR","object":' + status + b"}")
    assert type(error_of_event(event)) is expected


def test_an_error_event_may_say_when_to_come_back() -> None:
    event = decode_event(
        b'{"type":"ERROR","object":{"kind":"Status","code":429,"details":{"retryAfterSeconds":3}}}'
    )
    assert error_of_event(event).retry_after == 3
