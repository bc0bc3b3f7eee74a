"""What judgements had from outside, and reports that are not made again: from the stored results.

An answer is compared with what was remembered at the time. Memory has changed since, so a replay
takes the same from the quality report in ``answers.enriched``; of agents that are left out, the
whole report. Kept in a temporary file, since there may be as many as answers.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import from_json, to_json

from schemas.base import Part
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.quality import EarlierAnswer, QualityReport
from schemas.reports import AgentName, Report
from workers.delivery.records import Record
from workers.steps.enrichment import JUDGES


class Stored(Part):
    """What is known of how an answer was judged: what was remembered of earlier answers, and reports."""

    earlier: list[EarlierAnswer] = Field(default_factory=list)
    citations: CitationReport | None = None
    grounding: GroundingReport | None = None
    quality: QualityReport | None = None

    @property
    def reports(self) -> dict[AgentName, Report]:
        """The reports by agent."""
        found = {"citations": self.citations, "grounding": self.grounding, "quality": self.quality}
        return {agent: report for agent in JUDGES if (report := found[agent]) is not None}


class StoredJudgements:
    """The stored results of answers, by their identifier; the most complete one of each.

    Args:
        agents: those that judge again; reports of the others are kept.
    """

    def __init__(self, agents: Sequence[AgentName]) -> None:
        self._left_out: tuple[AgentName, ...] = tuple(agent for agent in JUDGES if agent not in agents)
        self._folder = TemporaryDirectory(prefix="touchstone-replay-")
        self._database = sqlite3.connect(Path(self._folder.name) / "stored.sqlite", check_same_thread=False)
        # What is lost here is read again: neither a journal nor waiting for the disk is of use.
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE stored (answer_id TEXT PRIMARY KEY, rank INTEGER, known BLOB) WITHOUT ROWID;"
        )

    async def read(self, batches: AsyncIterator[list[Record]]) -> None:
        """Take up all records of ``answers.enriched``; one that cannot be read is none.

        Raises:
            TouchstoneError: they cannot be read.
        """
        async for batch in batches:
            await asyncio.to_thread(self._note_all, batch)

    def note(self, enriched: EnrichedAnswer) -> None:
        """Take up one result."""
        self._note(enriched.model_dump(mode="json"))

    def of(self, answer_id: str) -> Stored | None:
        """What is known of an answer, or ``None`` if nothing is."""
        row = self._database.execute("SELECT known FROM stored WHERE answer_id = ?", (answer_id,)).fetchone()
        try:
            return None if row is None else Stored.model_validate_json(row[0])
        except ValidationError:
            # Of a version whose reports are none any more.
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
        # Read as plain JSON: what a step had from outside is a small part of a large record.
        quality = enriched.get("quality") or {}
        known = {"earlier": (quality.get("consistency") or {}).get("earlier") or []}
        known |= {agent: enriched.get(agent) for agent in self._left_out}
        self._database.execute(
            "INSERT INTO stored VALUES (?, ?, ?) ON CONFLICT (answer_id) DO UPDATE SET rank = excluded.rank, "
            "known = excluded.known WHERE excluded.rank >= rank",
            (enriched["answer_id"], int(enriched["rank"]), to_json(known)),
        )
