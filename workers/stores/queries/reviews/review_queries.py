"""Query the review queue in ClickHouse.

Agents write the rows one or two seconds after the topics. ``workers.review`` keeps the state that is newer than the
rows: recent decisions and locks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic_core import from_json

from schemas.base import RiskLevel
from schemas.review import OF_PERSONS, POLICY, ReviewDecision, ReviewRequest
from workers.stores.clickhouse.row_reading import in_parameters, without_zone
from workers.stores.clickhouse.rows.review_rows import MAX_TITLE
from workers.stores.queries.claim_queries import CURRENT, OF_ANSWER, OF_TEXT
from workers.stores.queries.reviews.asked_opinions import AskedOpinionQueries
from workers.stores.queries.reviews.blind_reviews import ASKED, DUE, DUE_OF_CHOSEN, Sample, due_values
from workers.stores.queries.reviews.review_agreement_queries import ReviewAgreementQueries
from workers.stores.queries.reviews.review_queue_rows import (
    DecidedCursor,
    QueueCursor,
    QueueFigures,
    QueueFilters,
    QueueTotals,
)
from workers.stores.queries.reviews.review_team_queries import ReviewTeamQueries
from workers.stores.queries.searched_texts import holds_words, quoted_list, words_of_search
from workers.stores.tables.review_tables import QueueRow
from workers.stores.tables.table_row import select_list

MAX_HISTORY = 200
"""Maximum number of events and decisions of one review to return."""

RISKS: Mapping[RiskLevel, tuple[RiskLevel, ...]] = {
    "low": ("low", "medium", "high"), "medium": ("medium", "high"), "high": ("high",),
}  # fmt: skip
"""Levels at or above each level."""

# The first condition finds the granules by the key, the second one is exact.
_NAMED = "review_id IN {reviews:Array(String)} AND (tenant, review_id) IN {names:Array(Tuple(String, String))}"
_QUEUE, _DEADLINE = "if(moved_to = '', queue, moved_to)", "if(moved_to = '', deadline_at, moved_deadline)"
_ASKED = (
    "tenant, review_id, queue, held, risk_mode, reasons, signals, hallucination_risk, grounding_score, gate_score, priority,"
    " requested_at, deadline_at"
)
_ESCALATED = (
    "(SELECT tenant, review_id, argMax(queue, occurred_at) AS moved_to, argMax(deadline_at, occurred_at) AS moved_deadline"
    " FROM {database}.review_events WHERE kind IN ('escalated', 'resumed') AND queue != ''{which}"
    " GROUP BY tenant, review_id)"
)
# A score that is not known counts as 0; without the grounding it is the mean of few characteristics.
_SCORE = "if(has(reasons, 'grounding_not_evaluated'), 0, ifNull(gate_score, 0))"
# Withdrawn reviews have no decision: they sort last.
_DECIDED = "ifNull(decided_at, toDateTime64(0, 3, 'UTC'))"


class ReviewStore(ReviewTeamQueries, ReviewAgreementQueries, AskedOpinionQueries):
    """Store of reviews."""

    async def page(
        self,
        filters: QueueFilters,
        *,
        limit: int,
        after: QueueCursor | None = None,
        without: Sequence[str] = (),
        only: Sequence[str] | None = None,
        skipped_by: str | None = None,
        skipped_since: datetime | None = None,
        escalated_by: str | None = None,
    ) -> list[QueueRow]:
        """Return a page of open requests by risk and age.

        Args:
            filters: filter of state ``open``.
            limit: maximum number of results.
            after: end of the previous page.
            without: requests that are decided although their rows still say open.
            only: restrict to these requests; ``None`` for all.
            skipped_by: leave out requests that this reviewer skipped.
            skipped_since: start of the time in which skips count.
            escalated_by: leave out requests whose last escalation is by this reviewer.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        conditions, parameters = self._conditions(filters)
        if escalated_by is not None:
            conditions.append(self._not_escalated())
            parameters["escalator"] = escalated_by
        if after is not None:
            conditions.append(
                "(-priority, requested_at, q.review_id) > (-{priority:Float64},"
                " {requested:DateTime64(3, 'UTC')}, {last:String})"
            )
            requested = without_zone(after.requested_at)
            parameters |= {"priority": after.priority, "requested": requested, "last": after.review_id}
        conditions, parameters = _without(without, conditions, parameters)
        if only is not None:
            conditions.append("q.review_id IN {only:Array(String)}")
            parameters["only"] = list(only)
        if skipped_by is not None and skipped_since is not None:
            conditions.append(self._not_skipped())
            parameters |= {"reviewer": skipped_by, "skipped": without_zone(skipped_since)}
        return await self._places(conditions, parameters, "priority DESC, requested_at, q.review_id", limit)

    async def decided(
        self, filters: QueueFilters, sample: Sample, *, limit: int, after: DecidedCursor | None = None
    ) -> list[QueueRow]:
        """Return a page of decided requests, the latest first.

        Args:
            filters: filter of state ``decided``.
            sample: requests to leave out, because the reviewer may still review them.
            limit: maximum number of results.
            after: end of the previous page.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        conditions, parameters = self._sampled(filters, sample)
        _begin_after(after, "<", conditions, parameters)
        return await self._places(conditions, parameters, f"{_DECIDED} DESC, q.review_id", limit)

    async def for_second_review(
        self,
        filters: QueueFilters,
        sample: Sample,
        *,
        limit: int,
        after: DecidedCursor | None = None,
        review_ids: Sequence[str] = (),
        skipped_since: datetime | None = None,
        asked: bool = False,
    ) -> list[QueueRow]:
        """Return decided requests that the reviewer is to decide once more, the oldest decision first.

        Args:
            filters: filter of state ``second``.
            sample: reviewer and share of the sample.
            limit: maximum number of results.
            after: end of the previous page.
            review_ids: restrict to these reviews, if there are any.
            skipped_since: leave out requests that the reviewer has skipped since then.
            asked: restrict to requests on which somebody asked for a second opinion.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        due = ASKED if asked else DUE_OF_CHOSEN if review_ids else DUE
        conditions, parameters = self._sampled(filters, sample, due)
        _begin_after(after, ">", conditions, parameters)
        if skipped_since is not None:
            conditions.append(self._not_skipped())
            parameters["skipped"] = without_zone(skipped_since)
        if review_ids:
            conditions.append("q.review_id IN {review_ids:Array(String)}")
            parameters["review_ids"] = list(review_ids)
        return await self._places(conditions, parameters, f"{_DECIDED}, q.review_id", limit)

    async def place(self, review_id: str, tenants: Sequence[str]) -> QueueRow | None:
        """Return the place of a request of some tenants, or of any tenant if empty; ``None`` if there is none."""
        rows = await self.named_rows(
            f"SELECT DISTINCT tenant, review_id FROM {self._database}.review_queue WHERE review_id = {{review:String}}"
            " AND (empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)}) ORDER BY tenant LIMIT 1",
            {"review": review_id, "tenants": list(tenants)},
        )
        found = await self._named([(row["tenant"], row["review_id"]) for row in rows])
        return found[0] if found else None

    async def count(self, filters: QueueFilters, sample: Sample | None = None, without: Sequence[str] = ()) -> int:
        """Count the requests that match the filters, and the sample unless they are open.

        Args:
            filters: filter of any state.
            sample: sample of second reviews; ``None`` for open requests.
            without: requests that are decided although their rows still say open.
        """
        conditions, parameters = self._conditions(filters) if sample is None else self._sampled(filters, sample)
        conditions, parameters = _without(without, conditions, parameters)
        source = self._source(conditions)
        rows = await self.named_rows(
            f"SELECT count() AS number FROM {source} WHERE {' AND '.join(conditions)}", parameters
        )
        return int(rows[0]["number"])

    async def open_totals(self, filters: QueueFilters, without: Sequence[str] = ()) -> QueueTotals:
        """Return the totals of the open requests that match the filters.

        Args:
            filters: filter of state ``open``.
            without: requests that are decided although their rows still say open.
        """
        conditions, parameters = self._conditions(filters)
        conditions, parameters = _without(without, conditions, parameters)
        rows = await self.named_rows(
            "SELECT count() AS number, countIf(held) AS held, minOrNull(requested_at) AS oldest"
            f" FROM {self._source(conditions)} WHERE {' AND '.join(conditions)}",
            parameters,
        )
        return QueueTotals(number=rows[0]["number"], held=rows[0]["held"], oldest_at=_aware(rows[0]["oldest"]))

    async def overdue(self, now: datetime, limit: int) -> list[QueueRow]:
        """Return open requests whose deadline has passed, the earliest deadline first."""
        return await self._places(
            ["state = 'open'", _DEADLINE + " <= {now:DateTime64(3, 'UTC')}"],
            {"now": without_zone(now)},
            f"{_DEADLINE}, q.review_id",
            limit,
        )

    async def requests(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ReviewRequest]:
        """Return the requests by tenant and review identifier, the most complete one of each."""
        rows = await self.named_rows(
            f"SELECT query, answer, request FROM {self._database}.reviews WHERE {_NAMED}"
            " ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id",
            _names(names),
        )
        found = [
            ReviewRequest.model_validate(from_json(row["request"]) | {"query": row["query"], "answer": row["answer"]})
            for row in rows
            if row["request"]
        ]
        return {(request.tenant, request.review_id): request for request in found}

    async def final_decisions(
        self, since: datetime, *, tenant: str = "", after: tuple[str, str] = ("", ""), limit: int = 200
    ) -> list[tuple[ReviewDecision, tuple[str, str]]]:
        """Return a page of final decisions that were not withdrawn, by review, each with tenant and review identifier.

        Args:
            since: earliest time of the decision.
            tenant: tenant of the decisions; all if empty.
            after: tenant and review identifier of the last decision of the page before.
            limit: maximum number of results.
        """
        rows = await self.named_rows(
            f"SELECT tenant, review_id, decision FROM {self._database}.review_decisions FINAL WHERE ruling = 'final'"
            f" AND (tenant, review_id) NOT IN (SELECT tenant, review_id FROM {self._database}.review_decisions"
            " WHERE ruling = 'withdrawal') AND decided_at >= {since:DateTime64(3, 'UTC')}"
            " AND (review_id, tenant) > ({review:String}, {owner:String})"
            " AND (tenant = {tenant:String} OR {tenant:String} = '') ORDER BY review_id, tenant LIMIT {limit:UInt32}",
            {"since": without_zone(since), "owner": after[0], "review": after[1], "tenant": tenant, "limit": limit},
        )
        return [(_decision(row["decision"]), _name(row)) for row in rows]

    async def final_decision(self, tenant: str, review_id: str) -> ReviewDecision | None:
        """Return the final decision on a request; ``None`` if there is none, or it was withdrawn."""
        found = await self.given_decisions(tenant, review_id)
        final = {ruling: decision for ruling, decision in found if ruling != "second"}
        return final.get("final") if "withdrawal" not in final else None

    async def given_decisions(self, tenant: str, review_id: str) -> list[tuple[str, ReviewDecision]]:
        """Return the final decision on a request, its independent reviews and its withdrawal, in order of time.

        Returns:
            Pairs of the ruling (``final``, ``second`` or ``withdrawal``) and the decision, with its text if the row has it.
        """
        rows = await self.named_rows(
            f"SELECT ruling, decision, request FROM {self._database}.review_decisions FINAL WHERE review_id = {{review:String}}"
            " AND tenant = {tenant:String} AND ruling IN ('final', 'second', 'withdrawal')"
            f" ORDER BY decided_at, ruling, decision_id LIMIT {MAX_HISTORY}",
            {"review": review_id, "tenant": tenant},
        )
        return [(row["ruling"], _decision(row["decision"], row["request"])) for row in rows]

    async def claims(self, tenant: str, answer_id: str, completed_at: datetime, text: str) -> list[dict[str, Any]]:
        """Return all claims of an answer in their order, with verdicts and evidence; none once it has another text."""
        return await self.rows(
            "SELECT claim_id, start, end, text, kind, hedged, verdict, score, mismatches, chunk_id, evidence_start,"
            " evidence_end, evidence, primary_number, conflicting, verifier_score FROM {database}.claims FINAL"
            f" WHERE {OF_ANSWER} AND run = {{{{run:String}}}} AND {CURRENT} AND {OF_TEXT} ORDER BY start, end",
            text=text, tenant=tenant, answer_id=answer_id, completed_at=without_zone(completed_at), run="live",
        )  # fmt: skip

    async def later_text(self, place: QueueRow, request: ReviewRequest) -> dict[str, Any] | None:
        """Return time and state of the last text of an answer if it is another one than that of a request, and later."""
        found = await self.rows(
            "SELECT since, state FROM (SELECT argMax(enriched_at, (rank, enriched_at)) AS since,"
            " argMax(state, (rank, enriched_at)) AS state, argMax(text_key, (rank, enriched_at)) AS last,"
            " minIf(enriched_at, text_key = sipHash64({{text:String}})) AS first"
            " FROM {database}.answer_texts FINAL WHERE tenant = {{tenant:String}} AND answer_id = {{answer_id:String}})"
            " WHERE last != sipHash64({{text:String}}) AND first != 0 AND since > first",
            tenant=place.tenant, answer_id=place.answer_id, text=request.answer,
        )  # fmt: skip
        return found[0] if found else None

    async def turns(self, tenant: str, answer_id: str, completed_at: datetime) -> str:
        """Return the turns that an answer was sent with, as JSON; empty without any, or until the answer is stored."""
        found = await self.rows(
            f"SELECT turns FROM {{database}}.answers FINAL WHERE {OF_ANSWER} AND run = 'live'",
            tenant=tenant, answer_id=answer_id, completed_at=without_zone(completed_at),
        )  # fmt: skip
        return str(found[0]["turns"]) if found else ""

    async def history(self, place: QueueRow) -> list[dict[str, Any]]:
        """Return the events of a request in order of time, each with kind, by, at and detail."""
        return await self.named_rows(
            "SELECT kind, by, at, detail FROM ("
            f" SELECT kind, reviewer AS by, occurred_at AS at, if(kind IN ({quoted_list(OF_PERSONS)}), assignee,"
            " if(reason = '', queue, concat(queue, ': ', reason))) AS detail FROM "
            f"{self._database}.review_events FINAL"
            " WHERE review_id = {review:String} AND tenant = {tenant:String} UNION ALL"
            " SELECT multiIf(ruling = 'withdrawal', 'withdrawn', ruling IN ('final', 'vote'), action, concat(action, ' (', ruling, ')')), decided_by,"
            f" decided_at, reason FROM {self._database}.review_decisions FINAL"
            " WHERE review_id = {review:String} AND tenant = {tenant:String})"
            f" ORDER BY at, kind, by LIMIT {MAX_HISTORY}",
            {"review": place.review_id, "tenant": place.tenant},
        )

    async def stored_decisions(self, decision_ids: Sequence[str]) -> set[str]:
        """Return those of some identifiers whose decisions have rows."""
        statement = (
            f"SELECT DISTINCT decision_id FROM {self._database}.review_decisions"
            " WHERE decision_id IN {decisions:Array(String)}"
        )
        parts = in_parameters(decision_ids, lambda name: [name])
        found = await asyncio.gather(*(self.named_rows(statement, {"decisions": part}) for part in parts))
        return {row["decision_id"] for rows in found for row in rows}

    async def figures(self, tenants: Sequence[str], since: datetime, without: Sequence[str] = ()) -> QueueFigures:
        """Return the figures of the queue for some tenants, or for all if empty.

        Args:
            tenants: tenants of the requests.
            since: start of the time in which decisions count.
            without: requests that are decided although their rows still say open.
        """
        ours = "(empty({tenants:Array(String)}) OR tenant IN {tenants:Array(String)})"
        parameters: dict[str, Any] = {"tenants": list(tenants), "since": without_zone(since)}
        conditions, parameters = _without(without, ["state = 'open'"], parameters)
        is_open = " AND ".join(conditions)
        queued = self.named_rows(
            f"SELECT countIf({is_open}) AS open, countIf({is_open} AND held) AS held,"
            f" minOrNullIf(requested_at, {is_open}) AS oldest"
            f" FROM {self._database}.review_queue AS q FINAL WHERE {ours}",
            parameters,
        )
        made = self.named_rows(
            f"SELECT countIf(decided_by != '{POLICY}' AND ruling = 'final') AS decided,"
            f" countIf(decided_by = '{POLICY}' AND ruling = 'final') AS by_policy,"
            f" quantileExactOrNullIf(0.5)(review_duration, decided_by != '{POLICY}' AND review_duration > 0) AS median"
            f" FROM {self._database}.review_decisions FINAL WHERE {ours} AND decided_at >= "
            f"{{since:DateTime64(3, 'UTC')}}",
            parameters,
        )
        queue, decisions = await asyncio.gather(queued, made)
        return QueueFigures(
            open=queue[0]["open"], held=queue[0]["held"], oldest_at=_aware(queue[0]["oldest"]),
            decided=decisions[0]["decided"], by_policy=decisions[0]["by_policy"], median_seconds=decisions[0]["median"],
        )  # fmt: skip

    def _sampled(self, filters: QueueFilters, sample: Sample, due: str = DUE) -> tuple[list[str], dict[str, Any]]:
        """Return the conditions of requests in a sample, or of the decided ones out of it."""
        conditions, parameters = self._conditions(filters)
        due = due.format(database=self._database)
        conditions.append(due if filters.state == "second" else f"NOT {due}")
        return conditions, parameters | due_values(sample)

    async def _places(
        self, conditions: Sequence[str], parameters: Mapping[str, Any], order: str, limit: int
    ) -> list[QueueRow]:
        """Select the places of a page in two steps: identifiers from few columns, then the complete places."""
        chosen = await self.named_rows(
            f"SELECT q.tenant AS tenant, q.review_id AS review_id FROM {self._source([*conditions, order])}"
            f" WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT {limit}",
            parameters,
        )
        return await self._named([(row["tenant"], row["review_id"]) for row in chosen])

    async def _named(self, names: Sequence[tuple[str, str]]) -> list[QueueRow]:
        """Return the places of some requests, in the given order.

        The query takes the row of highest rank and does without FINAL, which reads many other rows.
        """
        if not names:
            return []
        parameters = _names(names)
        rows, moves = await asyncio.gather(
            self.named_rows(
                f"SELECT {select_list(QueueRow)} FROM {self._database}.review_queue WHERE {_NAMED}"
                " ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id",
                parameters,
            ),
            self.named_rows(
                f"SELECT * FROM {_ESCALATED.format(database=self._database, which=f' AND {_NAMED}')}", parameters
            ),
        )
        asked = await self._asked([_name(row) for row in rows if row["state"] != "open"])
        moved = {_name(row): {"queue": row["moved_to"], "deadline_at": row["moved_deadline"]} for row in moves}
        places = {
            _name(row): QueueRow.read(row | asked.get(_name(row), {}) | moved.get(_name(row), {})) for row in rows
        }
        return [places[name] for name in names if name in places]

    async def beginnings(self, names: Sequence[tuple[str, str]], length: int) -> dict[tuple[str, str], str]:
        """Return the beginnings of the answers of some requests.

        Args:
            names: tenant and review identifier of each request.
            length: maximum number of code points.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        if not names:
            return {}
        rows = await self.named_rows(
            f"SELECT tenant, review_id, leftUTF8(answer, {{length:UInt32}}) AS answer FROM {self._database}.reviews"
            f" WHERE {_NAMED} ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id",
            _names(names) | {"length": length},
        )
        return {_name(row): row["answer"] for row in rows}

    async def questions(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the beginnings of the questions of some requests."""
        return {name: row["title"] for name, row in (await self._asked(names)).items()}

    async def _asked(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the request columns that the rows of decisions lack."""
        if not names:
            return {}
        rows = await self.named_rows(
            f"SELECT {_ASKED}, leftUTF8(query, {MAX_TITLE}) AS title FROM {self._database}.reviews"
            f" WHERE {_NAMED} ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id",
            _names(names),
        )
        return {_name(row): row for row in rows}

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
        add(of_request, _SCORE + " <= {score:Float64}", "score", filters.max_score)
        # A second review is blind, also for the person of the first one.
        if filters.state != "second":
            add(of_place, self._of_assignee(filters.assignee or ""), "assignee", filters.assignee)
            add(of_place, self._of_reviewer(), "reviewer_of", filters.reviewed_by)
        add(of_place, self._not_of_people(), "not_of", list(filters.not_of) or None)
        if filters.state == "open":
            add(of_place, self._of_words(), "words", words_of_search(filters.q) if filters.q else None)
            add(of_place, _QUEUE + " = {queue:String}", "queue", filters.queue)
            return of_place + of_request, parameters
        # Rows of decisions replace the rows of places and lack these columns.
        first = self._of_requests(["queue = {queue:String}"])
        add(of_place, f"(moved_to = {{queue:String}} OR moved_to = '' AND {first})", "queue", filters.queue)
        return of_place + ([self._of_requests(of_request)] if of_request else []), parameters

    def _of_requests(self, conditions: Sequence[str]) -> str:
        # The most complete result of each request, as in the other queries.
        best = (
            f"(SELECT tenant, review_id, queue, reasons, signals, hallucination_risk, gate_score FROM {self._database}.reviews"
            " ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id)"
        )
        asked = f"SELECT tenant, review_id FROM {best} WHERE {' AND '.join(conditions)}"
        return f"(q.tenant, q.review_id) IN ({asked})"

    def _of_words(self) -> str:
        # Only texts of open requests are read, the most complete result of each.
        open_ones = f"SELECT tenant, review_id FROM {self._database}.review_queue WHERE state = 'open'"
        texts = (
            f"(SELECT tenant, review_id, query, answer FROM {self._database}.reviews WHERE (tenant, review_id) IN ({open_ones})"
            " ORDER BY rank DESC, requested_at DESC LIMIT 1 BY tenant, review_id)"
        )
        words = holds_words("query", "answer").format()
        return f"(q.tenant, q.review_id) IN (SELECT tenant, review_id FROM {texts} WHERE {words})"

    def _not_skipped(self) -> str:
        return (
            f"(q.tenant, q.review_id) NOT IN (SELECT tenant, review_id FROM {self._database}.review_events"
            " WHERE kind IN ('skipped', 'resumed') AND reviewer = {reviewer:String}"
            " AND occurred_at > {skipped:DateTime64(3, 'UTC')}"
            " GROUP BY tenant, review_id HAVING argMax(kind, occurred_at) = 'skipped')"
        )

    def _not_escalated(self) -> str:
        return (
            f"(q.tenant, q.review_id) NOT IN (SELECT tenant, review_id FROM {self._database}.review_events"
            " WHERE kind IN ('escalated', 'resumed') AND queue != '' GROUP BY tenant, review_id"
            " HAVING argMax(kind, occurred_at) = 'escalated' AND argMax(reviewer, occurred_at) = {escalator:String})"
        )

    def _source(self, used: Sequence[str]) -> str:
        """Return the FROM clause of the queue, joined with escalations only if a condition uses them."""
        queue = f"{self._database}.review_queue AS q FINAL"
        if not any("moved_to" in part for part in used):
            return queue
        return (
            f"{queue} LEFT JOIN {_ESCALATED.format(database=self._database, which='')} AS e USING (tenant, review_id)"
        )


def _begin_after(
    cursor: DecidedCursor | None, later: Literal["<", ">"], conditions: list[str], parameters: dict[str, Any]
) -> None:
    """Add the condition that starts a list of decisions after a cursor."""
    if cursor is not None:
        time = "{decided:DateTime64(3, 'UTC')}"
        conditions.append(f"({_DECIDED} {later} {time} OR {_DECIDED} = {time} AND q.review_id > {{last:String}})")
        parameters |= {"decided": without_zone(cursor.decided_at), "last": cursor.review_id}


def _without(
    review_ids: Sequence[str], conditions: Sequence[str], parameters: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Return conditions and parameters with those that leave out some requests of the queue ``q``."""
    parts = {f"without_{number}": part for number, part in enumerate(in_parameters(review_ids, lambda name: [name]))}
    left_out = [f"q.review_id NOT IN {{{name}:Array(String)}}" for name in parts]
    return [*conditions, *left_out], {**parameters, **parts}


def _names(names: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the parameters of ``_NAMED``."""
    return {"names": list(names), "reviews": [review_id for _, review_id in names]}


def _name(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["tenant"], row["review_id"]


def _decision(content: str, request: str = "") -> ReviewDecision:
    # Rows of votes, second reviews and earlier workers do not hold the answer.
    return ReviewDecision.model_validate({"original_answer": ""} | from_json(content) | from_json(request or "{}"))


def _aware(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)
