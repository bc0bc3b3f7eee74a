"""Erased persons stay erased: the register that every agent asks before it handles a record.

The register is the topic ``privacy.erasures``, read from its beginning to its end before an
agent starts, and followed from then on. It holds digests: of persons, with the time of their
erasure, and of their answers, since many records name an answer and no person.
"""

import asyncio

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.identifiers import answer_digest, person_digest
from schemas.privacy import Erasure
from schemas.topics import PRIVACY_ERASURES
from workers.delivery.errors import TouchstoneError
from workers.delivery.records import Output, Record
from workers.delivery.subjects import Subject, subject_of
from workers.kafka import connection_arguments
from workers.logs import get_logger
from workers.settings import Settings

POLL_MILLISECONDS = 200
"""Longest wait for further records of the register."""

log = get_logger(__name__)


class ErasuresUnreadable(TouchstoneError):
    """Nobody knows who is erased, so no record may be handled."""


class ErasureRegister:
    """Who is erased, and which answers were theirs."""

    def __init__(self) -> None:
        self._persons: dict[str, Erasure] = {}
        self._answers: set[bytes] = set()

    @property
    def size(self) -> int:
        """Persons and answers that it knows; it only grows."""
        return len(self._persons) + len(self._answers)

    def note(self, erasure: Erasure) -> None:
        """Take up an erasure; of several of one person the latest counts."""
        known = self._persons.get(erasure.digest)
        if known is None or known.requested_at < erasure.requested_at:
            self._persons[erasure.digest] = erasure.model_copy(update={"answers": []})
        self._answers.update(bytes.fromhex(digest) for digest in erasure.answers)

    def note_value(self, value: bytes | None, partition: int, offset: int) -> None:
        """Take up a record of the register; one that is no erasure is logged with its place."""
        try:
            self.note(Erasure.from_bytes(value))
        except UnreadableEvent as error:
            # Its reader goes on: one bad record must not hold up everybody's.
            log.error("erasure_unreadable", partition=partition, offset=offset, error=str(error))

    def covers(self, record: Record) -> bool:
        """Whether a record is about an erased person before their erasure, or about an answer of theirs."""
        if not self._persons:
            return False
        subject = subject_of(record)
        return self.knows(subject.answer_id) or self._erasure_of(subject) is not None

    def unknown_answer(self, record: Record) -> Erasure | None:
        """The erasure with an answer that the register lacks, if the record shows one.

        An answer that was on its way during the erasure is in no store, so nobody could name it
        then; records that name only the answer may follow.
        """
        subject = subject_of(record)
        erasure = self._erasure_of(subject)
        if erasure is None or subject.answer_id is None or not subject.is_theirs or self.knows(subject.answer_id):
            return None
        return erasure.model_copy(update={"answers": [answer_digest(subject.answer_id)]})

    def knows(self, answer_id: str | None) -> bool:
        """Whether an answer was an erased person's."""
        return answer_id is not None and bytes.fromhex(answer_digest(answer_id)) in self._answers

    def _erasure_of(self, subject: Subject) -> Erasure | None:
        """The erasure of the subject's person, unless the person has come back since."""
        if subject.user_id is None:
            return None
        erasure = self._persons.get(person_digest(subject.tenant, subject.user_id))
        if erasure is None or (subject.at is not None and subject.at >= erasure.requested_at.timestamp()):
            return None
        return erasure


def erasure_output(erasure: Erasure, agent: str) -> Output:
    """An erasure as a record; one that names answers has a key of its own, so that compaction keeps it."""
    key = erasure.digest
    if erasure.answers:
        key += ":" + answer_digest("".join(erasure.answers))
    headers = event_headers(
        event_id=key,
        event_type="Erasure",
        time=erasure.requested_at,
        pipeline_version="",  # nothing is judged
        agent=agent,
    )
    return Output(PRIVACY_ERASURES, key.encode(), erasure.to_bytes(), headers)


class ErasureFollower:
    """Reads the register to its end, then keeps it up to date.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str) -> None:
        self.register = ErasureRegister()
        self._topic = settings.topic_name(PRIVACY_ERASURES.name)
        self._patience = settings.kafka.request_timeout_seconds
        self._connection = connection_arguments(settings.kafka, bootstrap_servers)
        self._consumer: AIOKafkaConsumer | None = None

    async def start(self) -> None:
        """Read all that there is.

        Raises:
            ErasuresUnreadable: the topic cannot be read to its end.
        """
        # Without a group every process reads all partitions, also those that are added later.
        consumer = AIOKafkaConsumer(
            self._topic, **self._connection, auto_offset_reset="earliest", enable_auto_commit=False
        )
        self._consumer = consumer
        try:
            await asyncio.wait_for(consumer.start(), self._patience)
            await self._read_to_end(consumer)
        except (KafkaError, OSError, TimeoutError) as error:
            await self.stop()
            raise self._unreadable(error) from error

    async def run(self) -> None:
        """Follow until cancelled; call after the start.

        Raises:
            ErasuresUnreadable: the client cannot go on; a broker that is away is waited for.
        """
        assert self._consumer is not None
        while True:
            try:
                await self._read(self._consumer)
            except KafkaError as error:
                raise self._unreadable(error) from error

    async def stop(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            await self._consumer.stop()

    async def _read_to_end(self, consumer: AIOKafkaConsumer) -> None:
        """As far as the marks of the fetches say: asked for by itself, the embedded broker names an old end."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while not await asyncio.wait_for(_is_at_end(consumer), self._patience):
            if await self._read(consumer):
                until = loop.time() + self._patience
            elif loop.time() > until:
                raise TimeoutError

    async def _read(self, consumer: AIOKafkaConsumer) -> int:
        found = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
        records = [record for batch in found.values() for record in batch]
        for record in records:
            self.register.note_value(record.value, record.partition, record.offset)
        return len(records)

    def _unreadable(self, error: Exception) -> ErasuresUnreadable:
        return ErasuresUnreadable(
            f"{self._topic} cannot be read to its end ({type(error).__name__}), so nobody knows whose records must not "
            "be handled; is the broker there, and may this user read the topic?"
        )


async def _is_at_end(consumer: AIOKafkaConsumer) -> bool:
    for partition in consumer.assignment():
        mark = consumer.highwater(partition)
        if mark is None or await consumer.position(partition) < mark:
            return False
    return True
