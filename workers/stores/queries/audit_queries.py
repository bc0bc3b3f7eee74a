"""Read the records of an audit: decisions on answers, also undone ones, and accesses to answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from schemas.identifiers import review_ids
from schemas.review import OF_PERSONS, ReviewEventKind
from workers.stores.clickhouse.row_reading import Reading, Row, in_parameters, optional, without_zone
from workers.stores.queries.answer_queries import (
    EVER,
    GROUNDED,
    TEXT_KEY,
    Period,
    Place,
    cut_at_word,
    place_values,
    times_of,
)
from workers.stores.queries.reviews.blind_reviews import HIDDEN_ANSWERS, Sample, due_values, not_hidden
from workers.stores.queries.reviews.corrected_texts import corrected_answers
from workers.stores.queries.searched_texts import holds_words, quoted_list, words_of_search

AuditLog = Literal["decisions", "accesses"]
AUTOMATIC, FALLBACK = "automatic", "fallback"
"""Kinds of what became of an answer without a person: a release, and a notice in place of an answer without evidence."""
LOADED_AHEAD = "loaded_ahead"
"""Kind of access of an answer that a page has loaded and not displayed; the display is recorded when it happens."""
READINGS = frozenset({"answer", "review", "get_review", "next_review", "preview_outcome", "citation"})
"""Kinds of accesses by which somebody was shown one answer, its request or its source; others show a list."""

_SEARCHED = (
    """((tenant, %s) IN (
    SELECT tenant, answer_id FROM {database}.answers
    WHERE {{q:String}} != '' AND run = 'live'
      AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
      AND """
    + holds_words("query", "answer")
    + """)
    OR (tenant, %s) IN """
    + corrected_answers("q")
    + ")"
)
_OF_USER = """(
    SELECT tenant, answer_id FROM {database}.answers
    WHERE run = 'live' AND user_id = {{user:String}}
      AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
)"""
_FOUND = (
    "({{answer_id:String}} = '' OR %s = {{answer_id:String}})"
    + optional("q", " AND (position(%s, {{q:String}}) > 0 OR %s)")
    + optional("user", f" AND (tenant, %s) IN {_OF_USER}")
)


def _found(name: str) -> str:
    """Return the condition on an answer's identifier: it is the given one, holds the words searched for, or is of the given user."""
    return _FOUND % (name, name, _SEARCHED % (name, name), name)


_OF_TENANTS = """
WHERE (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND (({{answer_id:String}} = '' AND {{q:String}} = '' AND {{user:String}} = '') OR %s)
  AND ({{person:String}} = '' OR lowerUTF8(%s) = lowerUTF8({{person:String}}))
  AND ({{state:String}} = '' OR {{state:String}} IN %s)
  AND ({{model:String}} = '' OR %s = {{model:String}})
  AND %s >= {{since:DateTime64(3, 'UTC')}} AND %s < {{until:DateTime64(3, 'UTC')}}
"""
_EFFECTIVE = (
    "ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(decision, 'published_at'), 3, 'UTC'), decided_at)"
)
"""Time from which readers have the result of a decision: the end of its undo window, if it had one."""
STEPS: tuple[ReviewEventKind, ...] = tuple(kind for kind in get_args(ReviewEventKind) if kind != "assigned")
"""Kinds of events of a review that the list of decisions holds."""
_KINDS = quoted_list(STEPS)
_RELEASED = f"""(
    SELECT texts.*, lagInFrame(tuple(state, cityHash64(content))) OVER earlier AS previous, max(rank) OVER earlier AS most
    FROM {{database}}.answer_texts AS texts FINAL
    WHERE NOT has({{{{without:Array(String)}}}}, '{AUTOMATIC}')
      AND (empty({{{{tenants:Array(String)}}}}) OR tenant IN {{{{tenants:Array(String)}}}})
      AND ({{{{answer_id:String}}}} = '' OR answer_id = {{{{answer_id:String}}}})
    WINDOW earlier AS (PARTITION BY tenant, answer_id ORDER BY enriched_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
) AS texts
LEFT JOIN (
    SELECT tenant, answer_id, min({_EFFECTIVE}) AS ended FROM {{database}}.review_decisions FINAL
    WHERE ruling IN ('final', 'withdrawal') AND NOT has({{{{without:Array(String)}}}}, '{AUTOMATIC}')
    GROUP BY tenant, answer_id
) AS decided USING (tenant, answer_id)
WHERE state != 'held' AND rank = most AND previous != tuple(state, cityHash64(content))
  AND (ended = 0 OR enriched_at < ended)"""
"""Texts that were released without a person: neither repeats, nor less complete ones, nor those after a decision."""
_DECISIONS = (
    f"""
FROM (
    SELECT decided_at, decision_id, tenant, answer_id, review_id, ruling,
           if(ruling = 'withdrawal', 'withdraw', action) AS action, decided_by, reason, model_id,
           nullIf(review_duration, 0) AS review_duration,
           JSONExtractRaw(decision, 'claim_verdicts') AS verdicts,
           JSONExtractString(decision, 'user_comment') AS comment,
           JSONExtractBool(decision, 'with_warning') AS with_warning,
           JSONExtractString(decision, 'corrected_answer') AS corrected_answer, JSONExtractRaw(decision, 'comparison') AS comparison,
           multiIf(ruling = 'withdrawal', 'withdrawn', ruling != 'final', '', action = 'approve' AND with_warning, 'warned', action = 'approve', 'released',
                   action = 'correct', 'replaced', 'rejected') AS state, '' AS target,
           CAST(NULL, 'Nullable(DateTime64(3, \\'UTC\\'))') AS made,
           if(state = '', NULL, {_EFFECTIVE}) AS shown_since
    FROM {{database}}.review_decisions FINAL
    UNION ALL
    -- A decision that was undone in time reached no topic; the event about it did, and keeps what was decided.
    SELECT occurred_at, event_id, tenant, answer_id, review_id, kind, JSONExtractString(undone, 'action'), reviewer,
           JSONExtractString(undone, 'reason'), model, nullIf(JSONExtractFloat(undone, 'review_duration'), 0), events.verdicts,
           if(kind = 'escalated', events.reason, JSONExtractString(undone, 'comment')),
           JSONExtractBool(undone, 'with_warning'), JSONExtractString(undone, 'corrected_answer'), JSONExtractRaw(undone, 'comparison'), '',
           if(kind IN ({quoted_list(OF_PERSONS)}), assignee, queue),
           parseDateTime64BestEffortOrNull(JSONExtractString(undone, 'decided_at'), 3, 'UTC'), NULL
    FROM (SELECT * FROM {{database}}.review_events FINAL WHERE kind IN ({_KINDS})
          AND NOT has({{{{without:Array(String)}}}}, toString(kind))) AS events
    ANY LEFT JOIN (
        SELECT tenant, review_id, model_id AS model FROM {{database}}.review_queue
        WHERE (tenant, review_id) IN (SELECT tenant, review_id FROM {{database}}.review_events WHERE kind IN ({_KINDS}))
    ) AS places USING (tenant, review_id)
    UNION ALL
    SELECT enriched_at, answer_id, tenant, answer_id, '', '{AUTOMATIC}', '', 'pipeline',
           arrayStringConcat(reasons, ', '), model_id, NULL, '', '', false, '', '', state, '', NULL, enriched_at
    FROM {_RELEASED}
)
"""
    + _OF_TENANTS
    % (
        _found("answer_id"),
        "decided_by",
        f"[if(ruling = '{AUTOMATIC}' AND state = '{FALLBACK}', '{FALLBACK}', ruling), if(ruling = 'final', state, '')]",
        "model_id",
        "decided_at",
        "decided_at",
    )
)
KIND = (
    f"multiIf(what IN ({quoted_list(sorted(READINGS))}), 'reading', what = '{LOADED_AHEAD}', '{LOADED_AHEAD}', 'list')"
)
_ACCESSES = (
    """
FROM {database}.accesses FINAL
"""
    + _OF_TENANTS % (f"arrayExists(name -> {_found('name')}, answers)", "who", f"[what, {KIND}]", "''", "at", "at")
    + "  AND NOT has({{without:Array(String)}}, what)\n"
)
_AFTER = """
  AND ({{{{after:String}}}} = '' OR ({time}, {name}, tenant) < (fromUnixTimestamp64Milli({{{{after_ms:Int64}}}}, 'UTC'), {{{{after:String}}}}, {{{{after_tenant:String}}}}))
ORDER BY {time} DESC, {name} DESC, tenant DESC LIMIT {{{{limit:UInt32}}}}
"""

_HIDDEN = f"(tenant, answer_id) IN {HIDDEN_ANSWERS}"
_HIDDEN_DECISION = (
    f"{_HIDDEN} AND ruling NOT IN ({quoted_list([AUTOMATIC, *(kind for kind in STEPS if kind != 'undone')])})"
)
LISTED = {
    "decisions": f"SELECT *, toUnixTimestamp64Milli(decided_at) AS at_ms {_DECISIONS}{not_hidden()}"
    + _AFTER.format(time="decided_at", name="decision_id"),
    "accesses": f"SELECT access_id, at, toUnixTimestamp64Milli(at) AS at_ms, who, via, what, {KIND} AS kind, tenant, "
    f"arrayConcat(arrayFilter(name -> {_found('name')}, answers), "
    f"arrayFilter(name -> NOT ({_found('name')}), answers)) AS answers "
    + _ACCESSES
    + _AFTER.format(time="at", name="access_id"),
}
COUNTED = {
    # Steps and automatic releases of hidden answers are left out as well; decisions alone are counted.
    "decisions": f"SELECT countIf(true{not_hidden()}) AS number,"
    f" countIf(false{optional('reviewer', f' OR {_HIDDEN_DECISION}')}) AS hidden {_DECISIONS}",
    "accesses": f"SELECT count() AS number, 0 AS hidden {_ACCESSES}",
}
ANSWERS = """
SELECT tenant, answer_id, argMax(leftUTF8(query, {{shown:UInt32}}), rank) AS question,
       argMax(completed_at, rank) AS completed_at, argMax(pipeline_version, rank) AS version,
       argMax(prompt_version, rank) AS prompt_version, argMax(user_id, rank) AS user_id
FROM {database}.answers
WHERE run = 'live' AND tenant IN {{tenants:Array(String)}} AND answer_id IN {{answer_ids:Array(String)}}
GROUP BY tenant, answer_id
"""
TEXTS = """
SELECT tenant, answer_id, enriched_at AS since, pipeline_version AS version, rank, text_key, state, has(reasons, 'empty_answer') AS empty, hallucination_risk,
       grounding_score, grounding_minimum, gate_score, gate_minimum, claims_total, claims_supported, claims_contradicted, claims_unsupported
FROM {database}.answer_texts FINAL
WHERE tenant IN {{tenants:Array(String)}} AND answer_id IN {{answer_ids:Array(String)}} ORDER BY enriched_at
"""
_CLAIMS = """
{{database}}.claims{final} WHERE run = 'live' AND tenant IN {{{{tenants:Array(String)}}}} AND answer_id IN {{{{answer_ids:Array(String)}}}}
  AND toDate(completed_at) BETWEEN toDate({{{{since:DateTime64(3, 'UTC')}}}}) AND toDate({{{{until:DateTime64(3, 'UTC')}}}})
"""
# Claims of an earlier text, or of a less complete evaluation, stay where the last one has none.
CONTRADICTED = f"""
SELECT tenant, answer_id, pipeline_version AS version, groupUniqArray(claim_id) AS claims FROM {_CLAIMS.format(final=" FINAL")}
  AND verdict = 'contradicted' AND (tenant, answer_id, (rank, enriched_at)) IN (
      SELECT tenant, answer_id, max((rank, enriched_at)) FROM {_CLAIMS.format(final="")} GROUP BY tenant, answer_id
  )
GROUP BY tenant, answer_id, pipeline_version
"""
DECIDED_AT = f"""
SELECT tenant, answer_id, minOrNullIf({_EFFECTIVE}, ruling = 'final') AS at,
       argMinIf(action, decided_at, ruling = 'final') AS action, argMinIf(decided_by, decided_at, ruling = 'final') AS decided_by,
       argMinIf(JSONExtractBool(decision, 'with_warning'), decided_at, ruling = 'final') AS with_warning,
       argMinIf({TEXT_KEY}, decided_at, ruling = 'final') AS text_key,
       minOrNullIf(decided_at, ruling = 'withdrawal') AS withdrawn_at
FROM {{database}}.review_decisions FINAL
WHERE ruling IN ('final', 'withdrawal') AND review_id IN {{{{review_ids:Array(String)}}}} GROUP BY tenant, answer_id
"""
_OURS = "(empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})"
OPTIONS = {
    "decisions": f"""
SELECT groupUniqArray(person) AS person, groupUniqArray(owner) AS tenant, groupUniqArray(model) AS model FROM (
    SELECT DISTINCT decided_by AS person, tenant AS owner, model_id AS model FROM {{database}}.review_decisions WHERE {_OURS}
    UNION ALL SELECT DISTINCT reviewer, tenant, '' FROM {{database}}.review_events WHERE kind IN ({_KINDS}) AND {_OURS}
    UNION ALL SELECT DISTINCT 'pipeline', tenant, model_id FROM {{database}}.answers WHERE run = 'live' AND {_OURS}
    LIMIT {{{{most:UInt32}}}})
""",
    "accesses": f"""
SELECT groupUniqArray(who) AS person, groupUniqArray(owner) AS tenant, groupUniqArray(what) AS state FROM (
    SELECT DISTINCT who, tenant AS owner, what FROM {{database}}.accesses WHERE {_OURS} LIMIT {{{{most:UInt32}}}})
""",
}
MOST_OPTIONS = 10_000
"""Maximum number of combinations of values that are offered as filters."""
MOST_COMPLETE = 4
"""Rank of an answer that has the reports of all evaluators."""
MAX_QUESTION = 200
"""Maximum number of code points of a question in a list."""
START = Place()
IDENTIFIER = {"decisions": "decision_id", "accesses": "access_id"}
"""Column that identifies a row of each log."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter on the records of an audit. Empty values choose all.

    Attributes:
        tenants: tenants of the records.
        answer_id: answer that was decided or accessed.
        q: words that question, answer or correction hold, all of them, without regard to case and accents, or a part of the
            answer's identifier.
        person: name of the access token that decided or looked, in any case.
        state: state to which the decision led, or the kind of the record; for accesses, what was shown, reading or list.
        model: model of the decided answer; accesses have none.
        period: time of the decision or access.
        blind: requests that the auditor may still review; their decisions are left out.
        user: pseudonym of the user who asked, as answers have it.
        without: kinds of accesses that are left out; of decisions, ``automatic`` for releases without a person.
    """

    tenants: Sequence[str] = ()
    answer_id: str = ""
    person: str = ""
    state: str = ""
    model: str = ""
    period: Period = EVER
    blind: Sample | None = None
    without: Sequence[str] = ()
    q: str = ""
    user: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """Return the filter as parameters of a query."""
        return {
            "tenants": list(self.tenants), "answer_id": self.answer_id, "person": self.person.strip(), "state": self.state,
            "model": self.model, "without": list(self.without), "q": self.q, "words": words_of_search(self.q), "user": self.user,
            **times_of(self.period), **due_values(self.blind),
        }  # fmt: skip


def _counted(text: Row) -> Row:
    """Return an evaluated text whose numbers of claims and overall score are null if its grounding was not evaluated.

    A text does not name its missing reports. One with all of them, with a claim or with a score of its grounding was evaluated.
    """
    known = ("claims_total", "grounding_score", "hallucination_risk")
    is_evaluated = text["rank"] >= MOST_COMPLETE or any(text[name] for name in known)
    return text if is_evaluated else text | dict.fromkeys(GROUNDED)


class AuditStore(Reading):
    """Store of decisions and accesses."""

    async def listed(self, log: AuditLog, chosen: AuditFilter, limit: int, after: Place = START) -> list[Row]:
        """Return records of a log, the latest first.

        Args:
            log: the log.
            chosen: the filter.
            limit: maximum number of rows.
            after: row after which the list continues.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        return await self.rows(LISTED[log], limit=limit, **chosen.values, **place_values(after))

    async def questions(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
        """Return the question, of a long one its beginning with an ellipsis, the user who asked, the time and the versions, by
        tenant and answer. Unknown answers are left out.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found: dict[tuple[str, str], Row] = {}
        for part in in_parameters(list(dict.fromkeys(answers)), lambda answer: answer):
            tenants, answer_ids = (sorted(set(names)) for names in zip(*part, strict=True))
            rows = await self.rows(ANSWERS, tenants=tenants, answer_ids=answer_ids, shown=MAX_QUESTION + 1)
            found |= {
                (row["tenant"], row["answer_id"]): row | {"question": cut_at_word(row["question"], MAX_QUESTION)}
                for row in rows
            }
        return found

    async def answers(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
        """Return what ``questions`` does, and the evaluated texts (``texts``, the first one first), each with its state and
        time, whether the model gave no text, scores, minima and numbers of claims by verdict (these and the overall score are null if the grounding was not evaluated).

        Unknown answers are left out. An evaluation that is less complete than one before it is no text.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = {name: row | {"texts": []} for name, row in (await self.questions(answers)).items()}
        for part in in_parameters(found, lambda answer: answer):
            tenants, answer_ids = (sorted(set(names)) for names in zip(*part, strict=True))
            for row in await self.rows(TEXTS, tenants=tenants, answer_ids=answer_ids):
                texts = found.get((row["tenant"], row["answer_id"]), {"texts": []})["texts"]
                if not texts or row["rank"] >= texts[-1]["rank"]:
                    texts.append(_counted(row))
        return found

    async def contradicted(self, answers: Mapping[tuple[str, str], Row]) -> dict[tuple[str, str], frozenset[str]]:
        """Return the identifiers of the claims of the last text that the evaluation found contradicted, by tenant and answer.

        Args:
            answers: rows of ``answers`` by tenant and answer.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found: dict[tuple[str, str], frozenset[str]] = {}
        for part in in_parameters(
            [name for name, row in answers.items() if any(text["claims_contradicted"] for text in row["texts"][-1:])],
            lambda name: name,
        ):
            tenants, answer_ids = (sorted(set(names)) for names in zip(*part, strict=True))
            times = [answers[name]["completed_at"] for name in part]
            period = {"since": without_zone(min(times)), "until": without_zone(max(times))}
            rows = await self.rows(CONTRADICTED, tenants=tenants, answer_ids=answer_ids, **period)
            named = ((row, (row["tenant"], row["answer_id"])) for row in rows)
            # An earlier evaluation may have found other claims.
            found |= {
                name: frozenset(row["claims"])
                for row, name in named
                if name in answers and answers[name]["version"] == row["version"]
            }
        return found

    async def decided(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
        """Return action, warning and person of the final decision, the time from which readers had it, and that of its
        withdrawal, by tenant and answer.

        Answers without either are left out; a time that does not exist is null.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found: dict[tuple[str, str], Row] = {}
        wanted = list(dict.fromkeys(answers))
        for reviews in in_parameters([name for answer in wanted for name in review_ids(*answer)], lambda name: [name]):
            rows = await self.rows(DECIDED_AT, review_ids=reviews)
            found |= {(row["tenant"], row["answer_id"]): row for row in rows}
        return found

    async def options(self, log: AuditLog, tenants: Sequence[str]) -> dict[str, list[str]]:
        """Return the values that the records of a log have, by filter: person, tenant, model and shown by.

        Args:
            log: the log.
            tenants: tenants of the records; all if empty.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        (row,) = await self.rows(OPTIONS[log], tenants=list(tenants), most=MOST_OPTIONS)
        return {name: sorted(filter(None, values)) for name, values in row.items()}

    async def count(self, log: AuditLog, chosen: AuditFilter) -> tuple[int, int]:
        """Count the records of a log, and those left out because the auditor may still review their requests.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        (row,) = await self.rows(COUNTED[log], **chosen.values)
        return int(row["number"]), int(row["hidden"])
