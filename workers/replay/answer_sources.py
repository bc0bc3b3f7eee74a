"""Read the answers of a replay from the topic, an archive or a file.

All sources yield records in the order of their partitions and report their progress. An interrupted replay continues
after the stored results, up to the bounds of its start.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED, Topic
from workers.archive.archive_files import Archive
from workers.delivery.records import Record
from workers.delivery.topics.topic_reading import BoundedReader
from workers.gateways.answer_files import read_events
from workers.replay.replay_options import ReplayOptions
from workers.settings import Settings

FILE_RECORDS = 64
"""Number of answers of a file in one batch."""

Offsets = dict[int, int]
"""Offsets by partition."""


class AnswerSource(Protocol):
    """A bounded stream of records of ``answers.generated``."""

    @property
    def bounds(self) -> Offsets:
        """Return the offset after the last one to read, of each partition, as far as known."""

    @property
    def total(self) -> int | None:
        """Return the number of offsets to read, if known."""

    @property
    def done(self) -> int:
        """Return the number of records read so far."""

    @property
    def gone(self) -> int:
        """Return the number of requested offsets that no longer exist."""

    def batches(self) -> AsyncIterator[list[Record]]:
        """Yield non-empty batches of records of one partition."""

    async def commit(self, progress: Offsets) -> None:
        """Commit the progress, if the source supports it."""

    async def close(self) -> None:
        """Close open connections and files."""


class TopicSource:
    """The topic itself, with a separate consumer group.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        options: options of the replay.
        progress: first offsets of a resumed replay.
        bounds: bounds of a resumed replay.
        topic: answers.generated, or a topic of results.
        group: consumer group that shows the progress.
    """

    def __init__(
        self, settings: Settings, bootstrap_servers: str, options: ReplayOptions, progress: Offsets, bounds: Offsets,
        topic: Topic = ANSWERS_GENERATED, group: str | None = None,
    ) -> None:  # fmt: skip
        starts = options.first_offsets() | progress
        ends = options.last_offsets() | bounds
        self._topic = topic
        self._reader = BoundedReader(
            settings,
            bootstrap_servers,
            [topic],
            _placed(topic, starts),
            ends=_placed(topic, ends) if ends else None,
            since=options.since,
            only=None if options.offsets is None else {(topic.name, number) for number in options.offsets},
            group=group,
        )

    @property
    def bounds(self) -> Offsets:
        """See :class:`AnswerSource`."""
        return {partition: end for (_, partition), end in self._reader.bounds.items()}

    @property
    def total(self) -> int | None:
        """See :class:`AnswerSource`."""
        return self._reader.total

    @property
    def done(self) -> int:
        """See :class:`AnswerSource`."""
        return self._reader.done

    @property
    def gone(self) -> int:
        """See :class:`AnswerSource`."""
        return self._reader.gone

    def batches(self) -> AsyncIterator[list[Record]]:
        """See :class:`AnswerSource`.

        Raises:
            BrokerUnavailable: the broker does not respond.
        """
        return self._reader.batches()

    async def commit(self, progress: Offsets) -> None:
        """See :class:`AnswerSource`.

        Raises:
            BrokerUnavailable: the broker does not acknowledge.
        """
        await self._reader.commit(_placed(self._topic, progress))

    async def close(self) -> None:
        """See :class:`AnswerSource`."""
        await self._reader.close()


class ArchiveSource:
    """An archive of the topic.

    Args:
        address: folder or address of the archive.
        progress: first offsets of a resumed replay.
        bounds: bounds of a resumed replay.
        topic: answers.generated, or a topic of results.

    Raises:
        ArchiveUnusable: the archive does not exist.
    """

    def __init__(self, address: str, progress: Offsets, bounds: Offsets, topic: Topic = ANSWERS_GENERATED) -> None:
        self._archive = Archive(address)
        found = [file for file in self._archive.files() if file.topic == topic.name]
        ends = {file.partition: file.last + 1 for file in found}
        self._bounds = bounds or ends
        self._files = [
            file
            for file in found
            if file.last >= progress.get(file.partition, 0) and file.first < self._bounds.get(file.partition, 0)
        ]
        self._progress = progress
        self._done = 0

    @property
    def bounds(self) -> Offsets:
        """See :class:`AnswerSource`."""
        return self._bounds

    @property
    def total(self) -> int | None:
        """See :class:`AnswerSource`."""
        return sum(file.last + 1 - max(file.first, self._progress.get(file.partition, 0)) for file in self._files)

    @property
    def done(self) -> int:
        """See :class:`AnswerSource`."""
        return self._done

    @property
    def gone(self) -> int:
        """See :class:`AnswerSource`; an archive has no retention."""
        return 0

    async def batches(self) -> AsyncIterator[list[Record]]:
        """See :class:`AnswerSource`.

        Raises:
            ArchiveUnusable: a file cannot be read.
        """
        for file in self._files:
            first, end = self._progress.get(file.partition, 0), self._bounds.get(file.partition, 0)
            batches = self._archive.read(file)
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:
                records = [record for record in batch if first <= record.offset < end]
                self._done += len(records)
                if records:
                    yield records

    async def commit(self, progress: Offsets) -> None:
        """See :class:`AnswerSource`; an archive has no consumer groups."""

    async def close(self) -> None:
        """See :class:`AnswerSource`; each file is closed after reading."""


class FileSource:
    """A file of generated or enriched answers; the number of a line is its offset.

    Args:
        path: JSON lines or one document, plain or gzip.
        progress: first line of a resumed replay.
        max_line_bytes: longest line, and longest document, bytes after decompression.

    Raises:
        TouchstoneError: the file cannot be read, or a line is not an answer.
    """

    def __init__(self, path: str, progress: Offsets, max_line_bytes: int) -> None:
        self._first = progress.get(0, 0)
        events = list(read_events(path, max_line_bytes))
        self.stored = {(event.tenant, event.answer_id): event for event in events if isinstance(event, EnrichedAnswer)}
        """Earlier evaluations of the answers in the file."""
        self._answers = [event.answer if isinstance(event, EnrichedAnswer) else event for event in events]
        self._done = 0

    @property
    def bounds(self) -> Offsets:
        """See :class:`AnswerSource`."""
        return {0: len(self._answers)}

    @property
    def total(self) -> int | None:
        """See :class:`AnswerSource`."""
        return len(self._answers) - self._first

    @property
    def done(self) -> int:
        """See :class:`AnswerSource`."""
        return self._done

    @property
    def gone(self) -> int:
        """See :class:`AnswerSource`; a file has no retention."""
        return 0

    async def batches(self) -> AsyncIterator[list[Record]]:
        """See :class:`AnswerSource`."""
        for start in range(self._first, len(self._answers), FILE_RECORDS):
            part = self._answers[start : start + FILE_RECORDS]
            self._done += len(part)
            yield [_record(answer, start + number) for number, answer in enumerate(part)]

    async def commit(self, progress: Offsets) -> None:
        """See :class:`AnswerSource`; a file has no consumer groups."""

    async def close(self) -> None:
        """See :class:`AnswerSource`; the file is closed already."""


def _record(answer: GeneratedAnswer, line: int) -> Record:
    value = answer.model_dump_json(exclude_unset=True).encode()
    timestamp = answer.completed_at.timestamp()
    return Record(
        ANSWERS_GENERATED.name,
        0,
        line,
        record_key(answer.tenant, answer.answer_id).encode(),
        value,
        timestamp=timestamp,
    )


def _placed(topic: Topic, offsets: Mapping[int, int]) -> dict[tuple[str, int], int]:
    return {(topic.name, partition): offset for partition, offset in offsets.items()}
