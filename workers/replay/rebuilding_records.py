"""What a store is rebuilt from: records of an archive and of topics, as agents would see them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from schemas.topics import Topic
from workers.addresses import Addresses
from workers.delivery.erasures import ErasureRegister
from workers.delivery.records import Record
from workers.privacy import Privacy
from workers.replay.archive import Archive
from workers.replay.archiving import note_archived, read_erasures
from workers.replay.reading import BoundedReader
from workers.replay.rebuilding import Progress, RebuildImpossible
from workers.settings import Settings

MASKER = "rebuild"
"""By this name the metric of masked values knows the reader."""


ARCHIVED = "archive "
"""Before the names of topics whose records came from an archive."""


class RecordSource:
    """Reads the archive first and then the topics, so that of one partition the later record comes later.

    What stands in both comes twice, in the same order, which changes nothing. Records of others are
    masked as agents mask them, and those about erased persons and answers are left out.

    Args:
        settings: names, credentials and masking.
        addresses: of the broker.
        archive: to be read before the topics, if there is one.
        progress: told of every batch.
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
        """Learn who is erased.

        Raises:
            TouchstoneError: nobody can say.
        """
        self._register = await self._erasures()

    async def erased_meanwhile(self) -> bool:
        """Whether an erasure was recorded since the start.

        Raises:
            TouchstoneError: nobody can say.
        """
        return (await self._erasures()).size > self._register.size

    def require(self, topics: Sequence[Topic]) -> None:
        """Refuse to call a store right that is compared with nothing, or with what it is not made of.

        Args:
            topics: of one of these there must be a record.

        Raises:
            RebuildImpossible: none was read.
        """
        if not any(self.records[where + topic.name] for topic in topics for where in ("", ARCHIVED)):
            named = ", ".join(topic.name for topic in topics)
            where = "neither the archive nor the topics hold" if self._archive else "the topics do not hold"
            raise RebuildImpossible(
                f"there is nothing to rebuild from: {where} any record of {named}; name an archive of these topics, or "
                "send archived answers to the agents again (`touchstone archive restore`)"
            )

    async def read(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
        """All records up to where the topics end now; read again, they are counted once.

        Raises:
            TouchstoneError: the broker does not answer, or a file cannot be read.
        """
        again = any((topic.name, 0) in self._ends for topic in topics)
        async for batch in self._archived(topics):
            yield await self._taken(batch, ARCHIVED, count=not again)
        async for batch in self._live(topics, {}, count=not again):
            yield batch

    async def read_on(self, topics: Sequence[Topic]) -> AsyncIterator[list[Record]]:
        """The records that have come since the last time.

        Raises:
            TouchstoneError: the broker does not answer.
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
            self._ends.setdefault((topic.name, 0), 0)  # read, also where nothing was there
        reader = BoundedReader(self._settings, self._addresses.kafka, topics, starts)
        async for batch in reader.batches():
            if count:  # what is read again may go further, and what is beyond has not been taken then
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
        # Masked first: where names of people are masked, the register knows them by their masks.
        masked = [
            self._privacy.record(record, MASKER) if self._privacy.concerns(record) else record for record in batch
        ]
        return [record for record in masked if not self._register.covers(record)]

    async def _erasures(self) -> ErasureRegister:
        register = await read_erasures(self._settings, self._addresses)
        if self._archive is not None:
            note_archived(self._archive, register)
        return register
