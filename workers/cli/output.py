"""Print messages of commands for people and JSON for machines."""

import json
import math
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.markup import escape

from workers.errors import TouchstoneError
from workers.observability.logs import configure_logs
from workers.observability.printable import printable as printable
from workers.observability.printable import printable_json as printable_json
from workers.settings import Settings, UnknownSetting, load_settings

console = Console()
errors = Console(stderr=True)

UNKNOWN = "unknown setting; `touchstone settings` lists all"


def fail(message: str, code: int = 1) -> NoReturn:
    """Print an error and exit."""
    # Messages quote file names and settings, which may contain text that looks like markup.
    errors.print(f"[bold red]error:[/] {escape(printable(message))}", highlight=False, soft_wrap=True)
    sys.exit(code)


def read_settings(*, quiet: bool = False) -> Settings:
    """Return the settings, with logging set up; invalid settings are printed and end the command with exit code 2.

    Args:
        quiet: log only warnings and errors, for commands that print their own output.
    """
    try:
        settings = load_settings()
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in detail['loc'])}: "
            + (UNKNOWN if detail["type"] == "extra_forbidden" else detail["msg"].removeprefix("Value error, "))
            for detail in error.errors(include_url=False, include_input=False)
        ]
        fail("settings are invalid; correct the environment or .env:\n" + "\n  ".join(lines), code=2)
    except (SettingsError, UnknownSetting) as error:
        reason = _no_json(error.__cause__) if isinstance(error.__cause__, json.JSONDecodeError) else str(error)
        fail(f"settings are invalid; correct the environment or .env: {reason}", code=2)
    configure_logs("WARNING" if quiet else settings.log_level, settings.log_format)
    return settings


def _no_json(error: json.JSONDecodeError) -> str:
    """Name the variable whose value the settings could not read; the value may be a secret and is left out."""
    names = ", ".join(sorted(name for name, value in os.environ.items() if value == error.doc)) or "a value in .env"
    return f"""{names} is not JSON, which lists and objects need; for example TOUCHSTONE_EVALUATORS__ENABLED='["brevity"]'"""


def finite(value: float) -> float:
    """Return a number from an option; refuse infinity and NaN, which pass every bound of an option.

    Raises:
        typer.BadParameter: the number is not finite.
    """
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number that can be used; write a finite one")
    return value


def require_writable(*files: Path | None) -> None:
    """Check that files can be written, before the work that fills them.

    Args:
        files: places of the files; ``None`` for a file that is not wanted.

    Raises:
        TouchstoneError: a file cannot be written.
    """
    for file in files:
        try:
            if file is None:
                continue
            there = file.exists()
            if there and not (file.is_file() or file.is_dir()):
                continue  # opening and closing a pipe would end its reader
            file.open("ab").close()
            if not there:
                file.resolve().unlink()  # the file, and not a link to it
        except OSError as error:
            raise TouchstoneError(f"{file} cannot be written: {error.strerror}; choose another place") from error


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=False, default=str)) + "\n")
