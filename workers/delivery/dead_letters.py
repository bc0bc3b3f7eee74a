"""Giving a record up without losing it: the original bytes, with the reason in headers."""

from datetime import UTC, datetime
from hashlib import sha256

from schemas.dead_letters import KEYLESS_HEADER, DeadLetter, reason_headers
from schemas.headers import Headers
from schemas.identifiers import dead_letter_id
from schemas.topics import DEAD_LETTERS
from workers import metrics
from workers.delivery.errors import DeadLetterFailed, ResultTooLarge, TouchstoneError, describe
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record
from workers.logs import get_logger

log = get_logger(__name__)


class DeadLetterSender:
    """Writes dead letters, confirmed.

    Args:
        producer: where to.
        pipeline_version: recorded with each letter.
    """

    def __init__(self, producer: ConfirmedProducer, pipeline_version: str) -> None:
        self._producer = producer
        self._pipeline_version = pipeline_version

    async def send(self, record: Record, *, agent: str, error: Exception, attempts: int) -> None:
        """Write a dead letter and wait for its confirmation.

        Args:
            record: what is given up.
            agent: who gives it up.
            error: why.
            attempts: how often it was tried.

        Raises:
            DeadLetterFailed: the record must not be acknowledged and the process must stop.
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
                f"record {record.topic}[{record.partition}]@{record.offset} could be neither processed "
                f"nor dead-lettered: {failure}"
            ) from failure
        metrics.RECORDS_DEAD_LETTERED.labels(agent, letter.error_class).inc()
        log.warning(
            "dead_lettered",
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
            # A record of the broker's full size has no room for the reason beside it.
            await self._producer.send([_without_value(record, letter)], agent=letter.agent)


def _without_value(record: Record, letter: DeadLetter) -> Output:
    """A letter that says where the original stands and how to recognise it."""
    value = record.value or b""
    omitted = {"value_omitted": len(value), "value_sha256": sha256(value).hexdigest()}
    return _keyless(letter, reason_headers(letter.model_copy(update=omitted)))


def _keyless(letter: DeadLetter, headers: Headers) -> Output:
    """A letter of a record without key and value, which the client would refuse to send."""
    return Output(DEAD_LETTERS, letter.dead_letter_id.encode(), None, [*headers, (KEYLESS_HEADER, b"1")])
