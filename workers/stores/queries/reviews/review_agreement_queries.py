"""Query how far independent reviews of the same requests agree."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from workers.stores.clickhouse.row_reading import Reading, Row
from workers.stores.queries.answer_queries import EVER, Period, times_of

MAX_COMPARED = 5_000
"""Maximum number of requests with several reviews for the agreement, the latest ones."""
MAX_DISAGREEMENTS = 200
"""Maximum number of disagreements to return."""

# One word a person, the first one: the final decision, then the others in order of time.
# Most requests have one review alone: only those with another one are read, which is by the key.
_REVIEWED = """
SELECT tenant, review_id, any(answer_id) AS answer_id, anyIf(model, ruling = 'final') AS model_id, max(decided_at) AS latest,
       arraySort(groupArray((ruling != 'final', decided_at, toString(decided_by), toString(action){why}))) AS said
FROM (
    SELECT tenant, review_id, answer_id, toString(model_id) AS model, ruling, decided_at, decided_by, action, reason, decision
    FROM {database}.review_decisions FINAL
    WHERE review_id IN ({repeated}) AND ruling IN ('final', 'second')
      AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
    ORDER BY ruling != 'final', decided_at LIMIT 1 BY tenant, review_id, decided_by
)
GROUP BY tenant, review_id HAVING length(said) > 1 AND NOT said[1].1
"""

_REPEATED = """
SELECT review_id FROM {database}.review_decisions
WHERE ruling = 'second' AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
GROUP BY review_id"""

_COMPARED = (
    "SELECT arrayMap(each -> each.4, said) AS actions FROM ("
    + _REVIEWED.replace("{why}", "").replace(
        "{repeated}", f"{_REPEATED} ORDER BY max(decided_at) DESC LIMIT {MAX_COMPARED}"
    )
    + f") ORDER BY latest DESC LIMIT {MAX_COMPARED}"
)

_WHY = ", toString(reason), JSONExtractString(decision, 'user_comment'), trimBoth(JSONExtractString(decision, 'corrected_answer'))"

# Where any two people disagree, one of them disagrees with the final decision. Two corrections differ in their texts.
_DISAGREED = f"""
SELECT review_id, answer_id, tenant, model_id, said[1].4 AS first, said[1].3 AS first_by, other.4 AS second, other.3 AS second_by,
       said[1].5 AS first_reason, said[1].6 AS first_comment, other.5 AS second_reason, other.6 AS second_comment,
       greatest(said[1].2, other.2) AS decided_at
FROM ({_REVIEWED.replace("{why}", _WHY).replace("{repeated}", _REPEATED)}) ARRAY JOIN arrayPopFront(said) AS other
WHERE (first != second OR said[1].7 != other.7)
  AND ({{{{person:String}}}} = '' OR lowerUTF8({{{{person:String}}}}) IN (lowerUTF8(first_by), lowerUTF8(second_by)))
  AND ({{{{model:String}}}} = '' OR model_id = {{{{model:String}}}})
  AND ({{{{first:String}}}} = '' OR first = {{{{first:String}}}}) AND ({{{{second:String}}}} = '' OR second = {{{{second:String}}}})
  AND decided_at >= {{{{since:DateTime64(3, 'UTC')}}}} AND decided_at < {{{{until:DateTime64(3, 'UTC')}}}}
ORDER BY decided_at DESC, review_id, second_by LIMIT {MAX_DISAGREEMENTS}
"""


Decision = Literal["approve", "correct", "reject"]


@dataclass(frozen=True, slots=True)
class DisagreementFilter:
    """Filter on reviews that differ from the final decision. Empty values choose all.

    Attributes:
        tenants: tenants of the requests.
        person: who gave the final decision or the other review, in any case.
        model: model that wrote the answer.
        first: the final decision.
        second: the decision of the other review.
        period: time of the later one of both.
    """

    tenants: Sequence[str] = ()
    person: str = ""
    model: str = ""
    first: Decision | Literal[""] = ""
    second: Decision | Literal[""] = ""
    period: Period = EVER


class ReviewAgreementQueries(Reading):
    """Queries of independent reviews."""

    async def second_reviews(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return the number of people who reviewed each request after its decision, by tenant and review identifier."""
        if not names:
            return {}
        rows = await self.named_rows(
            f"SELECT tenant, review_id, uniqExact(decided_by) AS number FROM {self._database}.review_decisions"
            " WHERE ruling = 'second' AND review_id IN {reviews:Array(String)}"
            " AND (tenant, review_id) IN {names:Array(Tuple(String, String))} GROUP BY tenant, review_id",
            {"names": list(names), "reviews": [review_id for _, review_id in names]},
        )
        return {(row["tenant"], row["review_id"]): row["number"] for row in rows}

    async def independent_reviews(self, tenants: Sequence[str]) -> list[list[str]]:
        """Return the decisions on each request that several people reviewed, the final one first, then by time."""
        return [row["actions"] for row in await self.rows(_COMPARED, tenants=list(tenants))]

    async def disagreements(self, chosen: DisagreementFilter) -> list[Row]:
        """Return each independent review that differs from the final decision or its correction, the latest first."""
        values = asdict(chosen) | {"tenants": list(chosen.tenants), "person": chosen.person.strip()}
        return await self.rows(_DISAGREED, **values, **times_of(chosen.period))
