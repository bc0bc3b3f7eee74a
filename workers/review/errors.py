"""What a reviewer can run into."""

from datetime import datetime

from workers.delivery.errors import TouchstoneError


class ReviewConflict(TouchstoneError):
    """Somebody else was faster.

    Args:
        message: what is in the way and what to do.
        who: who it was.
        when: since when, or until when a lock holds.
    """

    def __init__(self, message: str, who: str, when: datetime | None) -> None:
        super().__init__(message)
        self.who = who
        self.when = when


class LockedByAnother(ReviewConflict):
    """Another reviewer has the request."""


class AlreadyDecided(ReviewConflict):
    """The request has its decision."""


class RequestChanged(ReviewConflict):
    """The request is not what the reviewer has seen: a more complete result has replaced it."""


class TooLate(ReviewConflict):
    """There is nothing to take back any more."""


class UnknownReview(TouchstoneError):
    """Nobody has asked for such a review, or not for this reviewer's eyes."""


class InvalidDecision(TouchstoneError):
    """The decision does not fit its request.

    Args:
        field: which part of it.
        message: what is wrong and what to do.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
