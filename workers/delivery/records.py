"""Define the records that agents receive and send."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from schemas.base import Event
from schemas.headers import Headers
from schemas.topics import Topic


@dataclass(frozen=True, slots=True)
class Record:
    """One consumed record.

    Attributes:
        topic: registry name, without prefix.
        partition: number of the partition.
        offset: position in the partition.
        key: bytes of the key, if any.
        value: bytes of the value, ``None`` for a tombstone.
        headers: pairs of name and bytes.
        timestamp: time of the record at the broker, seconds since the epoch.
        epoch: number of the assignment under which the record was delivered; a revocation ends it.
        foreign_names: whether a header name was not UTF-8; ``headers`` holds the name with its bytes escaped.
        refusal: reason why the batch of the record was not decompressed; the record then stands for all of its records
            and has no content.
        withheld: whether the value must not be stored, because it had to be masked and masking failed.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = field(default_factory=list)
    timestamp: float = 0.0
    epoch: int = 0
    foreign_names: bool = False
    refusal: str | None = None
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """One record to be sent.

    Attributes:
        topic: target topic.
        key: bytes of the key.
        value: bytes of the value.
        headers: pairs of name and bytes.
        partition: a fixed partition, or ``None`` to choose it by the key.
        timestamp_ms: time of the record, milliseconds since the epoch, or ``None`` for now.
    """

    topic: Topic
    key: bytes | None
    value: bytes | None
    headers: Headers = field(default_factory=list)
    partition: int | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A record and the events that an agent joined to it (none, for agents that read one topic).

    Attributes:
        record: the record.
        attachments: the joined events, parsed.
        attached_bytes: length of the values from which the attachments were parsed.
    """

    record: Record
    attachments: tuple[Event, ...] = ()
    attached_bytes: int = 0

    @property
    def size(self) -> int:
        """Return the bytes of all values; memory use grows with this number."""
        return len(self.record.value or b"") + self.attached_bytes


class CountedOutputs(list[Output]):
    """Outputs of a record, with metrics that count once the broker has acknowledged the outputs.

    The handler runs again after each outage, so that metrics that it raises itself count attempts.

    Args:
        outputs: the outputs.
        count: raises the metrics.
    """

    def __init__(self, outputs: Iterable[Output], count: Callable[[], None]) -> None:
        super().__init__(outputs)
        self.raise_metrics = count


Result = Sequence[Output] | Exception
"""Result of one record: its outputs (none, for a sink), or the error."""
