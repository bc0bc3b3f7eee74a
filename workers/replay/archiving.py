"""Between topics and archive: writing what is new, sending it back, and erasing persons in both."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from schemas.topics import ANSWERS_ENRICHED, PRIVACY_ERASURES, TOPICS, Topic, topic_named
from workers.addresses import Addresses
from workers.delivery.erasures import ErasureFollower, ErasureRegister
from workers.delivery.fetching import readable_name
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record
from workers.privacy import Privacy
from workers.replay.archive import Archive, refuse_another_log
from workers.replay.reading import BoundedReader, Places
from workers.settings import Settings

FILE_BYTES = 64_000_000
"""A file is closed at this size, before compression."""

FILE_RECORDS = 100_000
"""And at this number of records."""

SEND_RECORDS = 500
"""Records sent back before their confirmation is waited for."""

RESTORED: tuple[Topic, ...] = tuple(topic for topic in TOPICS if topic.direction == "in")
"""What others have sent: all else can be made of it again."""

ARCHIVED: tuple[Topic, ...] = (*RESTORED, ANSWERS_ENRICHED)
"""That, and the results, since a replay takes from them what was remembered at the time."""

Progress = Callable[[int, int | None], None]
"""Told how many records are done, and of how many if that is known."""


@dataclass(frozen=True, slots=True)
class Archived:
    """What one run did.

    Attributes:
        records: written or sent, by topic.
        erased: left out because their person is erased.
    """

    records: dict[str, int]
    erased: int


async def write_archive(
    settings: Settings, addresses: Addresses, folder: Path, topics: Sequence[Topic], progress: Progress
) -> Archived:
    """Write what the topics hold and the archive does not, up to where they end now.

    Raises:
        ArchiveUnusable: a file cannot be written, or the archive is that of another log.
        TouchstoneError: the broker does not answer.
    """
    archive, covers = Archive(folder), erased_by(await read_erasures(settings, addresses), settings)
    names = {topic.name for topic in topics}
    ends = {place: end for place, end in archive.ends().items() if place[0] in names}
    reader = BoundedReader(settings, addresses.kafka, topics, ends)
    written: Counter[str] = Counter()
    erased = 0
    waiting: dict[tuple[str, int], _Waiting] = {}
    async for batch in _of_the_same_log(reader, ends):
        kept = [record for record in batch if not covers(record)]
        erased += len(batch) - len(kept)
        place = (batch[0].topic, batch[0].partition)
        if kept:
            waiting.setdefault(place, _Waiting([])).add(kept)
            written[place[0]] += len(kept)
        if place in waiting and waiting[place].is_full:
            archive.write(waiting.pop(place).records)
        progress(reader.done, reader.total)
    for rest in waiting.values():
        archive.write(rest.records)
    return Archived(dict(written), erased)


async def restore_archive(
    settings: Settings,
    addresses: Addresses,
    folder: Path,
    topics: Sequence[Topic],
    progress: Progress,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    dry_run: bool = False,
) -> Archived:
    """Send archived records back to their topics and partitions, as they were.

    Erasures come first, those of the archive and those of the broker; who is erased is left out.

    Args:
        settings: names and credentials.
        addresses: of the broker.
        folder: of the archive.
        topics: which ones.
        progress: told of every step.
        since: records of that time or later.
        until: records before that time.
        dry_run: count only.

    Raises:
        TouchstoneError: a file cannot be read, or the broker does not confirm.
    """
    archive = Archive(folder)
    files = [file for file in archive.files() if any(file.topic == topic.name for topic in topics)]
    register = await read_erasures(settings, addresses)
    note_archived(archive, register)
    covers = erased_by(register, settings)
    sent: Counter[str] = Counter()
    erased = done = 0
    producer = ConfirmedProducer(settings, addresses.kafka)
    if not dry_run:
        await producer.start()
    try:
        for file in files:
            for batch in archive.read(file):
                wanted = [record for record in batch if _is_within(record, since, until)]
                kept = [record for record in wanted if not covers(record)]
                for start in range(0, 0 if dry_run else len(kept), SEND_RECORDS):
                    outputs = [_output(record) for record in kept[start : start + SEND_RECORDS]]
                    await producer.send(outputs, agent="archive")
                sent[file.topic] += len(kept)
                erased += len(wanted) - len(kept)
                done += len(batch)
                progress(done, None)
    finally:
        await producer.stop()
    return Archived(dict(sent), erased)


async def erase_archive(settings: Settings, addresses: Addresses, folder: Path, progress: Progress) -> int:
    """Remove the records of erased persons from the files.

    Returns:
        How many there were.

    Raises:
        TouchstoneError: a file cannot be read or written, or the register cannot be read.
    """
    archive, register = Archive(folder), await read_erasures(settings, addresses)
    note_archived(archive, register)
    covers = erased_by(register, settings)
    files = archive.files()
    erased = 0
    for number, file in enumerate(files, start=1):
        erased += archive.erase(file, covers)
        progress(number, len(files))
    return erased


async def _of_the_same_log(reader: BoundedReader, ends: Places) -> AsyncIterator[list[Record]]:
    """What is new, once it is known that all of it follows what is archived."""
    try:
        async for batch in reader.batches():
            refuse_another_log(ends, reader.bounds)
            yield batch
        refuse_another_log(ends, reader.bounds)
    finally:
        await reader.close()


@dataclass(slots=True)
class _Waiting:
    """Records of one partition on their way into a file."""

    records: list[Record]
    size: int = 0

    def add(self, records: Sequence[Record]) -> None:
        self.records += records
        self.size += sum(len(record.value or b"") + len(record.key or b"") for record in records)

    @property
    def is_full(self) -> bool:
        return self.size >= FILE_BYTES or len(self.records) >= FILE_RECORDS


def erased_by(register: ErasureRegister, settings: Settings) -> Callable[[Record], bool]:
    """Whether a record of a topic is about an erased person.

    It is masked first as an agent does, though it is kept as it was: who is erased is known by what the
    stores knew them as, which is the mask.
    """
    privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)

    def covers(record: Record) -> bool:
        return register.covers(privacy.record(record, "archive") if privacy.concerns(record) else record)

    return covers


async def read_erasures(settings: Settings, addresses: Addresses) -> ErasureRegister:
    """Who is erased, up to now.

    Raises:
        ErasuresUnreadable: nobody can say.
    """
    follower = ErasureFollower(settings, addresses.kafka)
    await follower.start()
    await follower.stop()
    return follower.register


def note_archived(archive: Archive, register: ErasureRegister) -> None:
    """Add the erasures that an archive holds.

    Raises:
        ArchiveUnusable: a file cannot be read.
    """
    for file in archive.files():
        if file.topic == PRIVACY_ERASURES.name:
            for batch in archive.read(file):
                for record in batch:
                    register.note_value(record.value, record.partition, record.offset)


def _is_within(record: Record, since: datetime | None, until: datetime | None) -> bool:
    after = since is None or record.timestamp >= since.timestamp()
    return after and (until is None or record.timestamp < until.timestamp())


def _output(record: Record) -> Output:
    # The client sends no name that is not UTF-8; such a one is sent as it is read everywhere else.
    headers = [(readable_name(name), value) for name, value in record.headers]
    timestamp_ms = round(record.timestamp * 1000) or None
    return Output(topic_named(record.topic), record.key, record.value, headers, record.partition, timestamp_ms)
