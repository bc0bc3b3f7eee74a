"""Send failed records as dead letters: the original bytes, with the reason in headers."""

from datetime import UTC, datetime
from hashlib import sha256

from schemas.dead_letters import KEYLESS_HEADER, DeadLetter, reason_headers
from schemas.headers import Headers
from schemas.identifiers import dead_letter_id
from schemas.topics import DEAD_LETTERS
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record
from workers.errors import DeadLetterFailed, ResultTooLarge, TouchstoneError, describe
from workers.observability import metrics
from workers.observability.logs import get_logger

log = get_logger(__name__)


class DeadLetterSender:
    """Sends dead letters and waits for the acknowledgement.

    Args:
        producer: sends the dead letters.
        pipeline_version: version that each dead letter names.
    """

    def __init__(self, producer: ConfirmedProducer, pipeline_version: str) -> None:
        self._producer = producer
        self._pipeline_version = pipeline_version

    async def send(self, record: Record, *, agent: str, error: Exception, attempts: int) -> None:
        """Send a dead letter and wait for the acknowledgement.

        Args:
            record: the failed record.
            agent: the agent that failed.
            error: the last error.
            attempts: number of attempts.

        Raises:
            DeadLetterFailed: the dead letter was not sent; do not acknowledge the record, and stop the process.
        """
        letter = DeadLetter(
            dead_letter_id=dead_letter_id(record.topic, record.partition, record.offset, agent),
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            agent=agent,
            error_class=type(error).__name__,
            error=describe(error)[:2_000],
            attempts=attempts,
            failed_at=datetime.now(UTC),
            pipeline_version=self._pipeline_version,
        )
        try:
            await self._write(record, letter)
        except TouchstoneError as failure:
            raise DeadLetterFailed(
                f"record {record.topic}[{record.partition}]@{record.offset} could be neither processed nor "
                f"dead-lettered: {failure}"
            ) from failure
        metrics.RECORDS_DEAD_LETTERED.labels(agent, letter.error_class).inc()
        log.warning(
            "record_dead_lettered",
            agent=agent,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            error_class=letter.error_class,
            error=letter.error,
            attempts=attempts,
        )

    async def _write(self, record: Record, letter: DeadLetter) -> None:
        headers = [*record.headers, *reason_headers(letter)]
        output = Output(DEAD_LETTERS, record.key, record.value, headers)
        if record.withheld:
            output = _without_value(record, letter)
        elif record.key is None and record.value is None:
            output = _keyless(letter, headers)
        try:
            await self._producer.send([output], agent=letter.agent)
        except ResultTooLarge:
            # A record of the maximum size leaves no room for the reason headers.
            await self._producer.send([_without_value(record, letter)], agent=letter.agent)


def _without_value(record: Record, letter: DeadLetter) -> Output:
    """Return a dead letter without the value, with the original's place, length and digest."""
    value = record.value or b""
    omitted = {"value_omitted": len(value), "value_sha256": sha256(value).hexdigest()}
    return _keyless(letter, reason_headers(letter.model_copy(update=omitted)))


def _keyless(letter: DeadLetter, headers: Headers) -> Output:
    """Return a dead letter keyed by its identifier, because the client refuses records without key and value."""
    return Output(DEAD_LETTERS, letter.dead_letter_id.encode(), None, [*headers, (KEYLESS_HEADER, b"1")])
