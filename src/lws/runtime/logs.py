"""Log lines: JSON in a cluster, readable in a terminal; ours and those of the libraries."""

import asyncio
import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import Processor

from lws.base.clock import Clock
from lws.base.errors import InvalidInput
from lws.base.times import format_micro_time

LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "error": logging.ERROR,
    "panic": logging.CRITICAL,
}
QUIET_LIBRARIES = ("aiohttp.access", "asyncio")  # at debug they speak of every request and socket

log = structlog.get_logger(__name__)


def level_of(text: str, *, option: str = "--zap-log-level") -> int:
    """The level that `option` names; a number above 0 asks for more than info."""
    word = text.strip().lower()
    if word in LEVELS:
        return LEVELS[word]
    if word.isdecimal() and word.isascii():
        return logging.DEBUG if int(word) > 0 else logging.INFO
    names = ", ".join(LEVELS)
    raise InvalidInput(field=option, message=f"{text!r} is none of {names}, or a number")


def configure_logs(
    *,
    clock: Clock,
    level: str = "info",
    as_json: bool | None = None,
    stream: TextIO | None = None,
) -> None:
    """Send everything that logs to one stream, stderr unless given; JSON unless it is a terminal.

    Call it again to change the level.
    """
    number = level_of(level)
    out = stream or sys.stderr
    json_lines = not out.isatty() if as_json is None else as_json
    shared = _shared_processors(clock)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,  # loggers of modules exist before this is called
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=_last_processors(json_lines, out)
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    logging.captureWarnings(True)


def log_loop_exceptions(loop: asyncio.AbstractEventLoop) -> None:
    """Errors that asyncio found nobody to tell of become lines like all others."""
    loop.set_exception_handler(_on_loop_exception)


def _on_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    del loop
    fields = {
        name: repr(value) for name, value in context.items() if name not in ("message", "exception")
    }
    error = context.get("exception")
    log.error("error outside any task", problem=context.get("message"), exc_info=error, **fields)


def _shared_processors(clock: Clock) -> list[Processor]:
    def add_time(
        logger: object, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        del logger, method
        event["ts"] = format_micro_time(clock.now())
        return event

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        add_time,
    ]


def _last_processors(json_lines: bool, out: TextIO) -> list[Processor]:
    clean = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if not json_lines:
        colours = out.isatty()
        return [clean, structlog.dev.ConsoleRenderer(colors=colours, timestamp_key="ts")]
    return [
        clean,
        structlog.processors.format_exc_info,
        structlog.processors.EventRenamer("msg"),
        structlog.processors.JSONRenderer(serializer=_to_json),
    ]


def _to_json(event: Any, **_: Any) -> str:
    """One line, whatever is in it: a value that is no JSON is written as its text."""
    options = orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(event, default=str, option=options).decode()
    except TypeError:  # a lone surrogate, an integer beyond 64 bits
        return orjson.dumps({key: ascii(value) for key, value in event.items()}).decode()
