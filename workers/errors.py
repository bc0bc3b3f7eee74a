"""Define the errors that Touchstone raises on purpose.

``workers.delivery.failures.error_action`` maps the type of an error to the action that delivery takes.

::

    Exception
    └── TouchstoneError
        ├── TransientError          retry: bounded, with jitter, then dead letter
        ├── UnavailableError        wait: a dependency is unavailable; retry without limit, pause the agent
        │   ├── BrokerUnavailable
        │   ├── StoreUnavailable
        │   └── ReceiverUnavailable the export target did not acknowledge, or rejects the worker, not the record
        │       └── RouteMissing    the export target has no such route
        ├── JudgementError          degrade: one evaluation fails, the answer continues
        │   ├── BudgetExceeded      the evaluation needs more operations than its budget
        │   ├── InferenceFailed
        │   └── InferenceTimeout
        ├── PoisonError             dead letter: no later attempt can succeed
        │   ├── UnreadableRecord    a header, or the reason of a dead letter, is invalid
        │   ├── OversizeRecord      the record is larger than the limit on input records
        │   │   └── OversizeBatch   the batch of the record is larger than the limit after decompression
        │   ├── LibraryPanicked     a library in Rust panicked at the record
        │   ├── ResultTooLarge      a result of the record does not fit into one record
        │   ├── RejectedByStore     a store rejects the values
        │   └── RefusedByReceiver   the export target rejects the values
        └── FatalDeliveryError      stop: continuing would lose records
            ├── DeadLetterFailed    the dead letter could not be written
            ├── ProducerEnded       the broker refuses every new producer
            └── UnreadablePartition a batch at the broker cannot be read

Any other exception is an internal error. Delivery retries it a few times, in case it was transient, and then
writes a dead letter with the name of its class. ``MemoryError`` stops the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.base import UnreadableEvent


class TouchstoneError(Exception):
    """Base class of all errors that Touchstone raises on purpose. Its message never contains a payload."""


class TransientError(TouchstoneError):
    """Report a failure that a retry may resolve."""


class UnavailableError(TouchstoneError):
    """Report that a dependency is unavailable. The record is not at fault."""


class BrokerUnavailable(UnavailableError):
    """Report that the broker did not acknowledge a request."""


class StoreUnavailable(UnavailableError):
    """Report that a store did not acknowledge a request."""


class ReceiverUnavailable(UnavailableError):
    """Report that the export target did not acknowledge a request."""


class RouteMissing(ReceiverUnavailable):
    """Report that the export target has no such route."""


class JudgementError(TouchstoneError):
    """Report that one evaluation failed."""


class BudgetExceeded(JudgementError):
    """Report that an evaluation needs more operations than its budget has."""


class InferenceFailed(JudgementError):
    """Report that the model raised an exception."""


class InferenceTimeout(JudgementError):
    """Report that the model did not respond in time."""


class PoisonError(TouchstoneError):
    """Report that no later attempt can succeed with this record."""


class UnreadableRecord(PoisonError):
    """Report that the record cannot be parsed."""


class OversizeRecord(PoisonError):
    """Report that the record is larger than the limit on input records."""


class OversizeBatch(OversizeRecord):
    """Report that the batch of a record was not decompressed."""


class LibraryPanicked(PoisonError):
    """Report that a library in Rust panicked at the record. The message names no value: that of a panic quotes texts."""


class ResultTooLarge(PoisonError):
    """Report that a result of the record does not fit into one record."""


class RejectedByStore(PoisonError):
    """Report that a store rejects the values of this record."""


class RefusedByReceiver(PoisonError):
    """Report that the export target rejects the values of this record."""


class FatalDeliveryError(TouchstoneError):
    """Report that continuing would break the delivery guarantee."""


class DeadLetterFailed(FatalDeliveryError):
    """Report that a record could be neither processed nor dead-lettered."""


class ProducerEnded(FatalDeliveryError):
    """Report that the broker refuses every new producer of this process."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise :class:`LibraryPanicked` where a library in Rust panics.

    The exception of a panic is no ``Exception``. Unchanged, it would pass every handler, end the agent, and come again
    with the record after each restart.

    Raises:
        LibraryPanicked: the library panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise LibraryPanicked(
                "a library in Rust panicked at this record; report the record to its maintainers"
            ) from None
        raise


def describe(error: BaseException) -> str:
    """Describe an error in text that contains no payload.

    The messages of Touchstone's own errors and of ``UnreadableEvent`` contain no values. The text of any
    other error may quote the record, so only the name of its class is returned.
    """
    if isinstance(error, TouchstoneError | UnreadableEvent):
        return str(error)
    return f"{type(error).__name__} in Touchstone's code; the log has the traceback"
