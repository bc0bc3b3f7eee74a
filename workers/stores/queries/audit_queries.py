"""Read the records of an audit: decisions on answers, also undone ones, and accesses to answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workers.stores.clickhouse.row_reading import Reading, Row
from workers.stores.queries.answer_queries import Period, Place, place_values, times_of
from workers.stores.queries.blind_reviews import HIDDEN_ANSWERS, Sample, due_values

AuditLog = Literal["decisions", "accesses"]

_OF_TENANTS = """
WHERE (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND ({{answer_id:String}} = '' OR %s)
  AND ({{person:String}} = '' OR %s = {{person:String}})
  AND ({{state:String}} = '' OR %s = {{state:String}})
  AND ({{model:String}} = '' OR %s = {{model:String}})
  AND %s >= {{since:DateTime64(3, 'UTC')}} AND %s < {{until:DateTime64(3, 'UTC')}}
"""
_DECISIONS = (
    """
FROM (
    SELECT decided_at, decision_id, tenant, answer_id, review_id, ruling, action, decided_by, reason, model_id,
           review_duration, JSONExtractString(decision, 'user_comment') AS comment,
           JSONExtractBool(decision, 'with_warning') AS with_warning,
           multiIf(ruling != 'final', '', action = 'approve' AND with_warning, 'warned', action = 'approve', 'released',
                   action = 'correct', 'replaced', 'rejected') AS state
    FROM {database}.review_decisions FINAL
    UNION ALL
    -- A decision that was undone in time reached no topic; the event about it did.
    SELECT occurred_at, event_id, tenant, answer_id, review_id, 'undone', '', reviewer, '', model, 0, '', false, ''
    FROM (SELECT * FROM {database}.review_events FINAL WHERE kind = 'undone') AS events
    ANY LEFT JOIN (
        SELECT tenant, review_id, model_id AS model FROM {database}.review_queue
        WHERE (tenant, review_id) IN (SELECT tenant, review_id FROM {database}.review_events WHERE kind = 'undone')
    ) AS places USING (tenant, review_id)
)
"""
    + _OF_TENANTS
    % (
        "answer_id = {{answer_id:String}}",
        "decided_by",
        "if(ruling = 'undone', 'undone', state)",
        "model_id",
        "decided_at",
        "decided_at",
    )
)
_ACCESSES = (
    """
FROM {database}.accesses FINAL
"""
    + _OF_TENANTS % ("has(answers, {{answer_id:String}})", "who", "what", "''", "at", "at")
    + "  AND NOT has({{without:Array(String)}}, what)\n"
)
_AFTER = """
  AND ({{{{after:String}}}} = '' OR ({time}, {name}) < (fromUnixTimestamp64Milli({{{{after_ms:Int64}}}}, 'UTC'), {{{{after:String}}}}))
ORDER BY {time} DESC, {name} DESC LIMIT {{{{limit:UInt32}}}}
"""

_HIDDEN = f"(tenant, answer_id) IN {HIDDEN_ANSWERS}"
LISTED = {
    "decisions": f"SELECT *, toUnixTimestamp64Milli(decided_at) AS at_ms {_DECISIONS} AND NOT {_HIDDEN}"
    + _AFTER.format(time="decided_at", name="decision_id"),
    "accesses": "SELECT access_id, at, toUnixTimestamp64Milli(at) AS at_ms, who, via, what, tenant, "
    "arrayConcat(arrayFilter(name -> name = {{answer_id:String}}, answers), "
    "arrayFilter(name -> name != {{answer_id:String}}, answers)) AS answers "
    + _ACCESSES
    + _AFTER.format(time="at", name="access_id"),
}
COUNTED = {
    "decisions": f"SELECT countIf(NOT {_HIDDEN}) AS number, countIf({_HIDDEN}) AS hidden {_DECISIONS}",
    "accesses": f"SELECT count() AS number, 0 AS hidden {_ACCESSES}",
}
QUESTIONS = """
SELECT tenant, answer_id, argMax(left(query, {{shown:UInt32}}), rank) AS question FROM {database}.answers
WHERE run = 'live' AND tenant IN {{tenants:Array(String)}} AND answer_id IN {{answer_ids:Array(String)}}
GROUP BY tenant, answer_id
"""
MAX_QUESTION = 200
"""Maximum number of code points of a question in a list."""
ASKED_AT_ONCE = 500
"""Maximum number of answers of one statement: its parameters travel in an address."""
EVER, START = Period(), Place()
IDENTIFIER = {"decisions": "decision_id", "accesses": "access_id"}
"""Column that identifies a row of each log."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter on the records of an audit. Empty values choose all.

    Attributes:
        tenants: tenants of the records.
        answer_id: answer that was decided or accessed.
        person: name of the access token that decided or looked.
        state: state to which the decision led, or undone; for accesses, what was shown.
        model: model of the decided answer; accesses have none.
        period: time of the decision or access.
        blind: requests that the auditor may still review; their decisions are left out.
        without: kinds of accesses that are left out.
    """

    tenants: Sequence[str] = ()
    answer_id: str = ""
    person: str = ""
    state: str = ""
    model: str = ""
    period: Period = EVER
    blind: Sample | None = None
    without: Sequence[str] = ()

    @property
    def values(self) -> dict[str, Any]:
        """Return the filter as parameters of a query."""
        return {
            "tenants": list(self.tenants), "answer_id": self.answer_id, "person": self.person, "state": self.state,
            "model": self.model, "without": list(self.without), **times_of(self.period), **due_values(self.blind),
        }  # fmt: skip


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

    async def questions(self, answers: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the beginnings of the questions of answers, by tenant and answer; unknown answers are left out.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found: dict[tuple[str, str], str] = {}
        wanted = list(dict.fromkeys(answers))
        for first in range(0, len(wanted), ASKED_AT_ONCE):
            tenants, answer_ids = (
                sorted(set(names)) for names in zip(*wanted[first : first + ASKED_AT_ONCE], strict=True)
            )
            rows = await self.rows(QUESTIONS, tenants=tenants, answer_ids=answer_ids, shown=MAX_QUESTION)
            found |= {(row["tenant"], row["answer_id"]): row["question"] for row in rows}
        return found

    async def count(self, log: AuditLog, chosen: AuditFilter) -> tuple[int, int]:
        """Count the records of a log, and those left out because the auditor may still review their requests.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        (row,) = await self.rows(COUNTED[log], **chosen.values)
        return int(row["number"]), int(row["hidden"])
