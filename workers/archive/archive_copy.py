"""Write topics to an archive, send archived records back, and erase persons in the archive."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from schemas.topics import ANSWERS_ENRICHED, PRIVACY_ERASURES, TOPICS, Topic, topic_named
from workers.archive.archive_files import Archive, refuse_another_log
from workers.archive.waiting_records import WaitingRecords
from workers.delivery.consumption.fetching import readable_name
from workers.delivery.followers.erasure_follower import ErasureRegister, read_erasures
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record
from workers.delivery.topics.topic_reading import BoundedReader, Places
from workers.privacy.record_masking import Privacy
from workers.settings import Settings
from workers.settings.addresses import Addresses

SEND_RECORDS = 500
"""Records sent back before the acknowledgement of the broker is awaited."""

RESTORED: tuple[Topic, ...] = tuple(topic for topic in TOPICS if topic.direction == "in")
"""Topics with input from other systems: all other topics can be computed from them again."""

ARCHIVED: tuple[Topic, ...] = (*RESTORED, ANSWERS_ENRICHED)
"""The restored topics and the results: a replay takes the conversation memory of that time from the results."""

Progress = Callable[[int, int | None], None]
"""Callback with the number of processed records, and the total if known."""


@dataclass(frozen=True, slots=True)
class Archived:
    """The result of one run.

    Attributes:
        records: numbers of written or sent records, by topic.
        erased: number of records left out because the person is erased.
        gone: number of offsets after the end of the archive that retention had removed before they were archived.
    """

    records: dict[str, int]
    erased: int
    gone: int = 0


async def write_archive(
    settings: Settings, addresses: Addresses, address: str | Path, topics: Sequence[Topic], progress: Progress
) -> Archived:
    """Write all records of the topics that the archive does not contain yet, up to the current end of the topics.

    Raises:
        ArchiveUnusable: a file cannot be written, or the archive belongs to another log.
        TouchstoneError: the broker does not respond.
    """
    archive, covers = Archive(address), erased_by(await read_erasures(settings, addresses.kafka), settings)
    names = {topic.name for topic in topics}
    ends = {place: end for place, end in archive.ends().items() if place[0] in names}
    reader = BoundedReader(settings, addresses.kafka, topics, ends)
    written: Counter[str] = Counter()
    erased = 0
    waiting = WaitingRecords()
    async for batch in _of_the_same_log(reader, ends):
        kept = [record for record in batch if not covers(record)]
        erased += len(batch) - len(kept)
        if kept:
            written[batch[0].topic] += len(kept)
            for full in waiting.add(kept):
                await asyncio.to_thread(archive.write, full)
        progress(reader.done, reader.total)
    for rest in waiting.rest():
        await asyncio.to_thread(archive.write, rest)
    return Archived(dict(written), erased, reader.gone)


async def restore_archive(
    settings: Settings,
    addresses: Addresses,
    address: str | Path,
    topics: Sequence[Topic],
    progress: Progress,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    dry_run: bool = False,
) -> Archived:
    """Send archived records back to their topics and partitions, unchanged.

    The erasures of the archive and of the broker are read first; records of erased persons are left out.

    Args:
        settings: names and credentials.
        addresses: address of the broker.
        address: folder or address of the archive.
        topics: topics to restore.
        progress: called after every step.
        since: restore records of that time or later.
        until: restore records before that time.
        dry_run: count the records without sending.

    Raises:
        TouchstoneError: a file cannot be read, or the broker does not acknowledge.
    """
    archive = Archive(address)
    files = [file for file in archive.files() if any(file.topic == topic.name for topic in topics)]
    register = await read_erasures(settings, addresses.kafka)
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


async def erase_archive(settings: Settings, addresses: Addresses, address: str | Path, progress: Progress) -> int:
    """Remove the records of erased persons from the files.

    Returns:
        Number of removed records.

    Raises:
        TouchstoneError: a file cannot be read or written, or the register cannot be read.
    """
    archive, register = Archive(address), await read_erasures(settings, addresses.kafka)
    note_archived(archive, register)
    covers = erased_by(register, settings)
    files = archive.files()
    erased = 0
    for number, file in enumerate(files, start=1):
        erased += archive.erase(file, covers)
        progress(number, len(files))
    return erased


async def _of_the_same_log(reader: BoundedReader, ends: Places) -> AsyncIterator[list[Record]]:
    """Return the new records after checking that their offsets follow the archived ones."""
    try:
        async for batch in reader.batches():
            refuse_another_log(ends, reader.bounds)
            yield batch
        refuse_another_log(ends, reader.bounds)
    finally:
        await reader.close()


def erased_by(register: ErasureRegister, settings: Settings) -> Callable[[Record], bool]:
    """Return a predicate for records of a topic that are about an erased person.

    A record is masked before the check, as agents do, although the archive keeps it unmasked: the register of
    erasures knows persons by their masked identifiers.
    """
    privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)

    def covers(record: Record) -> bool:
        return register.covers(privacy.record(record, "archive") if privacy.concerns(record) else record)

    return covers


def note_archived(archive: Archive, register: ErasureRegister) -> None:
    """Add the erasures of an archive to the register.

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
    # The client sends UTF-8 names only; other names are sent in the readable form used everywhere else.
    headers = [(readable_name(name), value) for name, value in record.headers]
    timestamp_ms = round(record.timestamp * 1000) or None
    return Output(topic_named(record.topic), record.key, record.value, headers, record.partition, timestamp_ms)
