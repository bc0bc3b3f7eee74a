"""Provide ``touchstone settings``, which prints the reference of all settings."""

import sys
from typing import Annotated

import typer

from workers.cli.output import print_json
from workers.settings.reference import settings_reference, settings_rows


def settings(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Print every setting with its default, bounds and meaning, as Markdown.

    Examples:
      touchstone settings > docs/reference/settings.md
      touchstone settings --json
    """
    if as_json:
        print_json(settings_rows())
        return
    sys.stdout.write(settings_reference())
