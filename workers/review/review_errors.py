"""Define the errors of the review service."""

from datetime import datetime
from typing import ClassVar, Literal

from workers.errors import TouchstoneError

_ASK_AGAIN = (
    "ask the people who run the application to answer the question again: the new answer gets a review of its own."
)
WITHDRAW = "withdraw"
"""Action of a withdrawal in lists and pages; its record is a rejection that names what it withdraws."""


def final_advice(action: str | None, *, may_withdraw: bool = False) -> str:
    """Return the advice on a published decision, which an auditor can withdraw while readers have its answer.

    Args:
        action: what was decided; ``None`` if the evaluation made the answer final.
        may_withdraw: the advice is for an auditor.
    """
    if action == WITHDRAW:
        return f"A withdrawal is final. If readers still need an answer, {_ASK_AGAIN}"
    ways = {True: "withdraw the answer on its page, and ", False: "ask an auditor to withdraw the answer, and "}
    withdrawn = "" if action == "reject" else ways[may_withdraw]
    return f"A published decision is final. If it was wrong, {withdrawn}{_ASK_AGAIN}"


class ReviewConflict(TouchstoneError):
    """Report a conflict with another reviewer or with the current state of the request.

    Args:
        message: cause of the conflict and the next step.
        who: name of the other party.
        when: start of the conflict, or expiry of a lock; ``None`` if unknown.

    Attributes:
        kind: machine-readable cause of the conflict.
    """

    kind: ClassVar[Literal["locked", "decided", "changed", "too_late"]]

    def __init__(self, message: str, who: str, when: datetime | None) -> None:
        super().__init__(message)
        self.who = who
        self.when = when


class LockedByAnother(ReviewConflict):
    """Report that another reviewer holds the lock of the request."""

    kind = "locked"


class AlreadyDecided(ReviewConflict):
    """Report that the request is already decided."""

    kind = "decided"


class RequestChanged(ReviewConflict):
    """Report that a more complete result, or one of another text, has replaced the request that the reviewer saw."""

    kind = "changed"


class TooLate(ReviewConflict):
    """Refuse an undo: the decision is published, a skip or escalation is too old, or there is nothing to undo."""

    kind = "too_late"


class UnknownReview(TouchstoneError):
    """Report that the request does not exist, or that the reviewer may not see it."""


class InvalidDecision(TouchstoneError):
    """Report that the decision does not fit its request.

    Args:
        field: dotted name of the invalid field.
        message: cause of the error and the next step.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
