"""Structured logs: identifiers and figures, never the text of an answer."""

import logging
import sys
from typing import Any, Literal, cast

import structlog

LogFormat = Literal["json", "console"]

QUIET_LOGGERS = ("faust", "mode", "aiokafka", "kafka", "urllib3", "sentence_transformers", "lance", "lancedb")
"""Libraries whose logs below warning are noise; Faust's below warning may hold payloads."""

PAYLOAD_LOGGERS = ("faust.agents.agent", "faust.topics", "faust.streams", "faust.transport.conductor")
"""Loggers of Faust that print messages with their values when something fails."""


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A structured logger."""
    return cast(structlog.stdlib.BoundLogger, structlog.get_logger(name))


def configure_logs(level: str = "INFO", form: LogFormat = "console") -> None:
    """Set up logging for the process, to standard error.

    Args:
        level: least level of our own logs.
        form: ``json`` for machines, ``console`` for people.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
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
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in PAYLOAD_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
