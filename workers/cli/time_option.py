"""Parse times given on the command line."""

import re
from datetime import UTC, datetime, timedelta

import typer

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_time(text: str | None, now: datetime, option: str) -> datetime | None:
    """Parse a time: ISO 8601 (UTC without a zone), or an age such as 2h; ``None`` stays ``None``.

    Raises:
        typer.BadParameter: the text is neither.
    """
    if text is None:
        return None
    try:
        if match := re.fullmatch(r"([0-9]+)([smhdw])", text.strip()):
            return now - timedelta(**{UNITS[match[2]]: int(match[1])})
        time = datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a time; write 2026-11-01T10:00:00Z, 90m, 2h or 7d", param_hint=option
        ) from None
