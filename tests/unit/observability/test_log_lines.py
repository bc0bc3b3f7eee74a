"""Log lines hold no control characters, whatever a name contains."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any, get_args

import pytest

from workers.errors import TouchstoneError
from workers.observability.logs import LogFormat, configure_logs, get_logger

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07",
    "\x00",
    "a\nlevel=error forged",
    "\r",
    "\u202egnp.exe",
    "\u2028",
    "\x9b31m",
    "\ud800",
]


def decode(line: str) -> str:
    """All names and values of a line of JSON, as a reader gets them."""
    found: list[str] = []
    waiting: list[Any] = [json.loads(line)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        else:
            found.append(str(value).replace("\n", " "))  # a traceback has lines
    return " ".join(found)


@contextmanager
def logging_to_a_terminal(form: LogFormat) -> Iterator[Callable[[], list[str]]]:
    """The lines that are logged, as a terminal gets them; JSON as its reader decodes it.

    Entered by the test itself, so that no other handler hears of what is logged: a report that quotes half a
    surrogate pair cannot be sent from one test process to another.
    """
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    decoded = decode if form == "json" else str
    try:
        with redirect_stderr(stream):
            configure_logs("INFO", form)
            yield lambda: [decoded(line) for line in stream.getvalue().splitlines()]
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@pytest.mark.parametrize("form", get_args(LogFormat))
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_value_controls_a_terminal_or_forges_a_line(form: LogFormat, hostile: str) -> None:
    with logging_to_a_terminal(form) as lines:
        log = get_logger("workers.test")
        log.warning("answers_accessed", who=hostile, answers=[hostile, "a-1"], of={hostile: (hostile,)})
        logging.getLogger("library").warning("said %s", hostile)
        try:
            raise OSError(2, hostile)
        except OSError:
            log.exception("failed", name=hostile)
        logged = lines()
    for line in logged:
        assert all(character.isprintable() for character in line), ascii(line)
    assert not any(line.startswith("level=error") for line in logged)
    assert "a-1" in logged[0]


class Unspeakable(TouchstoneError):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoText(TouchstoneError):
    def __str__(self) -> str:
        return 7  # type: ignore[return-value]


@pytest.mark.parametrize("form", get_args(LogFormat))
@pytest.mark.parametrize("error", [Unspeakable(), NoText()], ids=lambda error: type(error).__name__)
def test_an_error_whose_text_cannot_be_made_is_logged_by_its_class(form: LogFormat, error: Exception) -> None:
    with logging_to_a_terminal(form) as lines:
        get_logger("workers.test").error("evaluation_failed", exc_info=error)
        logging.getLogger("library").warning("said %s", error)
        logged = lines()
    assert sum(type(error).__name__ in line for line in logged) == 2


@pytest.mark.parametrize("form", get_args(LogFormat))
def test_ordinary_text_stays_as_it_is(form: LogFormat) -> None:
    with logging_to_a_terminal(form) as lines:
        get_logger("workers.test").info(
            "answer_stored", answer_id="Größe-日本-👩\u200d🔬", count=3, share=0.5, none=None
        )
        assert "Größe-日本-👩\u200d🔬" in lines()[0]
