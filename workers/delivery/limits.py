"""Define the limits on the records that an agent holds at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Limit batch sizes, the wait for a batch to fill, and the records that an agent holds at once.

    Maximum memory of each agent under a flood of maximal records is the sum of:

    * ``in_flight_bytes`` of raw values (32 MB);
    * the parsed content of ``concurrent`` batches (at most 4 x 1 MB of JSON; text takes 1.5 times its bytes, and the
      worst case, JSON of empty objects, 25 times);
    * records before the agent: Faust's buffer (``delivery.stream_buffer`` records, 43 MB of answers) and one fetch
      of 2 MB per partition.

    The assembler holds ``delivery.join_bytes`` of answers, and the same amount of parsed early reports of each
    evaluator. One record is always admitted, whatever its size.

    Attributes:
        records: maximum records in a batch.
        wait_seconds: maximum wait for a batch to fill.
        in_flight: maximum records accepted and not settled.
        concurrent: maximum batches processed at once.
        timeout_seconds: maximum time of a handler for a batch. ``None`` for handlers whose time grows with
            their texts and which limit every external call themselves.
        batch_bytes: maximum bytes of values in a batch of more than one record.
        in_flight_bytes: maximum bytes of values accepted and not settled.
        ordered: keep the order of the log: records after a suspect wait for it.
        by_tenant: let tenants take turns among the records in flight.
    """

    records: int
    wait_seconds: float
    in_flight: int = 256
    concurrent: int = 2
    timeout_seconds: float | None = None
    batch_bytes: int = 1_000_000
    in_flight_bytes: int = 32_000_000
    ordered: bool = False
    by_tenant: bool = False
