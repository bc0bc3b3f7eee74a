"""Define the result of a rebuild of a store and of its verification."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workers.errors import TouchstoneError
from workers.rebuild.rebuild_targets import Store
from workers.stores.clickhouse.staging import Differences

MENDING_ROUNDS = 3
"""Rounds that write what differs; each reads the new records of the topics first, to catch up with the agents."""

ROUNDS = 5
"""All rounds. The last rounds read and write nothing, because new records may be on their way to the store."""

SETTLING_SECONDS = 2.0
"""Pause before a round without reading: agents write their batches within a second."""

Progress = Callable[[str, int, int | None], None]
"""Callback with the name of the step, the completed amount, and the total if known."""


class RebuildImpossible(TouchstoneError):
    """The store has no source to rebuild from; the message names the expected sources."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A store after its rebuild, or before it in a dry run.

    Attributes:
        store: the store.
        records: numbers of read records, by source.
        erased: number of records left out because their person or answer is erased.
        unreadable: number of unreadable records, which agents have dead-lettered.
        refused: number of rows that the store refuses, which agents have dead-lettered.
        restored: numbers of written entries, by part.
        parts: each table or its equivalent, compared with the source.
        erased_meanwhile: true if an erasure was recorded during the run.
    """

    store: Store
    records: Mapping[str, int]
    erased: int
    unreadable: int
    refused: int
    restored: Mapping[str, int]
    parts: Mapping[str, Differences]
    erased_meanwhile: bool = False

    @property
    def is_verified(self) -> bool:
        """Return true if the store holds everything in the source and no new erasure must be applied."""
        return not self.erased_meanwhile and all(part.are_none for part in self.parts.values())
