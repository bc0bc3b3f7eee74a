"""How commands speak to people and to machines."""

import json
import sys
import unicodedata
from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.markup import escape

from workers.logs import configure_logs
from workers.settings import Settings, UnknownSetting, load_settings

console = Console()
errors = Console(stderr=True)

HOSTILE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: control, format (direction marks among them), surrogate, line and paragraph separator."""

JOINERS = "\u200c\u200d"
"""Format characters that Persian, Hindi and emoji are written with."""


def fail(message: str, code: int = 1) -> NoReturn:
    """Tell what is wrong and leave."""
    # Messages quote file names and settings, which may hold anything that looks like markup.
    errors.print(f"[bold red]error:[/] {escape(printable(message))}", highlight=False, soft_wrap=True)
    sys.exit(code)


def printable(text: str, keep: str = "\n\t") -> str:
    """Text of others, without power over the terminal.

    Control characters, direction marks and line separators are shown as escapes: they could
    colour, overwrite or reorder what stands around them, or make some terminals answer.

    Args:
        text: whatever somebody has sent.
        keep: control characters that may stay.
    """
    keep += JOINERS
    return "".join(
        character if character in keep or unicodedata.category(character) not in HOSTILE else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def read_settings(*, quiet: bool = False) -> Settings:
    """The settings, with logging set up; wrong ones are named and end the command with 2.

    Args:
        quiet: log warnings and worse alone, where the command itself talks to people.
    """
    try:
        settings = load_settings()
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg'].removeprefix('Value error, ')}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        fail("settings are wrong; mend the environment or .env:\n  " + "\n  ".join(lines), code=2)
    except (SettingsError, UnknownSetting) as error:
        fail(f"settings are wrong; mend the environment or .env: {error}", code=2)
    configure_logs("WARNING" if quiet else settings.log_level, settings.log_format)
    return settings


def print_json(value: Any) -> None:
    """Print for machines: one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
