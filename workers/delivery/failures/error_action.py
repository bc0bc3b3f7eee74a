"""Map the type of an error to the action that delivery takes."""

from enum import Enum

from schemas.base import UnreadableEvent
from workers.errors import FatalDeliveryError, JudgementError, PoisonError, TransientError, UnavailableError


class ErrorAction(Enum):
    """Name the actions that delivery takes for a record after an error."""

    RETRY = "retry"
    WAIT = "wait"
    DEGRADE = "degrade"
    DEAD_LETTER = "dead_letter"
    STOP = "stop"


_ACTIONS: tuple[tuple[type[BaseException], ErrorAction], ...] = (
    (UnavailableError, ErrorAction.WAIT),
    (TransientError, ErrorAction.RETRY),
    (JudgementError, ErrorAction.DEGRADE),
    (PoisonError, ErrorAction.DEAD_LETTER),
    (UnreadableEvent, ErrorAction.DEAD_LETTER),
    (FatalDeliveryError, ErrorAction.STOP),
    (MemoryError, ErrorAction.STOP),
)


def action_for(error: BaseException) -> ErrorAction:
    """Return the action for an error. No other code makes this decision.

    Args:
        error: the exception that was raised while a record was processed.

    Returns:
        The action before attempts are counted. The caller turns an exhausted ``RETRY`` into
        ``DEAD_LETTER``.
    """
    for kind, action in _ACTIONS:
        if isinstance(error, kind):
            return action
    return ErrorAction.RETRY
