"""What can be wrong with a comparison that somebody asks for."""

from workers.delivery.errors import TouchstoneError


class UnknownRun(TouchstoneError):
    """No answer of that run is there; the message names the runs there are."""
