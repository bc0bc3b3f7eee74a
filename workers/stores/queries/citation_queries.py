"""Look citations up in ClickHouse, by identifier and by source.

Two tables hold the same citations, one sorted by identifier and one by record. Either lookup
therefore reads a single granule. Rows are read without FINAL and reduced here to the best row of
each key: FINAL would read whole partitions.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.citations import CitationDetail, SourceDetail, SourceVersion
from workers.stores.clickhouse.row_reading import Reading

MAX_RELATED = 100
"""Maximum number of related citations to return."""
MAX_VERSIONS = 20
"""Maximum number of contents of one source to return."""
MAX_CITATIONS = 5_000
"""Maximum number of citations of one source to read, the latest first."""

_OPTIONAL = ("source_table", "record_id", "memory_id", "entity", "source_event")
"""Columns that hold an empty text for an absent value."""
_TIMES = ("last_updated", "created_at", "learned_at")
_PLAIN = (
    "citation_id", "answer_id", "tenant", "source_type", "chunk_id", "display_text", "excerpt", "confidence",
    "source_digest", "source_name", "source_path",
)  # fmt: skip


class CitationStore(Reading):
    """Store of citations and the contents of their sources."""

    async def citation(
        self, tenants: Sequence[str], citation_id: str, *, now: datetime, run: str = "live"
    ) -> CitationDetail | None:
        """Return a citation with its source as it was cited; ``None`` if there is none.

        Args:
            tenants: possible tenants of the citation, all if empty; citations of other tenants are not found.
            citation_id: identifier of a valid citation.
            now: for ``fetched_at``.
            run: live, or a replay.

        Raises:
            StoreUnavailable: ClickHouse did not respond.
        """
        rows = await self.named_rows(
            f"SELECT tenant, answer_id, completed_at, detail FROM {self._database}.citations_by_id WHERE "
            f"citation_id = {{citation_id:String}}"
            " AND run = {run:String} AND (empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)})"
            " ORDER BY rank DESC LIMIT 1",
            {"tenants": list(tenants), "run": run, "citation_id": citation_id},
        )
        if not rows:
            return None
        row = rows[0] | {"citation_id": citation_id} | orjson.loads(rows[0]["detail"])
        # Concurrent queries take only as long as the longer one.
        contents, related = await asyncio.gather(
            self.contents(row["tenant"], [row["source_digest"]]), self._related(row, run)
        )
        content = contents.get(row["source_digest"])
        return CitationDetail(
            **{name: row[name] for name in _PLAIN},
            **{name: row[name] or None for name in _OPTIONAL},
            **{name: row[name] and datetime.fromisoformat(row[name]).replace(tzinfo=UTC) for name in _TIMES},
            cited_at=row["completed_at"].replace(tzinfo=UTC),
            source_content=content,
            source_data=_record(content),
            related_citations=[other for other in related if other != citation_id][:MAX_RELATED],
            fetched_at=now,
        )

    async def source(
        self, tenant: str, source_type: str, record_id: str, *, now: datetime, run: str = "live"
    ) -> SourceDetail | None:
        """Return a source by its table or type and its record, with every cited content.

        Args:
            tenant: tenant of the source.
            source_type: its table, or its type where it has none.
            record_id: its record.
            now: for ``fetched_at``.
            run: live, or a replay.

        Returns:
            Source, or ``None`` if it was never cited.

        Raises:
            StoreUnavailable: ClickHouse did not respond.
        """
        rows = await self.named_rows(
            f"SELECT citation_id, answer_id, source_digest, completed_at FROM {self._database}.citations"
            " WHERE tenant = {tenant:String} AND run = {run:String}"
            " AND record_id = {record_id:String} AND (source_table = {type:String} OR source_type = {type:String})"
            " AND valid ORDER BY completed_at DESC, rank DESC, citation_id"
            f" LIMIT 1 BY citation_id LIMIT {MAX_CITATIONS}",
            {"tenant": tenant, "run": run, "record_id": record_id, "type": source_type},
        )
        if not rows:
            return None
        digests = list(dict.fromkeys(row["source_digest"] for row in rows))[:MAX_VERSIONS]
        contents = await self.contents(tenant, digests)
        return SourceDetail(
            source_type=source_type,
            record_id=record_id,
            versions=list(_versions(rows, digests, contents)),
            related_citations=[row["citation_id"] for row in rows[:MAX_RELATED]],
            answers=_answers(rows, digests),
            fetched_at=now,
        )

    async def _related(self, row: Mapping[str, Any], run: str) -> list[str]:
        """Return citations of the same record, or of the same content without one, the latest first."""
        of_record = (
            "record_id = {record_id:String} AND source_table = {source_table:String} AND source_type = "
            "{source_type:String}"
        )
        condition = of_record if row["record_id"] else "source_digest = {source_digest:String}"
        names = ("tenant", "record_id", "source_table", "source_type", "source_digest")
        found = await self.named_rows(
            f"SELECT citation_id FROM {self._database}.citations"
            f" WHERE tenant = {{tenant:String}} AND run = {{run:String}} AND {condition} AND valid"
            f" ORDER BY completed_at DESC, citation_id LIMIT 1 BY citation_id LIMIT {MAX_RELATED + 1}",
            {name: row[name] for name in names} | {"run": run},
        )
        return [other["citation_id"] for other in found]

    async def contents(self, tenant: str, digests: Sequence[str]) -> dict[str, str]:
        """Return contents of sources by digest.

        Raises:
            StoreUnavailable: ClickHouse did not respond.
        """
        rows = await self.named_rows(
            f"SELECT source_digest, content FROM {self._database}.sources WHERE tenant = {{tenant:String}}"
            " AND source_digest IN {digests:Array(String)} LIMIT 1 BY source_digest",
            {"tenant": tenant, "digests": list(digests)},
        )
        return {row["source_digest"]: row["content"] for row in rows}


def _versions(
    rows: Sequence[Mapping[str, Any]], digests: Sequence[str], contents: Mapping[str, str]
) -> Iterator[SourceVersion]:
    for digest in digests:
        times = [row["completed_at"].replace(tzinfo=UTC) for row in rows if row["source_digest"] == digest]
        yield SourceVersion(
            source_digest=digest,
            source_content=contents.get(digest),
            source_data=_record(contents.get(digest)),
            first_cited_at=min(times),
            last_cited_at=max(times),
            citations=len(times),
        )


def _answers(rows: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> list[str]:
    """Return the answers of the returned citations, and of the latest citation of each content."""
    latest = [next(row for row in rows if row["source_digest"] == digest) for digest in digests]
    shown = sorted([*rows[:MAX_RELATED], *latest], key=lambda row: row["completed_at"], reverse=True)
    return list(dict.fromkeys(row["answer_id"] for row in shown))


def _record(content: str | None) -> Any:
    """Parse a content as a record or list of records; ``None`` if it is text."""
    if content is None or content.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
