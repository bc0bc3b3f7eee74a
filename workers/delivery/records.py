"""Records as agents see them, and what they send."""

from collections.abc import Sequence
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
        epoch: assignment under which it was delivered; after a revocation it is history.
        foreign_names: whether a header's name was no UTF-8; it stands here with its bytes escaped.
        withheld: whether its value must not be stored: it was to be masked and could not be.
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
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """One record to be sent.

    Attributes:
        topic: where to.
        key: bytes of the key.
        value: bytes of the value.
        headers: pairs of name and bytes.
        partition: a fixed partition, or ``None`` to let the key decide.
        timestamp_ms: time of the record, milliseconds since the epoch, or ``None`` for now.
    """

    topic: Topic
    key: bytes | None
    value: bytes | None
    headers: Headers = field(default_factory=list)
    partition: int | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A record with what an agent joined to it (nothing, for agents that read one topic).

    Attributes:
        record: the record.
        attachments: what was joined, read already.
        attached_bytes: length of the values that the attachments were read from.
    """

    record: Record
    attachments: tuple[Event, ...] = ()
    attached_bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes of all values; what is made of them in memory grows with it."""
        return len(self.record.value or b"") + self.attached_bytes


Result = Sequence[Output] | Exception
"""What became of one record: its outputs (none, for a sink), or why it failed."""
