"""Read stored results: earlier answers used by an evaluation, and reports that are not computed again.

An answer was compared with the memory of its time, which has changed since. A replay therefore takes the earlier
answers from the quality report in ``answers.enriched``, and complete reports of agents that do not run again. The
results are kept in a temporary file, because there may be as many as answers.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import from_json, to_json

from schemas.answers import GeneratedAnswer
from schemas.base import Part
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.identifiers import DEFAULT_TENANT, record_key
from schemas.quality import EarlierAnswer, QualityReport
from schemas.reports import AgentName, Report
from workers.decision.enrichment import JUDGES
from workers.delivery.records import Record


class Stored(Part):
    """Stored results of an answer: remembered earlier answers, and reports."""

    earlier: list[EarlierAnswer] = Field(default_factory=list)
    citations: CitationReport | None = None
    grounding: GroundingReport | None = None
    quality: QualityReport | None = None

    @property
    def reports(self) -> dict[AgentName, Report]:
        """Return the reports by agent."""
        found = {"citations": self.citations, "grounding": self.grounding, "quality": self.quality}
        return {agent: report for agent in JUDGES if (report := found[agent]) is not None}


class StoredJudgements:
    """The stored results of answers by identifier; the most complete result of each.

    Args:
        agents: agents that evaluate again; reports of the others are kept.
    """

    def __init__(self, agents: Sequence[AgentName]) -> None:
        self._left_out: tuple[AgentName, ...] = tuple(agent for agent in JUDGES if agent not in agents)
        self._folder = TemporaryDirectory(prefix="touchstone-replay-")
        self._database = sqlite3.connect(Path(self._folder.name) / "stored.sqlite", check_same_thread=False)
        # A lost file is read again, so neither a journal nor waiting for the disk is needed.
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE stored (key TEXT PRIMARY KEY, rank INTEGER, known BLOB) WITHOUT ROWID;"
        )

    async def read(self, batches: AsyncIterator[list[Record]]) -> None:
        """Read all records of ``answers.enriched``; skip unreadable records.

        Raises:
            TouchstoneError: the topic cannot be read.
        """
        async for batch in batches:
            await asyncio.to_thread(self._note_all, batch)

    def note(self, enriched: EnrichedAnswer) -> None:
        """Add one result."""
        self._note(enriched.model_dump(mode="json"))

    def of(self, answer: GeneratedAnswer) -> Stored | None:
        """Return the stored results of an answer, or ``None`` if there are none."""
        key = record_key(answer.tenant, answer.answer_id)
        row = self._database.execute("SELECT known FROM stored WHERE key = ?", (key,)).fetchone()
        try:
            return None if row is None else Stored.model_validate_json(row[0])
        except ValidationError:
            # The reports belong to a version that is no longer readable.
            return None

    def close(self) -> None:
        """Remove the file."""
        self._database.close()
        self._folder.cleanup()

    def _note_all(self, batch: Sequence[Record]) -> None:
        for record in batch:
            try:
                content: dict[str, Any] = from_json(record.value or b"")
                self._note(content)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue

    def _note(self, enriched: Mapping[str, Any]) -> None:
        # Read as plain JSON: the inputs of a step are a small part of a large record.
        quality = enriched.get("quality") or {}
        known = {"earlier": (quality.get("consistency") or {}).get("earlier") or []}
        known |= {agent: enriched.get(agent) for agent in self._left_out}
        key = record_key(enriched.get("tenant", DEFAULT_TENANT), enriched["answer_id"])
        self._database.execute(
            "INSERT INTO stored VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET rank = excluded.rank, "
            "known = excluded.known WHERE excluded.rank >= rank",
            (key, int(enriched.get("rank", 0)), to_json(known)),
        )
