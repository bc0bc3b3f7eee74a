"""How much an agent takes on at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How large batches get, how long they wait for it, and how much an agent takes on at once.

    Memory under a flood of maximal records, for each agent: ``in_flight_bytes`` as they came
    (32 MB), what ``concurrent`` batches are read into (at most 4 x 1 MB; text takes 1.5 times its bytes,
    at worst, JSON of empty objects, 25 times) and what lies before the agent: Faust's buffer
    (``delivery.stream_buffer`` records, 43 MB of answers) and one fetch of 2 MB a partition.
    The assembler keeps ``delivery.join_bytes`` of answers, and as much of early reports of each
    judge, read already. One record is always admitted, whatever its size.

    Attributes:
        records: most records in a batch.
        wait_seconds: longest wait for a batch to fill.
        in_flight: records accepted and not settled, at most.
        concurrent: batches in work at once.
        timeout_seconds: a handler may take this long for a batch; ``None`` for handlers
            whose time grows with their texts and which bound every call out themselves.
        batch_bytes: most bytes of values in a batch of more than one record.
        in_flight_bytes: bytes of values accepted and not settled, at most.
        ordered: the order of the log matters: what stands behind a suspect waits for it.
    """

    records: int
    wait_seconds: float
    in_flight: int = 256
    concurrent: int = 2
    timeout_seconds: float | None = None
    batch_bytes: int = 1_000_000
    in_flight_bytes: int = 32_000_000
    ordered: bool = False
