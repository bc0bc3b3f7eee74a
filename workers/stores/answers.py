"""Answers in ClickHouse as people look at them: one with all that belongs to it, and lists of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from schemas.identifiers import fact_id
from workers.stores.feedback import without_zone
from workers.stores.reading import Reading, Row

FOUND = """
SELECT * FROM {database}.answers FINAL
WHERE answer_id = {{answer_id:String}} AND run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
ORDER BY rank DESC, completed_at DESC LIMIT 1
"""

# The first three columns of these tables' keys, so that one granule or two are read.
OF_ANSWER = """
tenant = {{tenant:String}} AND toDate(completed_at) = toDate({{completed_at:DateTime64(3, 'UTC')}})
AND answer_id = {{answer_id:String}}
"""
TRACES = """
SELECT tenant, answer_id, argMax(trace_id, rank) AS trace_id FROM {database}.answers
WHERE run = 'live' AND tenant IN {{tenants:Array(String)}} AND answer_id IN {{answer_ids:Array(String)}}
GROUP BY tenant, answer_id
"""
CLAIMS = f"SELECT * FROM {{database}}.claims FINAL WHERE {OF_ANSWER} AND run = {{{{run:String}}}} ORDER BY start, end, claim_id"
ALERTS = f"SELECT * FROM {{database}}.alerts FINAL WHERE {OF_ANSWER} ORDER BY raised_at, alert_type"
REVIEWS = """
SELECT state, held, reasons, requested_at, deadline_at, action, decided_by, decided_at
FROM {database}.review_queue FINAL WHERE review_id = {{review_id:String}}
"""
DECISIONS = """
SELECT ruling, action, decided_by, reason, decided_at FROM {database}.review_decisions FINAL
WHERE review_id = {{review_id:String}} ORDER BY decided_at, decision_id
"""
REVIEW_EVENTS = """
SELECT kind, reviewer, queue, occurred_at FROM {database}.review_events FINAL
WHERE review_id = {{review_id:String}} ORDER BY occurred_at, event_id
"""
CITATIONS = """
SELECT * FROM {database}.citations FINAL
WHERE tenant = {{tenant:String}} AND answer_id = {{answer_id:String}} AND run = {{run:String}}
ORDER BY valid DESC, number, citation_id
"""
FEEDBACK = """
SELECT event FROM {database}.feedback FINAL
WHERE answer_id = {{answer_id:String}} AND tenant = {{tenant:String}} ORDER BY occurred_at, feedback_id LIMIT 500
"""
REWARD = "SELECT * FROM {database}.rewards FINAL WHERE answer_id = {{answer_id:String}} AND tenant = {{tenant:String}}"

MAX_TEXT = 300
"""Code points of query and answer in a list."""

LISTED = """
SELECT answer_id, tenant, completed_at, toUnixTimestamp64Milli(completed_at) AS completed_ms,
       left(query, {{shown:UInt32}}) AS query, left(answer, {{shown:UInt32}}) AS answer, model_id, query_type, state, review, degraded,
       hallucination_risk, grounding_score, gate_score, quality_score, claims_total, claims_supported,
       claims_contradicted, claims_unsupported, reasons
FROM {database}.answers FINAL
WHERE run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND ({{text:String}} = '' OR positionCaseInsensitiveUTF8(query, {{text:String}}) > 0
       OR positionCaseInsensitiveUTF8(answer, {{text:String}}) > 0 OR answer_id = {{text:String}})
  AND ({{model:String}} = '' OR model_id = {{model:String}})
  AND ({{risk:String}} = '' OR hallucination_risk = {{risk:String}})
  AND ({{state:String}} = '' OR state = {{state:String}})
  AND completed_at >= {{since:DateTime64(3, 'UTC')}} AND completed_at < {{until:DateTime64(3, 'UTC')}}
  AND ({{after:String}} = '' OR (completed_at, answer_id) < (fromUnixTimestamp64Milli({{after_ms:Int64}}, 'UTC'), {{after:String}}))
ORDER BY completed_at DESC, answer_id DESC
LIMIT {{limit:UInt32}}
"""

AUDIT = """
SELECT response_id, tenant, completed_at, toUnixTimestamp64Milli(completed_at) AS completed_ms, citations,
       citation_count, invalid_references, grounding_score, recommendation_coverage, ungrounded_claims, state,
       response_seconds, grounding_seconds, validated_at, pipeline_version
FROM {database}.citation_logs FINAL
WHERE run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND ({{below:Float64}} < 0 OR grounding_score < {{below:Float64}})
  AND (NOT {{only_invalid:Bool}} OR invalid_references != '[]')
  AND completed_at >= {{since:DateTime64(3, 'UTC')}} AND completed_at < {{until:DateTime64(3, 'UTC')}}
  AND ({{after:String}} = '' OR (completed_at, response_id) < (fromUnixTimestamp64Milli({{after_ms:Int64}}, 'UTC'), {{after:String}}))
ORDER BY completed_at DESC, response_id DESC
LIMIT {{limit:UInt32}}
"""

ACCESSES = """
SELECT access_id, at, toUnixTimestamp64Milli(at) AS at_ms, who, via, what, tenant, answers
FROM {database}.accesses FINAL
WHERE (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND ({{answer_id:String}} = '' OR has(answers, {{answer_id:String}}))
  AND at >= {{since:DateTime64(3, 'UTC')}} AND at < {{until:DateTime64(3, 'UTC')}}
  AND ({{after:String}} = '' OR (at, access_id) < (fromUnixTimestamp64Milli({{after_ms:Int64}}, 'UTC'), {{after:String}}))
ORDER BY at DESC, access_id DESC
LIMIT {{limit:UInt32}}
"""

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list goes on: behind this row.

    Attributes:
        milliseconds: its time since the epoch.
        identifier: its identifier.
    """

    milliseconds: int = 0
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class Period:
    """From a time to before another one."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers; empty values choose all.

    Attributes:
        tenants: whose.
        text: found in question or answer, whatever its case, or the answer's identifier.
        model: that wrote it.
        risk: low, medium or high.
        state: what became of it.
        period: when it was complete.
    """

    tenants: Sequence[str] = ()
    text: str = ""
    model: str = ""
    risk: str = ""
    state: str = ""
    period: Period = Period()


@dataclass(slots=True)
class StoredAnswer:
    """An answer with all that ClickHouse keeps of it, as rows."""

    answer: Row
    claims: list[Row] = field(default_factory=list)
    citations: list[Row] = field(default_factory=list)
    alerts: list[Row] = field(default_factory=list)
    reviews: list[Row] = field(default_factory=list)
    decisions: list[Row] = field(default_factory=list)
    review_events: list[Row] = field(default_factory=list)
    feedback: list[Row] = field(default_factory=list)
    rewards: list[Row] = field(default_factory=list)


class AnswerStore(Reading):
    """Reads answers."""

    async def answer(self, tenants: Sequence[str], answer_id: str, run: str = "live") -> StoredAnswer | None:
        """An answer with all that belongs to it; ``None`` if there is none.

        Args:
            tenants: whose it may be; all if empty.
            answer_id: identifier.
            run: live, or a replay.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        found = await self.rows(FOUND, tenants=list(tenants), answer_id=answer_id, run=run)
        if not found:
            return None
        row = found[0]
        key = {name: row[name] for name in ("tenant", "answer_id", "run")}
        key["completed_at"] = without_zone(row["completed_at"])
        key["review_id"] = fact_id(answer_id, "review")
        statements = (CLAIMS, CITATIONS, ALERTS, REVIEWS, DECISIONS, REVIEW_EVENTS, FEEDBACK, REWARD)
        parts = await asyncio.gather(*(self.rows(statement, **key) for statement in statements))
        return StoredAnswer(row, *parts)

    async def exists(self, tenants: Sequence[str], answer_id: str) -> Row | None:
        """Tenant, model and query type of an answer; ``None`` if there is none.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        statement = FOUND.replace("SELECT *", "SELECT tenant, model_id, query_type, session_id")
        found = await self.rows(statement, tenants=list(tenants), answer_id=answer_id, run="live")
        return found[0] if found else None

    async def traces(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Traces of answers, all given as tenant and answer; those that are not known are left out.

        Returns:
            The trace's identifier, empty where the answer came without one.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        tenants, answer_ids = (sorted(set(names)) for names in zip(*answers, strict=True)) if answers else ([], [])
        rows = await self.rows(TRACES, tenants=tenants, answer_ids=answer_ids)
        return {(row["tenant"], row["answer_id"]): row["trace_id"] for row in rows}

    async def listed(self, chosen: AnswerFilter, limit: int, after: Place = Place(), run: str = "live") -> list[Row]:
        """Answers that a filter chooses, the latest first.

        Args:
            chosen: which.
            limit: at most so many.
            after: where to go on.
            run: live, or a replay.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return await self.rows(
            LISTED, run=run, shown=MAX_TEXT, tenants=list(chosen.tenants), text=chosen.text, model=chosen.model, risk=chosen.risk,
            state=chosen.state, limit=limit, **_times(chosen.period), **_place(after),
        )  # fmt: skip

    async def audit(
        self, tenants: Sequence[str], below: float | None, only_invalid: bool, period: Period, limit: int,
        after: Place = Place(),
    ) -> list[Row]:  # fmt: skip
        """Answers with their citations as they were logged (seed 004), the latest first.

        Args:
            tenants: whose; all if empty.
            below: only those with a grounding score below.
            only_invalid: only those with a reference that resolves to nothing.
            period: when the answers were complete.
            limit: at most so many.
            after: where to go on.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return await self.rows(
            AUDIT, run="live", tenants=list(tenants), below=-1.0 if below is None else below,
            only_invalid=only_invalid, limit=limit, **_times(period), **_place(after),
        )  # fmt: skip

    async def accesses(
        self, tenants: Sequence[str], answer_id: str, period: Period, limit: int, after: Place = Place()
    ) -> list[Row]:
        """Who was shown which answers, the latest first.

        Args:
            tenants: whose; all if empty.
            answer_id: only this one, unless empty.
            period: when.
            limit: at most so many.
            after: where to go on.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        return await self.rows(
            ACCESSES, tenants=list(tenants), answer_id=answer_id, limit=limit, **_times(period), **_place(after)
        )


def _times(period: Period) -> dict[str, datetime]:
    return {"since": without_zone(period.since or EARLIEST), "until": without_zone(period.until or LATEST)}


def _place(place: Place) -> dict[str, Any]:
    return {"after": place.identifier, "after_ms": place.milliseconds}
