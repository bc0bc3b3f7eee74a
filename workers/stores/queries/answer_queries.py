"""Read answers from ClickHouse for people: one answer with all its parts, and lists of answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.identifiers import review_ids
from workers.errors import TouchstoneError
from workers.stores.clickhouse.row_reading import Reading, Row, in_parameters, optional, without_zone
from workers.stores.queries.claim_queries import CLAIMS, NOT_MOVED, OF_ANSWER
from workers.stores.queries.reviews.blind_reviews import (
    HIDDEN_ANSWERS,
    HIDDEN_OF_CHOSEN,
    Sample,
    due_values,
    not_hidden,
)
from workers.stores.queries.reviews.corrected_texts import CORRECTIONS, corrected_answers
from workers.stores.queries.reviews.judged_claims import CORRECTED_WITH_VERDICT, WITH_VERDICT
from workers.stores.queries.searched_texts import folded_sql, holds_words, without_accents, words_of_search
from workers.stores.tables.answer_tables import AlertRow, AnswerRow, AnswerTextRow, CitationRow, ScoreRow
from workers.stores.tables.feedback_tables import RewardRow
from workers.stores.tables.table_row import select_rows

_ONE = """
WHERE answer_id = {{answer_id:String}} AND run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
ORDER BY rank DESC, enriched_at DESC, completed_at DESC LIMIT 1 BY tenant
"""
FOUND = select_rows(AnswerRow) + _ONE
EXISTS = "SELECT tenant, model_id, query_type, session_id FROM {database}.answers FINAL" + _ONE

WITHDRAWAL_RANK = 200
"""Rank of the row of the queue of a withdrawn decision."""

TRACES = """
SELECT tenant, answer_id, argMax(trace_id, rank) AS trace_id FROM {database}.answers
WHERE run = 'live' AND tenant IN {{tenants:Array(String)}} AND answer_id IN {{answer_ids:Array(String)}}
GROUP BY tenant, answer_id
"""
SCORES = f"{select_rows(ScoreRow)} WHERE {OF_ANSWER} AND run = {{{{run:String}}}} ORDER BY evaluator, name"
ALERTS = f"{select_rows(AlertRow)} WHERE {OF_ANSWER} ORDER BY raised_at, alert_type"
REVIEWS = """
SELECT review_id, state, held, reasons, requested_at, deadline_at, action, decided_by, decided_at
FROM {database}.review_queue FINAL WHERE review_id IN {{review_ids:Array(String)}} AND tenant = {{tenant:String}}
"""
REQUESTS = """
SELECT request FROM {database}.reviews WHERE review_id IN {{review_ids:Array(String)}} AND tenant = {{tenant:String}}
ORDER BY rank DESC, requested_at DESC LIMIT 1
"""
TEXT_KEY = "if(request = '', 0, sipHash64(JSONExtractString(request, 'original_answer')))"
"""Hash of the text that a decision was made on; 0 if it is not known."""
DECISIONS = f"""
SELECT review_id, ruling, action, decided_by, reason, decided_at, decision, request, {TEXT_KEY} AS text_key
FROM {{database}}.review_decisions FINAL
WHERE review_id IN {{{{review_ids:Array(String)}}}} AND tenant = {{{{tenant:String}}}} ORDER BY decided_at, decision_id
"""
REVIEW_EVENTS = """
SELECT kind, reviewer, queue, assignee, undone, reason, deadline_at, occurred_at FROM {database}.review_events FINAL
WHERE review_id IN {{review_ids:Array(String)}} AND tenant = {{tenant:String}} ORDER BY occurred_at, event_id
"""
CITATIONS = f"""
{select_rows(CitationRow)}
WHERE tenant = {{{{tenant:String}}}} AND answer_id = {{{{answer_id:String}}}} AND run = {{{{run:String}}}}
  AND (enriched_at = 0 OR enriched_at = {{{{enriched_at:DateTime64(3, 'UTC')}}}})
ORDER BY valid DESC, number, citation_id
"""
FEEDBACK = """
SELECT event FROM {database}.feedback FINAL
WHERE answer_id = {{answer_id:String}} AND tenant = {{tenant:String}} ORDER BY occurred_at, feedback_id LIMIT 500
"""
TEXTS = f"""
{select_rows(AnswerTextRow)}
WHERE tenant = {{{{tenant:String}}}} AND answer_id = {{{{answer_id:String}}}} AND {{{{run:String}}}} = 'live'
ORDER BY enriched_at
"""
REWARD = select_rows(RewardRow) + " WHERE answer_id = {{answer_id:String}} AND tenant = {{tenant:String}}"

# Any row of a final decision counts, unless a withdrawal took its state back, so the queries do without FINAL.
_CLOSED = f"""FROM {{database}}.review_queue
WHERE state NOT IN ('open', 'withdrawn')
AND (rank >= {WITHDRAWAL_RANK} OR (tenant, review_id) NOT IN (
    SELECT tenant, review_id FROM {{database}}.review_queue WHERE rank >= {WITHDRAWAL_RANK}))"""
DECIDED = f"""
SELECT DISTINCT tenant, answer_id, state, rank >= {WITHDRAWAL_RANK} AS withdrawn {_CLOSED}{not_hidden(HIDDEN_OF_CHOSEN)} AND review_id IN {{{{review_ids:Array(String)}}}}
"""
HIDDEN = f"""
SELECT DISTINCT tenant, answer_id FROM {{database}}.review_queue
WHERE review_id IN {{{{review_ids:Array(String)}}}} AND (tenant, answer_id) IN {HIDDEN_OF_CHOSEN}
"""

MAX_TEXT = 300
"""Maximum number of code points of query and answer in a list."""
MAX_SEARCHED = 30_000
"""Maximum number of code points of a text that a page looks through for the words of a search."""
MAX_TURN = 2_000
"""Maximum number of code points of query and answer of an earlier turn."""

CLAIM_NUMBERS = ("claims_total", "claims_supported", "claims_contradicted", "claims_unsupported")
"""Columns with numbers of claims."""
GROUNDED = (*CLAIM_NUMBERS, "gate_score")
"""Columns that are not known without an evaluation of the grounding."""

_MATCHING = (
    """
FROM {database}.answers FINAL
WHERE run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
"""
    # Without the name of the table they would be the shortened texts of the list, which have the names of the columns.
    + optional(
        "text",
        f"""  AND (answer_id = {{{{text:String}}}} OR {holds_words("answers.query", "answers.answer")}
    OR (tenant, answer_id) IN {corrected_answers("text")})""",
    )
    + f"""{WITH_VERDICT}
  AND ({{{{model_part:String}}}} = '' OR positionCaseInsensitiveUTF8({folded_sql("model_id")}, {{{{model_part:String}}}}) > 0)
  AND ({{{{tenant_part:String}}}} = '' OR positionCaseInsensitiveUTF8({folded_sql("tenant")}, {{{{tenant_part:String}}}}) > 0)
"""
    + """
  AND ({{model:String}} = '' OR model_id = {{model:String}})
  AND ({{risk:String}} = '' OR ifNull(toString(hallucination_risk), 'none') = {{risk:String}})
"""
    + optional("user", "  AND user_id = {{user:String}}\n")
    + optional(
        "state",
        f"""  AND ({optional("reviewer", f"(tenant, answer_id) IN {HIDDEN_ANSWERS} AND state = {{{{state:String}}}} OR")}
       (state = {{{{state:String}}}} AND (tenant, answer_id) NOT IN (SELECT tenant, answer_id {_CLOSED})
        OR (tenant, answer_id) IN (SELECT tenant, answer_id {_CLOSED}
            AND (state = {{{{state:String}}}} OR {{{{state:String}}}} = 'withdrawn' AND rank >= {WITHDRAWAL_RANK}))){not_hidden()})""",
    )
    + optional(
        "seen",
        f"""  AND ({{{{seen:String}}}} = 'true') = (state IN ('released', 'warned')
       OR (tenant, answer_id) IN (SELECT tenant, answer_id FROM {{database}}.review_decisions
           WHERE ruling = 'final' AND action = 'approve'){not_hidden()}
       {optional("verdict", f"OR (tenant, answer_id) IN {CORRECTED_WITH_VERDICT}{not_hidden()}")})""",
    )
    + f"""
  AND {NOT_MOVED}
"""
    + """
  AND completed_at >= {{since:DateTime64(3, 'UTC')}} AND completed_at < {{until:DateTime64(3, 'UTC')}}
  AND enriched_at >= {{evaluated_since:DateTime64(3, 'UTC')}} AND enriched_at < {{evaluated_until:DateTime64(3, 'UTC')}}
"""
)
_SUMMARY = """
SELECT answer_id, tenant, completed_at, toUnixTimestamp64Milli(completed_at) AS completed_ms,
       leftUTF8(query, {{shown:UInt32}}) AS query, leftUTF8(answer, {{shown:UInt32}}) AS answer, model_id, query_type, state, review, degraded,
       hallucination_risk, grounding_score, gate_score, quality_score, claims_total, claims_supported,
       claims_contradicted, claims_unsupported, reasons, missing, user_id
"""
_PLACE = "fromUnixTimestamp64Milli({{after_ms:Int64}}, 'UTC'), {{after:String}}, {{after_tenant:String}}"
LISTED = f"""{_SUMMARY}{_MATCHING}
  AND ({{{{after:String}}}} = '' OR (completed_at, answer_id, tenant) < ({_PLACE}))
ORDER BY completed_at DESC, answer_id DESC, tenant DESC
LIMIT {{{{limit:UInt32}}}}
"""
LISTED_BACK = f"""{_SUMMARY}{_MATCHING}
  AND (completed_at, answer_id, tenant) > ({_PLACE})
ORDER BY completed_at, answer_id, tenant
LIMIT {{{{limit:UInt32}}}}
"""
COUNTED = f"SELECT count() AS number {_MATCHING}"
EARLIER = f"""{_SUMMARY} FROM {{database}}.answers FINAL
WHERE run = 'live' AND tenant = {{{{tenant:String}}}} AND session_id = {{{{session_id:String}}}}
  AND completed_at >= {{{{since:DateTime64(3, 'UTC')}}}}
  AND (completed_at, answer_id) < ({{{{until:DateTime64(3, 'UTC')}}}}, {{{{answer_id:String}}}})
ORDER BY completed_at DESC, answer_id DESC LIMIT {{{{limit:UInt32}}}}
"""

SESSION_DAYS = 30
MOST_TURNS = 10
"""Time before an answer, and number of turns, that are shown of its session."""

AUDIT = (
    """
SELECT response_id, tenant, completed_at, toUnixTimestamp64Milli(completed_at) AS completed_ms, citations,
       citation_count, invalid_references, grounding_score, recommendation_coverage, ungrounded_claims, state,
       response_seconds, grounding_seconds, validated_at, pipeline_version
FROM {database}.citation_logs FINAL
WHERE run = {{run:String}}
  AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND ({{below:Float64}} < 0 OR grounding_score < {{below:Float64}})
  AND (NOT {{only_invalid:Bool}} OR invalid_references != '[]')
  AND completed_at >= {{since:DateTime64(3, 'UTC')}} AND completed_at < {{until:DateTime64(3, 'UTC')}}
  AND ({{after:String}} = '' OR (completed_at, response_id, tenant) < ("""
    + _PLACE
    + """))
ORDER BY completed_at DESC, response_id DESC, tenant DESC
LIMIT {{limit:UInt32}}
"""
)

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Row after which a list continues.

    Attributes:
        milliseconds: its time since the epoch.
        identifier: its identifier.
        tenant: its tenant, in lists of rows whose identifiers two tenants may share.
    """

    milliseconds: int = 0
    identifier: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Period:
    """Period of time, without its end."""

    since: datetime | None = None
    until: datetime | None = None


EVER = Period()


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Filter on answers. Empty values choose all.

    Attributes:
        tenants: tenants of the answers.
        text: words that question, answer or correction hold, all of them, without regard to case and accents, a phrase in
            quotation marks; or the answer's identifier.
        model: model that wrote the answer.
        model_part: part of the name of the model.
        tenant_part: part of the name of the tenant.
        risk: low, medium or high; none for answers without one.
        state: state of the answer: that of its final decision, else that of its evaluation; ``withdrawn`` if it was taken
            back, which ``rejected`` includes.
        period: time of completion.
        evaluated: time of evaluation, by which the overview counts.
        verdict: verdict of at least one claim: supported, contradicted or unsupported; that of a reviewer counts before
            that of the evaluation.
        evaluation_only: the verdicts of reviewers do not count.
        seen: true if readers saw the text of the model at some time, also if it was withdrawn or rejected later, and with
            ``verdict`` also if a correction that they saw keeps a claim of it; false for the others.
        blind: requests that the searcher may still review; their answers have the state of their evaluation.
        user: user who asked, as answers have it.
    """

    tenants: Sequence[str] = ()
    text: str = ""
    model: str = ""
    risk: str = ""
    state: str = ""
    period: Period = Period()
    model_part: str = ""
    tenant_part: str = ""
    evaluated: Period = Period()
    blind: Sample | None = None
    verdict: str = ""
    seen: bool | None = None
    evaluation_only: bool = False
    user: str = ""


@dataclass(slots=True)
class StoredAnswer:
    """Answer with all its rows in ClickHouse; without those that tell its decision if it is blind.

    ``texts`` are its evaluations, the first one first; a replay has none.
    """

    answer: Row
    claims: list[Row] = field(default_factory=list)
    citations: list[Row] = field(default_factory=list)
    alerts: list[Row] = field(default_factory=list)
    reviews: list[Row] = field(default_factory=list)
    requests: list[Row] = field(default_factory=list)
    decisions: list[Row] = field(default_factory=list)
    review_events: list[Row] = field(default_factory=list)
    feedback: list[Row] = field(default_factory=list)
    rewards: list[Row] = field(default_factory=list)
    scores: list[Row] = field(default_factory=list)
    texts: list[Row] = field(default_factory=list)
    blind: bool = field(default=False, kw_only=True)


class SeveralTenants(TouchstoneError):
    """Report that an identifier names answers of several tenants, of which none was chosen.

    Args:
        answer_id: the identifier.
        tenants: the tenants.
    """

    def __init__(self, answer_id: str, tenants: Sequence[str]) -> None:
        self.tenants = sorted(tenants)
        super().__init__(f"{answer_id} is an answer of several tenants ({', '.join(self.tenants)}); choose one")


class AnswerStore(Reading):
    """Store of answers."""

    async def answer(self, tenants: Sequence[str], answer_id: str, run: str = "live") -> StoredAnswer | None:
        """Return an answer with all its parts; ``None`` if there is none.

        Args:
            tenants: possible tenants of the answer; all if empty.
            answer_id: identifier.
            run: live, or a replay.

        Raises:
            SeveralTenants: the answer has several possible tenants.
            StoreUnavailable: ClickHouse does not respond.
        """
        row = await self._only(FOUND, tenants, answer_id, run)
        if row is None:
            return None
        key = {name: row[name] for name in ("tenant", "answer_id", "run")}
        key |= {name: without_zone(row[name]) for name in ("completed_at", "enriched_at")}
        key["review_ids"] = review_ids(row["tenant"], answer_id)
        statements = (
            CLAIMS, CITATIONS, ALERTS, REVIEWS, REQUESTS, DECISIONS, REVIEW_EVENTS, FEEDBACK, REWARD, SCORES,
            TEXTS,
        )  # fmt: skip
        parts = await asyncio.gather(*(self.rows(statement, **key) for statement in statements))
        return StoredAnswer(row, *parts)

    async def exists(self, tenants: Sequence[str], answer_id: str) -> Row | None:
        """Return tenant, model and query type of an answer; ``None`` if there is none.

        Raises:
            SeveralTenants: the answer has several possible tenants.
            StoreUnavailable: ClickHouse does not respond.
        """
        return await self._only(EXISTS, tenants, answer_id, "live")

    async def _only(self, statement: str, tenants: Sequence[str], answer_id: str, run: str) -> Row | None:
        found = await self.rows(statement, tenants=list(tenants), answer_id=answer_id, run=run)
        if len(found) > 1:
            raise SeveralTenants(answer_id, [row["tenant"] for row in found])
        return found[0] if found else None

    async def traces(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the traces of answers, by tenant and answer. Unknown answers are left out.

        Returns:
            The trace identifiers; empty for an answer without a trace.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found: list[Row] = []
        for part in in_parameters(answers, lambda answer: answer):
            tenants, answer_ids = (sorted(set(names)) for names in zip(*part, strict=True))
            found += await self.rows(TRACES, tenants=tenants, answer_ids=answer_ids)
        return {(row["tenant"], row["answer_id"]): row["trace_id"] for row in found}

    async def listed(
        self, chosen: AnswerFilter, limit: int, after: Place = Place(), run: str = "live", *, back: bool = False,
        shown: int = MAX_TEXT,
    ) -> list[Row]:  # fmt: skip
        """List the answers that match a filter, the latest first, each with its state after decisions.

        Args:
            chosen: the filter.
            limit: maximum number of rows.
            after: row after which the list continues.
            run: live, or a replay.
            back: return the rows before ``after`` that are nearest to it.
            shown: maximum number of code points of each text.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        statement = LISTED_BACK if back else LISTED
        found = await self.rows(
            statement, run=run, shown=shown, limit=limit, **filter_values(chosen), **place_values(after)
        )
        return await self._decided(found[::-1] if back else found, chosen.blind, shown)

    async def count(self, chosen: AnswerFilter, run: str = "live") -> int:
        """Count the answers that match a filter.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return int((await self.rows(COUNTED, run=run, **filter_values(chosen)))[0]["number"])

    async def earlier(
        self, tenant: str, session_id: str, answer_id: str, completed_at: datetime, blind: Sample | None
    ) -> list[Row]:
        """Return the turns of a session before an answer, the earliest first; none without a session.

        Args:
            tenant: tenant of the session.
            session_id: the session.
            answer_id: the answer.
            completed_at: its time.
            blind: requests that the reader may still review; their turns have the state of their evaluation.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        if not session_id:
            return []
        found = await self.rows(
            EARLIER, shown=MAX_TURN + 1, tenant=tenant, session_id=session_id, answer_id=answer_id, limit=MOST_TURNS,
            since=without_zone(completed_at - timedelta(days=SESSION_DAYS)), until=without_zone(completed_at),
        )  # fmt: skip
        turns = await self._decided(found[::-1], blind, MAX_TURN + 1)
        texts = ("query", "answer", "shown")
        return [turn | {name: turn[name] and cut_at_word(turn[name], MAX_TURN) for name in texts} for turn in turns]

    async def hidden(self, answers: Sequence[tuple[str, str]], blind: Sample | None) -> set[tuple[str, str]]:
        """Return those of some answers whose decision is hidden, by tenant and answer.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        reviews = [name for tenant, answer_id in answers for name in review_ids(tenant, answer_id)]
        found = await self.rows(HIDDEN, review_ids=reviews, **due_values(blind)) if reviews and blind else []
        return {(row["tenant"], row["answer_id"]) for row in found}

    async def _decided(self, found: list[Row], blind: Sample | None, shown: int = MAX_TEXT) -> list[Row]:
        """Return answers with their states after decisions, and the beginnings of the texts that readers see."""
        reviews = [name for row in found for name in review_ids(row["tenant"], row["answer_id"])]
        if not reviews:
            return []
        after, corrected = await asyncio.gather(
            self._states(reviews, blind),
            self.rows(CORRECTIONS, review_ids=reviews, shown=shown, **due_values(blind)),
        )
        corrections = {(row["tenant"], row["answer_id"]): row["correction"] for row in corrected}
        known = [
            counted(row) | {"withdrawn": False} | after.get((row["tenant"], row["answer_id"]), {}) for row in found
        ]
        return [row | {"shown": _shown(row, corrections.get((row["tenant"], row["answer_id"])))} for row in known]

    async def _states(self, reviews: Sequence[str], blind: Sample | None) -> dict[tuple[str, str], Row]:
        """Return the states of decided answers by tenant and answer, given the identifiers of their reviews."""
        found = await self.rows(DECIDED, review_ids=reviews, **due_values(blind)) if reviews else []
        return {
            (row["tenant"], row["answer_id"]): {"state": row["state"], "withdrawn": row["withdrawn"]} for row in found
        }

    async def audit(
        self, tenants: Sequence[str], below: float | None, only_invalid: bool, period: Period, limit: int,
        after: Place = Place(), blind: Sample | None = None,
    ) -> list[Row]:  # fmt: skip
        """Return answers with their citations as they were logged, the latest first, and their states after decisions.

        Args:
            tenants: tenants of the rows; all if empty.
            below: only answers with a lower grounding score.
            only_invalid: only answers with an invalid reference.
            period: completion time of the answers.
            limit: maximum number of rows.
            after: row after which the list continues.
            blind: requests that the auditor may still review; their answers have the state of their evaluation.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = await self.rows(
            AUDIT, run="live", tenants=list(tenants), below=-1.0 if below is None else below,
            only_invalid=only_invalid, limit=limit, **times_of(period), **place_values(after),
        )  # fmt: skip
        reviews = [name for row in found for name in review_ids(row["tenant"], row["response_id"])]
        states = await self._states(reviews, blind)
        return [
            row | {"evaluated_state": row["state"]} | states.get((row["tenant"], row["response_id"]), {})
            for row in found
        ]


def counted(row: Row) -> Row:
    """Return a row of an answer whose numbers of claims and overall score are null if its grounding was not evaluated.

    No claims were counted then, and the mean of freshness and traceability alone is no score of the answer.
    """
    return row | dict.fromkeys(GROUNDED) if "grounding" in row["missing"] else row


def _shown(row: Row, correction: str | None) -> str | None:
    """Return the beginning of the text that readers see; ``None`` if they see a notice or nothing."""
    if row["state"] == "replaced":
        return correction
    text: str = row["answer"]
    return text if row["state"] in ("released", "warned") else None


def filter_values(chosen: AnswerFilter) -> dict[str, Any]:
    """Return a filter as parameters of a query."""
    return {
        "tenants": list(chosen.tenants), "text": chosen.text, "words": words_of_search(chosen.text),
        "model": chosen.model, "model_part": without_accents(chosen.model_part),
        "tenant_part": without_accents(chosen.tenant_part), "risk": chosen.risk, "state": chosen.state,
        "verdict": chosen.verdict, "reviewed": "" if chosen.evaluation_only else chosen.verdict, "user": chosen.user, "seen": "" if chosen.seen is None else str(chosen.seen).lower(),
        **times_of(chosen.period),
        **{f"evaluated_{name}": time for name, time in times_of(chosen.evaluated).items()}, **due_values(chosen.blind),
    }  # fmt: skip


def times_of(period: Period) -> dict[str, datetime]:
    """Return a period as parameters of a query."""
    return {"since": without_zone(period.since or EARLIEST), "until": without_zone(period.until or LATEST)}


def place_values(place: Place) -> dict[str, Any]:
    """Return a place as parameters of a query."""
    return {"after": place.identifier, "after_ms": place.milliseconds, "after_tenant": place.tenant}


def cut_at_word(text: str, length: int) -> str:
    """Return the beginning of a text that is longer than ``length`` code points, up to a word's end, with an ellipsis.

    A text without a word's end in the second half of its beginning, such as one in a script without blanks, is cut anywhere.
    """
    if len(text) <= length:
        return text
    beginning = text[: length + 1]
    words = beginning.rstrip() if beginning[-1].isspace() else beginning.rpartition(" ")[0].rstrip()
    return f"{words if len(words) > length // 2 else text[:length]} …"
