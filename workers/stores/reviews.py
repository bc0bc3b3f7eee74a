"""ClickHouse: the review queue as rows that agents write, and the questions that it answers.

Rows are a projection of the topics and a second or two behind them; what must not be
overlooked meanwhile (a decision just made, a lock) is known elsewhere (``workers.review``).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import orjson
from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from schemas.base import RiskLevel
from schemas.review import POLICY, ReviewDecision, ReviewRequest
from workers.delivery.errors import StoreUnavailable
from workers.steps.rows import MAX_TITLE
from workers.stores.feedback import without_zone

QueueState = Literal["open", "decided", "second"]

MAX_HISTORY = 200
"""Most events and decisions of one review that are told."""
MAX_PAIRS = 5_000
"""Most pairs of first and second reviews that agreement is computed of, the latest."""

RISKS: Mapping[RiskLevel, tuple[RiskLevel, ...]] = {
    "low": ("low", "medium", "high"), "medium": ("medium", "high"), "high": ("high",),
}  # fmt: skip
"""Levels from each one on."""

_QUEUE, _DEADLINE = "if(moved_to = '', queue, moved_to)", "if(moved_to = '', deadline_at, moved_deadline)"
_PLACE = (
    "review_id, answer_id, tenant, rank, state, queue, held, risk_mode, reasons, signals, hallucination_risk,"
    " grounding_score, gate_score, priority, model_id, title, completed_at, requested_at, deadline_at, decision_id,"
    " action, decided_by, decided_at"
)
_ASKED = (
    "review_id, queue, held, risk_mode, reasons, signals, hallucination_risk, grounding_score, gate_score, priority,"
    " requested_at, deadline_at"
)
_ESCALATED = (
    "(SELECT review_id, argMax(queue, occurred_at) AS moved_to, argMax(deadline_at, occurred_at) AS moved_deadline"
    " FROM {database}.review_events WHERE kind = 'escalated'{which} GROUP BY review_id)"
)
# Nobody has decided what was withdrawn: it stands behind all that was.
_DECIDED = "ifNull(decided_at, toDateTime64(0, 3, 'UTC'))"
# The first 32 bits of a UUIDv5 are digits of a digest: a sample that every process draws alike.
_SAMPLED = "reinterpretAsUInt32(reverse(unhex(substring(q.review_id, 1, 8)))) < {share:Float64} * 4294967296"


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """What part of the queue is asked for; ``None`` for no matter what.

    Attributes:
        tenants: whose requests; empty for all.
        model: who wrote the answer.
        signal: a failure signal among those of the answer.
        reason: a reason of the decision.
        queue: which queue.
        min_risk: the lowest level.
        max_score: the highest gate score; a score that is not known counts as below.
        state: open, decided, or waiting for a second review.
    """

    tenants: tuple[str, ...] = ()
    model: str | None = None
    signal: str | None = None
    reason: str | None = None
    queue: str | None = None
    min_risk: RiskLevel | None = None
    max_score: float | None = None
    state: QueueState = "open"


@dataclass(frozen=True, slots=True)
class QueueCursor:
    """Where a page ended: the order of the queue is priority, then age."""

    priority: float
    requested_at: datetime
    review_id: str


@dataclass(frozen=True, slots=True)
class DecidedCursor:
    """Where a page of decided requests ended: their order is the time of the decision, 1970 where there is none."""

    decided_at: datetime
    review_id: str


@dataclass(frozen=True, slots=True)
class Sample:
    """What is reviewed a second time.

    Attributes:
        reviewer: who asks; never the one who has decided.
        share: of all reviews that are sampled.
        since: decided after this.
    """

    reviewer: str
    share: float
    since: datetime


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """One request's place in the queue, or how it left it."""

    review_id: str
    answer_id: str
    tenant: str
    rank: int
    state: str
    queue: str
    held: bool
    risk_mode: str
    reasons: list[str]
    signals: list[str]
    hallucination_risk: RiskLevel | None
    grounding_score: float | None
    gate_score: float | None
    priority: float
    model_id: str
    title: str
    completed_at: datetime
    requested_at: datetime
    deadline_at: datetime | None
    decision_id: str
    action: str
    decided_by: str
    decided_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided."""
        return self.state == "open"


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """How the queue stands.

    Attributes:
        open: requests that nobody has decided.
        held: of those, how many readers wait for.
        oldest_at: when the oldest open one was requested.
        decided: decisions of people since the time asked for.
        by_policy: decisions of deadlines since then.
        median_seconds: of active review, since then; ``None`` without any.
    """

    open: int
    held: int
    oldest_at: datetime | None
    decided: int
    by_policy: int
    median_seconds: float | None


class ReviewStore:
    """Reads what agents have written of reviews.

    Args:
        client: connected client.
        database: where the tables are.
    """

    def __init__(self, client: AsyncClient, database: str) -> None:
        self._client = client
        self._database = database

    async def page(
        self,
        filters: QueueFilters,
        *,
        limit: int,
        after: QueueCursor | None = None,
        without: Sequence[str] = (),
        skipped_by: str | None = None,
        skipped_since: datetime | None = None,
    ) -> list[QueuePlace]:
        """Open requests by risk and age.

        Args:
            filters: which ones; of state ``open``.
            limit: most of them.
            after: where the page before ended.
            without: requests that are known to be decided though their rows do not say so yet.
            skipped_by: leave out what this reviewer has skipped,
            skipped_since: since then.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        conditions, parameters = self._conditions(filters)
        if after is not None:
            conditions.append(
                "(-priority, requested_at, q.review_id) > (-{priority:Float64},"
                " {requested:DateTime64(3, 'UTC')}, {last:String})"
            )
            parameters |= {
                "priority": after.priority,
                "requested": without_zone(after.requested_at),
                "last": after.review_id,
            }
        if without:
            conditions.append("q.review_id NOT IN {without:Array(String)}")
            parameters["without"] = list(without)
        if skipped_by is not None and skipped_since is not None:
            conditions.append(self._not_skipped())
            parameters |= {"reviewer": skipped_by, "skipped": without_zone(skipped_since)}
        return await self._places(conditions, parameters, "priority DESC, requested_at, q.review_id", limit)

    async def decided(
        self, filters: QueueFilters, *, limit: int, after: DecidedCursor | None = None
    ) -> list[QueuePlace]:
        """Decided requests, the latest first.

        Args:
            filters: which ones; of state ``decided``.
            limit: most of them.
            after: where the page before ended.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        conditions, parameters = self._conditions(filters)
        _begin_after(after, "<", conditions, parameters)
        return await self._places(conditions, parameters, f"{_DECIDED} DESC, q.review_id", limit)

    async def for_second_review(
        self,
        filters: QueueFilters,
        sample: Sample,
        *,
        limit: int,
        after: DecidedCursor | None = None,
        review_id: str | None = None,
        skipped_since: datetime | None = None,
    ) -> list[QueuePlace]:
        """Requests that a person has decided and this one is to decide once more, the oldest decision first.

        Args:
            filters: which ones; of state ``second``.
            sample: for whom, and how many of all.
            limit: most of them.
            after: where the page before ended.
            review_id: only this one.
            skipped_since: leave out what the one who asks has skipped since then.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        conditions, parameters = self._sampled(filters, sample)
        _begin_after(after, ">", conditions, parameters)
        if skipped_since is not None:
            conditions.append(self._not_skipped())
            parameters["skipped"] = without_zone(skipped_since)
        if review_id is not None:
            conditions.append("q.review_id = {review:String}")
            parameters["review"] = review_id
        return await self._places(conditions, parameters, f"{_DECIDED}, q.review_id", limit)

    async def place(self, review_id: str) -> QueuePlace | None:
        """One request's place; ``None`` where nobody has asked for such a review."""
        found = await self._named([review_id])
        return found[0] if found else None

    async def count(self, filters: QueueFilters, sample: Sample | None = None) -> int:
        """How many requests fit the filters, and the sample if there is one."""
        conditions, parameters = self._conditions(filters) if sample is None else self._sampled(filters, sample)
        source = self._source(conditions)
        rows = await self._rows(f"SELECT count() AS number FROM {source} WHERE {' AND '.join(conditions)}", parameters)
        return int(rows[0]["number"])

    async def overdue(self, now: datetime, limit: int) -> list[QueuePlace]:
        """Open requests whose deadline has passed, the longest first."""
        return await self._places(
            ["state = 'open'", _DEADLINE + " <= {now:DateTime64(3, 'UTC')}"],
            {"now": without_zone(now)},
            f"{_DEADLINE}, q.review_id",
            limit,
        )

    async def requests(self, review_ids: Sequence[str]) -> dict[str, ReviewRequest]:
        """What was asked for, by review; the most complete result of each."""
        rows = await self._rows(
            f"SELECT query, answer, request FROM {self._database}.reviews WHERE review_id IN {{reviews:Array(String)}}"
            " ORDER BY rank DESC LIMIT 1 BY review_id",
            {"reviews": list(review_ids)},
        )
        found = [
            ReviewRequest.model_validate(
                orjson.loads(row["request"]) | {"query": row["query"], "answer": row["answer"]}
            )
            for row in rows
            if row["request"]
        ]
        return {request.review_id: request for request in found}

    async def final_decisions(
        self, since: datetime, *, tenant: str = "", after: str = "", limit: int = 200
    ) -> list[tuple[ReviewDecision, str]]:
        """Final decisions in no order of time, page by page, each with the name of its place.

        Args:
            since: made then or later.
            tenant: of this one; of all if empty.
            after: place of the last one of the page before.
            limit: most of them.
        """
        rows = await self._rows(
            f"SELECT review_id, decision FROM {self._database}.review_decisions FINAL WHERE ruling = 'final'"
            " AND decided_at >= {since:DateTime64(3, 'UTC')} AND review_id > {after:String}"
            " AND (tenant = {tenant:String} OR {tenant:String} = '') ORDER BY review_id LIMIT {limit:UInt32}",
            {"since": without_zone(since), "after": after, "tenant": tenant, "limit": limit},
        )
        return [(_decision(row["decision"]), row["review_id"]) for row in rows]

    async def claims(self, tenant: str, answer_id: str, completed_at: datetime) -> list[dict[str, Any]]:
        """All claims of an answer in their order, with verdicts and evidence."""
        return await self._rows(
            "SELECT claim_id, start, end, text, kind, hedged, verdict, score, mismatches, chunk_id, evidence_start,"
            f" evidence_end, evidence, primary_number, conflicting, verifier_score FROM {self._database}.claims FINAL"
            " WHERE tenant = {tenant:String} AND toDate(completed_at) = {day:Date} AND answer_id = {answer:String}"
            " AND run = 'live' ORDER BY start, end",
            {"tenant": tenant, "answer": answer_id, "day": completed_at.astimezone(UTC).date()},
        )

    async def history(self, review_id: str) -> list[dict[str, Any]]:
        """What has happened to a request, in order of time: kind, by, at, detail."""
        return await self._rows(
            "SELECT kind, by, at, detail FROM ("
            f" SELECT kind, reviewer AS by, occurred_at AS at, queue AS detail FROM {self._database}.review_events FINAL"
            " WHERE review_id = {review:String} UNION ALL"
            " SELECT concat(action, if(ruling IN ('final', 'vote'), '', concat(' (', ruling, ')'))), decided_by,"
            f" decided_at, reason FROM {self._database}.review_decisions FINAL WHERE review_id = {{review:String}})"
            f" ORDER BY at, kind, by LIMIT {MAX_HISTORY}",
            {"review": review_id},
        )

    async def figures(self, tenants: Sequence[str], since: datetime) -> QueueFigures:
        """How the queue stands, of some tenants or (empty) of all."""
        ours = "(empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)})"
        parameters = {"tenants": list(tenants), "since": without_zone(since)}
        queue = await self._rows(
            "SELECT countIf(state = 'open') AS open, countIf(state = 'open' AND held) AS held,"
            " minOrNullIf(requested_at, state = 'open') AS oldest"
            f" FROM {self._database}.review_queue FINAL WHERE {ours}",
            parameters,
        )
        decisions = await self._rows(
            f"SELECT countIf(decided_by != '{POLICY}' AND ruling = 'final') AS decided,"
            f" countIf(decided_by = '{POLICY}' AND ruling = 'final') AS by_policy,"
            f" quantileExactOrNullIf(0.5)(review_duration, decided_by != '{POLICY}' AND review_duration > 0) AS median"
            f" FROM {self._database}.review_decisions FINAL WHERE {ours} AND decided_at >= {{since:DateTime64(3, 'UTC')}}",
            parameters,
        )
        return QueueFigures(
            open=queue[0]["open"],
            held=queue[0]["held"],
            oldest_at=_aware(queue[0]["oldest"]),
            decided=decisions[0]["decided"],
            by_policy=decisions[0]["by_policy"],
            median_seconds=decisions[0]["median"],
        )

    async def pairs(self, tenants: Sequence[str]) -> list[tuple[str, str]]:
        """First and second decision of each review that has both, the latest of them."""
        rows = await self._rows(
            "SELECT anyIf(action, ruling = 'final') AS first, anyIf(action, ruling = 'second') AS second"
            f" FROM {self._database}.review_decisions FINAL"
            " WHERE empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)}"
            " GROUP BY review_id HAVING countIf(ruling = 'final') > 0 AND countIf(ruling = 'second') > 0"
            f" ORDER BY max(decided_at) DESC LIMIT {MAX_PAIRS}",
            {"tenants": list(tenants)},
        )
        return [(row["first"], row["second"]) for row in rows]

    def _sampled(self, filters: QueueFilters, sample: Sample) -> tuple[list[str], dict[str, Any]]:
        conditions, parameters = self._conditions(filters)
        conditions += [
            "decided_by NOT IN {others:Array(String)}",
            "decided_at > {since:DateTime64(3, 'UTC')}",
            _SAMPLED,
            f"q.review_id NOT IN (SELECT review_id FROM {self._database}.review_decisions WHERE ruling = 'second')",
            # Who has voted or come too late has seen it.
            f"q.review_id NOT IN (SELECT review_id FROM {self._database}.review_decisions"
            " WHERE decided_by = {reviewer:String})",
        ]
        return conditions, parameters | {
            "others": ["", POLICY, sample.reviewer],
            "reviewer": sample.reviewer,
            "since": without_zone(sample.since),
            "share": sample.share,
        }

    async def _places(
        self, conditions: Sequence[str], parameters: Mapping[str, Any], order: str, limit: int
    ) -> list[QueuePlace]:
        """Places in an order: first which ones, of the columns that this takes; then those few whole."""
        chosen = await self._rows(
            f"SELECT q.review_id AS review_id FROM {self._source([*conditions, order])}"
            f" WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT {limit}",
            parameters,
        )
        return await self._named([row["review_id"] for row in chosen])

    async def _named(self, ids: Sequence[str]) -> list[QueuePlace]:
        """The places of some requests, in that order.

        Without FINAL, which reads much around them: of each the row with the highest rank.
        """
        if not ids:
            return []
        parameters = {"ids": list(ids)}
        which = " AND review_id IN {ids:Array(String)}"
        rows, moves = await asyncio.gather(
            self._rows(
                f"SELECT {_PLACE} FROM {self._database}.review_queue WHERE review_id IN {{ids:Array(String)}}"
                " ORDER BY rank DESC LIMIT 1 BY review_id",
                parameters,
            ),
            self._rows(f"SELECT * FROM {_ESCALATED.format(database=self._database, which=which)}", parameters),
        )
        asked = await self._asked([row["review_id"] for row in rows if row["state"] != "open"])
        moved = {row["review_id"]: {"queue": row["moved_to"], "deadline_at": row["moved_deadline"]} for row in moves}
        places = {
            row["review_id"]: _place(row | asked.get(row["review_id"], {}) | moved.get(row["review_id"], {}))
            for row in rows
        }
        return [places[review_id] for review_id in ids if review_id in places]

    async def _asked(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What requests said of themselves; the rows of their decisions know nothing of it."""
        if not ids:
            return {}
        rows = await self._rows(
            f"SELECT {_ASKED}, leftUTF8(query, {MAX_TITLE}) AS title FROM {self._database}.reviews"
            " WHERE review_id IN {ids:Array(String)} ORDER BY rank DESC LIMIT 1 BY review_id",
            {"ids": list(ids)},
        )
        return {row["review_id"]: row for row in rows}

    def _conditions(self, filters: QueueFilters) -> tuple[list[str], dict[str, Any]]:
        of_place, of_request = ["state = 'open'" if filters.state == "open" else "state != 'open'"], list[str]()
        parameters: dict[str, Any] = {}

        def add(conditions: list[str], condition: str, name: str, value: object) -> None:
            if value is not None:
                conditions.append(condition)
                parameters[name] = value

        add(of_place, "tenant IN {tenants:Array(String)}", "tenants", list(filters.tenants) or None)
        add(of_place, "model_id = {model:String}", "model", filters.model)
        add(of_request, "has(signals, {signal:String})", "signal", filters.signal)
        add(of_request, "has(reasons, {reason:String})", "reason", filters.reason)
        risks = list(RISKS[filters.min_risk]) if filters.min_risk else None
        add(of_request, "hallucination_risk IN {risks:Array(String)}", "risks", risks)
        add(of_request, "ifNull(gate_score, 0) <= {score:Float64}", "score", filters.max_score)
        if filters.state == "open":
            add(of_place, _QUEUE + " = {queue:String}", "queue", filters.queue)
            return of_place + of_request, parameters
        # The place was replaced by that of a decision, which knows nothing of this.
        first = self._of_requests(["queue = {queue:String}"])
        add(of_place, f"(moved_to = {{queue:String}} OR moved_to = '' AND {first})", "queue", filters.queue)
        return of_place + ([self._of_requests(of_request)] if of_request else []), parameters

    def _of_requests(self, conditions: Sequence[str]) -> str:
        # The most complete result of each, as everywhere.
        best = (
            f"(SELECT review_id, queue, reasons, signals, hallucination_risk, gate_score FROM {self._database}.reviews"
            " ORDER BY rank DESC LIMIT 1 BY review_id)"
        )
        asked = f"SELECT review_id FROM {best} WHERE {' AND '.join(conditions)}"
        return f"q.review_id IN ({asked})"

    def _not_skipped(self) -> str:
        return (
            f"q.review_id NOT IN (SELECT review_id FROM {self._database}.review_events WHERE kind = 'skipped'"
            " AND reviewer = {reviewer:String} AND occurred_at > {skipped:DateTime64(3, 'UTC')})"
        )

    def _source(self, used: Sequence[str]) -> str:
        """The queue; with where each request was moved to only if something asks for it."""
        queue = f"{self._database}.review_queue AS q FINAL"
        if not any("moved_to" in part for part in used):
            return queue
        return f"{queue} LEFT JOIN {_ESCALATED.format(database=self._database, which='')} AS e USING review_id"

    async def _rows(self, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        try:
            result = await self._client.query(statement, parameters=dict(parameters))
        except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise StoreUnavailable(f"ClickHouse did not answer about reviews ({type(error).__name__})") from error
        return list(result.named_results())


def _begin_after(
    cursor: DecidedCursor | None, later: Literal["<", ">"], conditions: list[str], parameters: dict[str, Any]
) -> None:
    """Let a list by the time of the decision begin behind a cursor."""
    if cursor is not None:
        time = "{decided:DateTime64(3, 'UTC')}"
        conditions.append(f"({_DECIDED} {later} {time} OR {_DECIDED} = {time} AND q.review_id > {{last:String}})")
        parameters |= {"decided": without_zone(cursor.decided_at), "last": cursor.review_id}


def _place(row: Mapping[str, Any]) -> QueuePlace:
    times = {name: _aware(row[name]) for name in ("completed_at", "requested_at", "deadline_at", "decided_at")}
    return QueuePlace(**{name: row[name] for name in QueuePlace.__slots__} | times)


def _decision(content: str) -> ReviewDecision:
    # The answer itself is not kept with every decision on it.
    return ReviewDecision.model_validate({"original_answer": ""} | orjson.loads(content))


def _aware(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)
