"""Lines are JSON in a cluster, readable in a terminal, and from every source alike."""

import asyncio
import io
import logging
import warnings
from collections.abc import Iterator

import orjson
import pytest
import structlog

from lws.base.errors import InvalidInput
from lws.runtime.clock import VirtualClock
from lws.runtime.logs import configure_logs, level_of, log_loop_exceptions


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_its_fields_beside_a_constant_message() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    structlog.get_logger("lws.part").info("group recreated", name="set-0", groups=3)
    assert lines(stream) == [
        {
            "ts": "2023-11-14T22:13:20.000000Z",
            "level": "info",
            "logger": "lws.part",
            "msg": "group recreated",
            "name": "set-0",
            "groups": 3,
        }
    ]


def test_the_libraries_lines_look_the_same() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    logging.getLogger("library").warning("%s is %d", "it", 7)
    (line,) = lines(stream)
    assert (line["msg"], line["level"], line["logger"]) == ("it is 7", "warning", "library")


def test_a_traceback_is_one_field_of_one_line() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    try:
        raise KeyError("lost")
    except KeyError:
        structlog.get_logger("lws").exception("pass failed")
    (line,) = lines(stream)
    assert "KeyError: 'lost'" in str(line["exception"])


def test_what_is_no_json_is_written_as_text() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    structlog.get_logger("lws").info("odd", thing={1: {2}}, huge=1 << 80, broken="\ud800")
    assert len(lines(stream)) == 1


@pytest.mark.parametrize(
    ("level", "shown"),
    [("debug", 3), ("info", 2), ("error", 1), ("0", 2), ("1", 3), ("5", 3), ("INFO", 2)],
)
def test_levels_are_those_of_the_other_controllers_flag(level: str, shown: int) -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), level=level, stream=stream)
    log = structlog.get_logger("lws")
    log.debug("a")
    log.info("b")
    log.error("c")
    assert len(lines(stream)) == shown


def test_an_unknown_level_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="'loud' is none of debug, info, error, panic"):
        level_of("loud")


def test_a_logger_that_was_made_before_follows_the_configuration() -> None:
    log = structlog.get_logger("early")
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    log.bind(a=1).info("x")
    assert lines(stream)[0]["a"] == 1


def test_a_terminal_gets_readable_lines() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    configure_logs(clock=VirtualClock(), stream=stream)
    structlog.get_logger("lws").info("group recreated", name="set-0")
    assert "group recreated" in stream.getvalue()
    assert "{" not in stream.getvalue()


async def test_errors_that_nobody_awaited_become_lines() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    loop = asyncio.get_running_loop()
    log_loop_exceptions(loop)
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    (line,) = lines(stream)
    assert line["level"] == "error"
    assert "ZeroDivisionError" in str(line["exception"])


def test_warnings_become_lines() -> None:
    stream = io.StringIO()
    configure_logs(clock=VirtualClock(), stream=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert "old" in str(lines(stream)[0]["msg"])
