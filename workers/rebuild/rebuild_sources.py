"""Read the source of a rebuild: records of an archive and of topics, as agents see them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from schemas.topics import Topic
from workers.archive.archive_copy import note_archived
from workers.archive.archive_files import Archive
from workers.delivery.followers.erasure_follower import ErasureRegister, read_erasures
from workers.delivery.records import Record
from workers.delivery.topics.topic_reading import BoundedReader
from workers.privacy.record_masking import Privacy
from workers.rebuild.rebuild_result import Progress, RebuildImpossible
from workers.settings import Settings
from workers.settings.addresses import Addresses

MASKER = "rebuild"
"""Name of the reader in the metric of masked values."""


ARCHIVED = "archive "
"""Prefix for the names of topics whose records came from an archive."""


class RecordSource:
    """Reads the archive first and then the topics, so that of one partition the later record comes later.

    Records that are in both are read twice, in the same order, with the same result. Records of other systems are
    masked as agents mask them. Records about erased persons and answers are left out.

    Args:
        settings: names, credentials and masking.
        addresses: address of the broker.
        archive: archive to read before the topics, if given.
        progress: called after every batch.
    """

    def __init__(self, settings: Settings, addresses: Addresses, archive: Archive | None, progress: Progress) -> None:
        self._settings = settings
        self._addresses = addresses
        self._archive = archive
        self._progress = progress
        self._privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
        self._register = ErasureRegister()
        self._ends: dict[tuple[str, int], int] = {}
        self.records: Counter[str] = Counter()
        self.erased = 0

    async def start(self) -> None:
        """Read the register of erasures.

        Raises:
            TouchstoneError: the register of erasures cannot be read.
        """
        self._register = await self._erasures()

    async def erased_meanwhile(self) -> bool:
        """Return true if an erasure was recorded since the start.

        Raises:
            TouchstoneError: the register of erasures cannot be read.
        """
        return (await self._erasures()).size > self._register.size

    def require(self, topics: Sequence[Topic]) -> None:
        """Refuse to verify a store when none of its source topics held a record.

        Args:
            topics: at least one of them must have had a record.

        Raises:
            RebuildImpossible: no record of these topics was read.
        """
        if not any(self.records[where + topic.name] for topic in topics for where in ("", ARCHIVED)):
            named = ", ".join(topic.name for topic in topics)
            where = "neither the archive nor the topics contain" if self._archive else "the topics do not contain"
            raise RebuildImpossible(
                f"there is nothing to rebuild from: {where} any record of {named}; give an archive of these "
                "topics, or send archived answers to the agents again (`touchstone archive restore`)"
            )

    async def read(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
        """Yield all records up to the current end of the topics; a second read is not counted again.

        Raises:
            TouchstoneError: the broker does not respond, or a file cannot be read.
        """
        again = any((topic.name, 0) in self._ends for topic in topics)
        async for batch in self._archived(topics):
            yield await self._taken(batch, ARCHIVED, count=not again)
        async for batch in self._live(topics, {}, count=not again):
            yield batch

    async def read_on(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
        """Yield the records that have arrived since the last read.

        Raises:
            TouchstoneError: the broker does not respond.
        """
        async for batch in self._live(topics, dict(self._ends), count=True):
            yield batch

    async def _archived(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
        if self._archive is None:
            return
        names = {topic.name for topic in topics}
        files = [file for file in self._archive.files() if file.topic in names]
        for number, file in enumerate(files, start=1):
            for batch in self._archive.read(file):
                yield batch
            self._progress("archive", number, len(files))

    async def _live(
        self, topics: Sequence[Topic], starts: dict[tuple[str, int], int], *, count: bool
    ) -> AsyncIterator[list[Record]]:
        for topic in topics:
            self._ends.setdefault((topic.name, 0), 0)  # marks the topic as read, even if it is empty
        reader = BoundedReader(self._settings, self._addresses.kafka, topics, starts)
        async for batch in reader.batches():
            if count:  # a repeated read may pass the old end; records after that end are not processed yet
                last = batch[-1]
                self._ends[last.topic, last.partition] = last.offset + 1
            yield await self._taken(batch, "", count=count)
            self._progress("topics", reader.done, reader.total)

    async def _taken(self, batch: Sequence[Record], where: str, *, count: bool) -> list[Record]:
        kept = await asyncio.to_thread(self._kept, batch) if self._privacy.is_on else self._kept(batch)
        if count:
            self.records[where + batch[0].topic] += len(batch)
            self.erased += len(batch) - len(kept)
        return kept

    def _kept(self, batch: Sequence[Record]) -> list[Record]:
        # Masked first: the register of erasures knows persons by their masked names.
        masked = [
            self._privacy.record(record, MASKER) if self._privacy.concerns(record) else record for record in batch
        ]
        return [record for record in masked if not self._register.covers(record)]

    async def _erasures(self) -> ErasureRegister:
        register = await read_erasures(self._settings, self._addresses.kafka)
        if self._archive is not None:
            note_archived(self._archive, register)
        return register
