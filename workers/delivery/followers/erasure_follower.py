"""Follow the register of erased persons, which every agent checks before it handles a record.

The register is the topic ``privacy.erasures``. It is read from its beginning to its end before an
agent starts, and followed afterwards. The register holds digests of persons, with the time of
their erasure, and digests of their answers, since many records name an answer and no person.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.identifiers import answer_digest, first_answer_digest, first_person_digest, person_digest
from schemas.privacy import Erasure
from schemas.topics import PRIVACY_ERASURES
from workers.delivery.connections import connection_arguments
from workers.delivery.consumption import fetching
from workers.delivery.consumption.log_growth import LogGrowth
from workers.delivery.followers.record_subjects import Subject, subject_of
from workers.delivery.records import Output, Record
from workers.delivery.topics.missing_rights import refused_reading
from workers.errors import TouchstoneError
from workers.observability.logs import get_logger
from workers.settings import Settings

POLL_RECORDS = 1_000
POLL_MILLISECONDS = 200
"""Maximum wait for further records of the register."""

log = get_logger(__name__)


class ErasuresUnreadable(TouchstoneError):
    """The erasure register cannot be read, so no record may be handled."""


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """A request by which a person was erased, without the person.

    Attributes:
        tenant: tenant of the person.
        requested_at: time of the request, UTC.
        by: who ran the erasure; empty in records of earlier versions.
        answers: number of erased answers; what a later request of the same person found again counts there.
    """

    tenant: str
    requested_at: datetime
    by: str
    answers: int


class ErasureRegister:
    """Digests of the erased persons and of their answers."""

    def __init__(self) -> None:
        self._persons: dict[str, Erasure] = {}
        self._requests: dict[tuple[str, datetime], str] = {}
        self._answers: dict[str, dict[bytes, datetime]] = defaultdict(dict)

    @property
    def size(self) -> int:
        """Return the number of persons and answers in the register, which only grows."""
        return len(self._persons) + sum(map(len, self._answers.values()))

    def note(self, erasure: Erasure) -> None:
        """Add an erasure; the latest erasure of a person counts."""
        self._requests[erasure.tenant, erasure.requested_at] = erasure.by
        known = self._persons.get(erasure.digest)
        if known is None or known.requested_at < erasure.requested_at:
            self._persons[erasure.digest] = erasure.model_copy(update={"answers": []})
        named = (bytes.fromhex(digest) for digest in erasure.answers)
        self._answers[erasure.tenant].update(dict.fromkeys(named, erasure.requested_at))

    def note_value(self, value: bytes | None, partition: int, offset: int) -> None:
        """Add a record of the register; log an unreadable record with its partition and offset."""
        try:
            self.note(Erasure.from_bytes(value))
        except UnreadableEvent as error:
            # One unreadable record must not stop the reading of the register.
            log.error("erasure_rejected", partition=partition, offset=offset, error=str(error))

    def covers(self, record: Record) -> bool:
        """Return whether a record must be dropped.

        Such a record is about an erased person and older than the erasure, or is about an answer
        of an erased person.
        """
        if not self._persons:
            return False
        subject = subject_of(record)
        return self.knows(subject.tenant, subject.answer_id) or self._erasure_of(subject) is not None

    def unknown_answer(self, record: Record) -> Erasure | None:
        """Return the person's erasure with the record's answer, if the register lacks the answer.

        An answer in transit during the erasure was in no store, so the erasure could not contain it. Records that
        contain only the identifier of that answer may follow.
        """
        subject = subject_of(record)
        erasure = self._erasure_of(subject)
        tenant, answer_id = subject.tenant, subject.answer_id
        if erasure is None or tenant is None or answer_id is None or not subject.is_theirs:
            return None
        if len(tenant) > 200 or self.knows(tenant, answer_id):
            # No event is valid with a tenant of such a length, and so no record can follow.
            return None
        return erasure.model_copy(update={"tenant": tenant, "answers": [answer_digest(tenant, answer_id)]})

    def knows(self, tenant: str | None, answer_id: str | None) -> bool:
        """Return whether an answer belongs to an erased person.

        The tenant of an unreadable record may be unknown. An erased answer of that name in any tenant counts then,
        because nothing of an erased person may be stored.
        """
        return answer_id is not None and self.erased_at(None if tenant is None else [tenant], answer_id) is not None

    def erased_at(self, tenants: Iterable[str] | None, answer_id: str) -> datetime | None:
        """Return the time of the request by which an answer was erased, UTC; ``None`` if it was not.

        Args:
            tenants: possible tenants of the answer; all if ``None``.
            answer_id: identifier.
        """
        for owner in self._answers.keys() if tenants is None else tenants:
            erased = self._answers.get(owner, {})
            for digest in (answer_digest(owner, answer_id), first_answer_digest(answer_id)):
                if (at := erased.get(bytes.fromhex(digest))) is not None:
                    return at
        return None

    def requests(self, tenants: Collection[str] | None) -> list[ErasureRequest]:
        """Return the requests by which persons were erased, the latest first.

        Args:
            tenants: tenants of the persons; all if ``None``.
        """
        counts = {owner: Counter(erased.values()) for owner, erased in self._answers.items()}
        found = [
            ErasureRequest(owner, at, by, counts[owner][at] if owner in counts else 0)
            for (owner, at), by in self._requests.items()
            if tenants is None or owner in tenants
        ]
        return sorted(found, key=lambda each: (each.requested_at, each.tenant), reverse=True)

    def _erasure_of(self, subject: Subject) -> Erasure | None:
        """Return the erasure of the subject's person, ``None`` if the subject is newer than the erasure."""
        if subject.user_id is None or subject.tenant is None:
            return None
        erasure = self._person(subject.tenant, subject.user_id)
        if erasure is None or (subject.at is not None and subject.at >= erasure.requested_at.timestamp()):
            return None
        return erasure

    def _person(self, tenant: str, user: str) -> Erasure | None:
        """Return the latest erasure of a person, also one with a digest of the first version."""
        first = self._persons.get(first_person_digest(tenant, user))
        if first is not None and first.tenant != tenant and "\x1f" in tenant + user:
            first = None  # other names of tenant and user have this digest too
        current = self._persons.get(person_digest(tenant, user))
        found = [erasure for erasure in (first, current) if erasure is not None]
        return max(found, key=lambda erasure: erasure.requested_at, default=None)


def erasure_output(erasure: Erasure, agent: str) -> Output:
    """Return an erasure as a record.

    An erasure that names answers gets its own key, so that compaction keeps it.
    """
    key = erasure.digest
    if erasure.answers:
        key += ":" + sha256("".join(erasure.answers).encode()).hexdigest()
    headers = event_headers(
        event_id=key,
        event_type="Erasure",
        time=erasure.requested_at,
        pipeline_version="",  # no answer is evaluated
        agent=agent,
    )
    return Output(PRIVACY_ERASURES, key.encode(), erasure.to_bytes(), headers)


class ErasureFollower:
    """Reads the register to its end, then keeps it up to date.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        growth: growth of the light broker's log; ``None`` with Apache Kafka.
    """

    def __init__(self, settings: Settings, bootstrap_servers: str, growth: LogGrowth | None = None) -> None:
        self.register = ErasureRegister()
        self._topic = settings.topic_name(PRIVACY_ERASURES.name)
        self._patience = settings.kafka.request_timeout_seconds
        self._max_batch_bytes = settings.kafka.max_batch_bytes
        self._connection = connection_arguments(settings.kafka, bootstrap_servers)
        self._growth = growth
        self._consumer: AIOKafkaConsumer | None = None

    async def start(self) -> None:
        """Read the register to its end.

        Raises:
            ErasuresUnreadable: the topic cannot be read to its end.
        """
        fetching.install(self._max_batch_bytes)
        # Without a consumer group every process reads all partitions, also those added later.
        consumer = AIOKafkaConsumer(
            self._topic,
            **self._connection,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=POLL_RECORDS,
        )
        fetching.repeat_when_grown(consumer, self._growth)
        self._consumer = consumer
        try:
            async with asyncio.timeout(self._patience):
                await consumer.start()
            await self._read_to_end(consumer)
        except (KafkaError, OSError, TimeoutError) as error:
            await self.stop()
            raise self._unreadable(error) from error

    async def run(self) -> None:
        """Follow the register until cancelled; call after :meth:`start`.

        Raises:
            ErasuresUnreadable: the client cannot continue. An unavailable broker does not raise.
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
        """Read up to the high watermark of the fetches.

        The embedded broker answers a request for the end offset alone with an old offset.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while True:
            async with asyncio.timeout(self._patience):
                if await _is_at_end(consumer):
                    break
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
        cause = refused_reading(error) or "check that the broker is available"
        return ErasuresUnreadable(
            f"{self._topic} cannot be read to its end ({type(error).__name__}), so the erased persons are unknown "
            f"and no record may be processed; {cause}"
        )


async def read_erasures(settings: Settings, bootstrap_servers: str) -> ErasureRegister:
    """Return all erasures recorded so far.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.

    Raises:
        ErasuresUnreadable: the register of erasures cannot be read.
    """
    follower = ErasureFollower(settings, bootstrap_servers)
    try:
        await follower.start()
    finally:
        await follower.stop()
    return follower.register


async def _is_at_end(consumer: AIOKafkaConsumer) -> bool:
    for partition in consumer.assignment():
        mark = consumer.highwater(partition)
        if mark is None or await consumer.position(partition) < mark:
            return False
    return True
