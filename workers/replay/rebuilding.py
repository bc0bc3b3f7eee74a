"""What a rebuild of a store did, and what it found afterwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workers.delivery.errors import TouchstoneError
from workers.replay.rebuilding_targets import Store
from workers.stores.staging import Differences

MENDING_ROUNDS = 3
"""Looks after which what is wrong is written, each after what the topics hold by then: agents are caught up with."""

ROUNDS = 5
"""Looks in all. The last read no further and write nothing: what came since may be on its way to the store."""

SETTLING_SECONDS = 2.0
"""Pause before such a look: agents write what they have within a second."""

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how far it is, and of how much if that is known."""


class RebuildImpossible(TouchstoneError):
    """There is nothing that the store could be rebuilt from; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A store after its rebuild, or before it in a dry run.

    Attributes:
        store: which one.
        records: what was read, by source.
        erased: records left out because their person or answer is erased.
        unreadable: records that nobody can read, which agents have dead-lettered.
        refused: rows that the store does not take, which agents have dead-lettered.
        restored: what was written, by part.
        parts: each table, or what takes its place, against the source.
        erased_meanwhile: whether an erasure was recorded while this ran.
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
        """Whether the store holds all that the source says, and nobody has to be forgotten again."""
        return not self.erased_meanwhile and all(part.are_none for part in self.parts.values())
