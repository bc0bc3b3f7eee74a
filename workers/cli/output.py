"""Print messages of commands for people and JSON for machines."""

import json
import sys
from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.markup import escape

from workers.observability.logs import configure_logs
from workers.observability.printable import printable as printable
from workers.observability.printable import printable_json as printable_json
from workers.settings import Settings, UnknownSetting, load_settings

console = Console()
errors = Console(stderr=True)


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
            f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg'].removeprefix('Value error, ')}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        fail("settings are invalid; correct the environment or .env:\n" + "\n  ".join(lines), code=2)
    except (SettingsError, UnknownSetting) as error:
        fail(f"settings are invalid; correct the environment or .env: {error}", code=2)
    configure_logs("WARNING" if quiet else settings.log_level, settings.log_format)
    return settings


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=False, default=str)) + "\n")
