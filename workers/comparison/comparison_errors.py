"""Define the errors of a comparison."""

from workers.errors import TouchstoneError


class UnknownRun(TouchstoneError):
    """A run without answers; the message lists the existing runs."""
