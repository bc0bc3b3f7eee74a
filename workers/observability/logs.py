"""Configure structured logs: identifiers and figures, never the text of an answer.

The text of an exception may quote a record (``invalid literal for int(): '…'``). Tracebacks are therefore written
without it, except for Touchstone's own errors, whose texts contain no payload. Libraries log from the level warning,
and a repeated event of theirs once a minute.
"""

import logging
import sys
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, cast

import structlog

from schemas.base import UnreadableEvent
from workers.errors import TouchstoneError
from workers.observability.printable import printable
from workers.observability.repetitions import RepetitionFilter

LogFormat = Literal["json", "console"]

OWN_LOGGERS = ("workers", "schemas")
"""Loggers of Touchstone, which use the configured level; loggers of libraries write warnings and errors only."""

PAYLOAD_LOGGERS = ("faust.agents.agent", "faust.topics", "faust.streams", "faust.transport.conductor")
"""Loggers of Faust that print messages with their values after an error."""


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a structured logger."""
    return cast(structlog.stdlib.BoundLogger, structlog.get_logger(name))


def configure_logs(level: str = "INFO", form: LogFormat = "console", process: str = "") -> None:
    """Set up logging for the process, to standard error.

    Args:
        level: minimum level of Touchstone's own logs.
        form: ``json`` for machines, ``console`` for people.
        process: name of the process, added to each line; empty for the only or first process of a command.
    """
    named = [_Named(process)] if process else []
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        *named,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_traceback),
        _printable_values,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=30)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_only_ours_below_warning)
    handler.addFilter(_without_payload)
    handler.addFilter(RepetitionFilter())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
    for name in PAYLOAD_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


class _Named:
    """Add the name of the process to an event.

    Args:
        process: the name.
    """

    def __init__(self, process: str) -> None:
        self._process = process

    def __call__(self, _: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["process"] = self._process
        return event


def _printable_values(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape control characters in all values: names come from gateways, and a log is read in terminals."""
    private = {name: value for name, value in event.items() if name.startswith("_")}  # structlog's own
    shown = {name: _printable(value, "\n\t" if name == "exception" else "") for name, value in event.items()}
    return shown | private


def _printable(value: Any, keep: str = "") -> Any:
    if isinstance(value, str):
        return printable(value, keep)
    if isinstance(value, Mapping):
        return {_printable(name): _printable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_printable(inner) for inner in value]
    return value


def safe_text(error: BaseException) -> str:
    """Return an exception's class, and its text if the text cannot contain a payload."""
    name = type(error).__qualname__
    if isinstance(error, TouchstoneError | UnreadableEvent):
        with suppress(Exception):  # a plug-in may raise one whose text cannot be made
            return f"{name}: {error}"
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: {error.strerror}"
    return name


def _traceback(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    return "".join(_traceback_lines(exc_info[1], seen=set())).rstrip("\n")


def _traceback_lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _traceback_lines(before, seen)
        yield "which led to:\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield printable(safe_text(error), "") + "\n"  # its lines would look like lines of the log
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            if id(inner) not in seen:
                yield "which holds:\n"
                yield from _traceback_lines(inner, seen)


def _only_ours_below_warning(record: logging.LogRecord) -> bool:
    """Return whether a record is a warning or ours: Faust's base classes log under the names of our modules, too."""
    return record.levelno >= logging.WARNING or isinstance(record.msg, dict)


def _without_payload(record: logging.LogRecord) -> bool:
    """Return a library's message without the exceptions and bytes that it prints."""
    if isinstance(record.args, tuple):
        record.args = tuple(_safe_argument(argument) for argument in record.args)
    if record.name == "asyncio" and isinstance(record.msg, str):
        # Further lines print the failed task with the exception's text.
        record.msg = record.msg.partition("\n")[0]
    return True


def _safe_argument(argument: object) -> object:
    if isinstance(argument, BaseException):
        return safe_text(argument)
    if isinstance(argument, bytes | bytearray):
        return f"{len(argument)} bytes"
    return argument
