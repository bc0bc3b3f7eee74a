"""How commands speak to people and to machines."""

import json
import sys
from typing import Any, NoReturn

from pydantic import ValidationError
from rich.console import Console

from workers.logs import configure_logs
from workers.settings import Settings, load_settings

console = Console()
errors = Console(stderr=True)


def fail(message: str, code: int = 1) -> NoReturn:
    """Tell what is wrong and leave."""
    errors.print(f"[bold red]error:[/] {message}", markup=True, highlight=False, soft_wrap=True)
    sys.exit(code)


def read_settings(*, quiet: bool = False) -> Settings:
    """The settings, with logging set up; wrong ones are named and end the command with 2.

    Args:
        quiet: log warnings and worse alone, where the command itself talks to people.
    """
    try:
        settings = load_settings()
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        fail("settings are wrong; mend the environment or .env:\n  " + "\n  ".join(lines), code=2)
    configure_logs("WARNING" if quiet else settings.log_level, settings.log_format)
    return settings


def print_json(value: Any) -> None:
    """Print for machines: one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
