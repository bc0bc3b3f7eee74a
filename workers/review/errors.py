"""What a reviewer can run into."""

from datetime import datetime
from typing import ClassVar, Literal

from workers.delivery.errors import TouchstoneError


class ReviewConflict(TouchstoneError):
    """Somebody else was faster.

    Args:
        message: what is in the way and what to do.
        who: who it was.
        when: since when, or until when a lock holds.

    Attributes:
        kind: what is in the way, for programs.
    """

    kind: ClassVar[Literal["locked", "decided", "changed", "too_late"]]

    def __init__(self, message: str, who: str, when: datetime | None) -> None:
        super().__init__(message)
        self.who = who
        self.when = when


class LockedByAnother(ReviewConflict):
    """Another reviewer has the request."""

    kind = "locked"


class AlreadyDecided(ReviewConflict):
    """The request has its decision."""

    kind = "decided"


class RequestChanged(ReviewConflict):
    """The request is not what the reviewer has seen: a more complete result has replaced it."""

    kind = "changed"


class TooLate(ReviewConflict):
    """There is nothing to take back any more."""

    kind = "too_late"


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
