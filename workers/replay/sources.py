"""Where the answers of a replay come from: the topic, an archive, or a file.

All give records in the order of their partitions and say how far they have come, so that a replay that
was interrupted goes on behind what is stored, up to the bound of its beginning.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.topics import ANSWERS_GENERATED, Topic
from workers.delivery.records import Record
from workers.gateways.files import read_events
from workers.replay.archive import Archive
from workers.replay.options import ReplayOptions
from workers.replay.reading import BoundedReader
from workers.settings import Settings

FILE_RECORDS = 64
"""Answers of a file that are handed on at once."""

Offsets = dict[int, int]
"""By partition."""


class AnswerSource(Protocol):
    """A bounded stream of records of ``answers.generated``."""

    @property
    def bounds(self) -> Offsets:
        """The offset behind the last one that is read, of each partition; as far as it is known yet."""

    @property
    def total(self) -> int | None:
        """Offsets to be read, if that is known yet."""

    @property
    def done(self) -> int:
        """Records read so far."""

    @property
    def gone(self) -> int:
        """Offsets that were asked for and are there no longer."""

    def batches(self) -> AsyncIterator[list[Record]]:
        """Records of one partition at a time; each batch holds at least one."""

    async def commit(self, progress: Offsets) -> None:
        """Tell others how far it is, where there is a place for that."""

    async def close(self) -> None:
        """Close what is open."""


class TopicSource:
    """The topic itself, in a group of its own.

    Args:
        settings: names and credentials.
        bootstrap_servers: host:port, comma separated.
        options: what is asked for.
        progress: first offsets of a replay that goes on.
        bounds: its bounds.
        topic: answers.generated, or what was made of it.
        group: consumer group that shows how far it is.
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
            BrokerUnavailable: the broker does not answer.
        """
        return self._reader.batches()

    async def commit(self, progress: Offsets) -> None:
        """See :class:`AnswerSource`.

        Raises:
            BrokerUnavailable: the broker does not confirm.
        """
        await self._reader.commit(_placed(self._topic, progress))

    async def close(self) -> None:
        """See :class:`AnswerSource`."""
        await self._reader.close()


class ArchiveSource:
    """An archive of the topic.

    Args:
        folder: of the archive.
        progress: first offsets of a replay that goes on.
        bounds: its bounds.
        topic: answers.generated, or what was made of it.

    Raises:
        ArchiveUnusable: there is no such archive.
    """

    def __init__(self, folder: Path, progress: Offsets, bounds: Offsets, topic: Topic = ANSWERS_GENERATED) -> None:
        self._archive = Archive(folder)
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
        """See :class:`AnswerSource`: nothing goes from here by itself."""
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
        """See :class:`AnswerSource`: an archive knows no readers."""

    async def close(self) -> None:
        """See :class:`AnswerSource`: each file is closed when it is read."""


class FileSource:
    """A file of answers, or of enriched ones; a line's number is its offset.

    Args:
        path: JSON lines or one document, plain or gzip.
        progress: first line of a replay that goes on.

    Raises:
        TouchstoneError: it cannot be read, or a line is no answer.
    """

    def __init__(self, path: str, progress: Offsets) -> None:
        self._first = progress.get(0, 0)
        events = list(read_events(path))
        self.stored = {event.answer_id: event for event in events if isinstance(event, EnrichedAnswer)}
        """What the file knows of how its answers were judged."""
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
        """See :class:`AnswerSource`: nothing goes from here by itself."""
        return 0

    async def batches(self) -> AsyncIterator[list[Record]]:
        """See :class:`AnswerSource`."""
        for start in range(self._first, len(self._answers), FILE_RECORDS):
            part = self._answers[start : start + FILE_RECORDS]
            self._done += len(part)
            yield [_record(answer, start + number) for number, answer in enumerate(part)]

    async def commit(self, progress: Offsets) -> None:
        """See :class:`AnswerSource`: a file knows no readers."""

    async def close(self) -> None:
        """See :class:`AnswerSource`: it is closed already."""


def _record(answer: GeneratedAnswer, line: int) -> Record:
    value = answer.model_dump_json(exclude_unset=True).encode()
    timestamp = answer.completed_at.timestamp()
    return Record(ANSWERS_GENERATED.name, 0, line, answer.answer_id.encode(), value, timestamp=timestamp)


def _placed(topic: Topic, offsets: Mapping[int, int]) -> dict[tuple[str, int], int]:
    return {(topic.name, partition): offset for partition, offset in offsets.items()}
