"""What can go wrong, and what happens then: the type of an error decides the fate of its record.

::

    Exception
    └── TouchstoneError
        ├── TransientError          retry: bounded, with jitter, then dead letter
        ├── UnavailableError        wait: the other side is away; retried without end, the agent pauses
        │   ├── BrokerUnavailable
        │   ├── StoreUnavailable
        │   └── ReceiverUnavailable who is exported to does not confirm, or refuses us and not the record
        ├── JudgementError          degrade: this judgement fails, the answer goes on
        │   ├── InferenceFailed
        │   └── InferenceTimeout
        ├── PoisonError             dead letter: this record never will
        │   ├── UnreadableRecord    what stands around the value is wrong: a header, the reason of a letter
        │   ├── OversizeRecord      larger than the limit on input records
        │   ├── ResultTooLarge      what came of it does not fit into a record
        │   ├── RejectedByStore     a store refuses these values
        │   └── RefusedByReceiver   who is exported to refuses them
        └── BrokenPromise           stop: going on would lose something
            ├── DeadLetterFailed    not even the dead letter could be written
            ├── ProducerEnded       the client sends nothing more, though the broker is there
            └── UnreadablePartition a batch at the broker cannot be read

Anything else is an error of ours: it is retried a few times, in case it was chance, and
then dead-lettered with its class name. ``MemoryError`` stops the process.
"""

from enum import Enum

from schemas.base import UnreadableEvent


class TouchstoneError(Exception):
    """Base of all errors that Touchstone raises on purpose; its text never holds a payload."""


class TransientError(TouchstoneError):
    """It may work in a moment."""


class UnavailableError(TouchstoneError):
    """Somebody we depend on is away; nothing is wrong with the record."""


class BrokerUnavailable(UnavailableError):
    """The broker does not confirm."""


class StoreUnavailable(UnavailableError):
    """A store does not confirm."""


class ReceiverUnavailable(UnavailableError):
    """Who is exported to does not confirm."""


class JudgementError(TouchstoneError):
    """One judgement could not be made."""


class InferenceFailed(JudgementError):
    """The model raised."""


class InferenceTimeout(JudgementError):
    """The model did not answer in time."""


class PoisonError(TouchstoneError):
    """No later attempt can succeed with this record."""


class UnreadableRecord(PoisonError):
    """The record cannot be understood."""


class OversizeRecord(PoisonError):
    """The record is larger than we accept."""


class ResultTooLarge(PoisonError):
    """What comes of the record does not fit into one."""


class RejectedByStore(PoisonError):
    """A store refuses the values of this record."""


class RefusedByReceiver(PoisonError):
    """Who is exported to refuses the values of this record."""


class BrokenPromise(TouchstoneError):
    """Going on would break the delivery promise."""


class DeadLetterFailed(BrokenPromise):
    """A record could be neither processed nor dead-lettered."""


class ProducerEnded(BrokenPromise):
    """The client has given up sending for good; only a new one can."""


class Fate(Enum):
    """What happens to a record after an error."""

    RETRY = "retry"
    WAIT = "wait"
    DEGRADE = "degrade"
    DEAD_LETTER = "dead_letter"
    STOP = "stop"


_FATES: tuple[tuple[type[BaseException], Fate], ...] = (
    (UnavailableError, Fate.WAIT),
    (TransientError, Fate.RETRY),
    (JudgementError, Fate.DEGRADE),
    (PoisonError, Fate.DEAD_LETTER),
    (UnreadableEvent, Fate.DEAD_LETTER),
    (BrokenPromise, Fate.STOP),
    (MemoryError, Fate.STOP),
)


def fate_of(error: BaseException) -> Fate:
    """The one place where an error becomes a decision.

    Args:
        error: whatever was raised while a record was processed.

    Returns:
        The fate of the record, before attempts are counted: who retries turns an exhausted
        ``RETRY`` into ``DEAD_LETTER``.
    """
    for kind, fate in _FATES:
        if isinstance(error, kind):
            return fate
    return Fate.RETRY


def describe(error: BaseException) -> str:
    """An error in words that hold no payload.

    Our own errors and pydantic's refusals are written without values; the text of any
    other error may quote the record, so only its class is told.
    """
    if isinstance(error, TouchstoneError | UnreadableEvent):
        return str(error)
    return f"{type(error).__name__} in our own code; the log has the traceback"
