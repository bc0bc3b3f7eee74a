"""``touchstone settings``: the reference of all settings."""

import sys

from workers.settings_reference import settings_reference


def settings() -> None:
    """Print every setting with its default, bounds and meaning, as Markdown.

    Example: touchstone settings > docs/reference/settings.md
    """
    sys.stdout.write(settings_reference())
