"""Read rated answers from ClickHouse, with their evaluations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from workers.evaluation.thresholds import GroundingThresholds, QualityThresholds
from workers.feedback.patterns import RatedAnswer
from workers.stores.clickhouse.row_reading import Reading, ask, without_zone

RATED = """
SELECT r.answer_id, assumeNotNull(r.explicit_reward), r.model_id, r.query_type, a.query, a.answer, a.prompt_version, a.signals,
       a.grounding_score, a.relevance, a.quality_score, c.sources
FROM (
    SELECT tenant, answer_id, explicit_reward, model_id, query_type, answered_at
    FROM {database}.rewards FINAL
    WHERE explicit_reward IS NOT NULL AND answered_at >= {{since:DateTime64(3, 'UTC')}}
      AND answered_at < {{until:DateTime64(3, 'UTC')}} AND ({{tenant:String}} = '' OR tenant = {{tenant:String}})
    ORDER BY answered_at DESC, answer_id LIMIT {{limit:UInt64}}
) AS r
LEFT JOIN (SELECT * FROM {database}.answers FINAL WHERE run = 'live') AS a
    ON a.tenant = r.tenant AND a.answer_id = r.answer_id
LEFT JOIN (
    SELECT tenant, answer_id, groupUniqArray(if(source_name != '', source_name, chunk_id)) AS sources
    FROM {database}.citations FINAL WHERE valid AND NOT has(forms, 'attributed') AND run = 'live'
    GROUP BY tenant, answer_id
) AS c ON c.tenant = r.tenant AND c.answer_id = r.answer_id
ORDER BY r.answer_id
"""

SHORT_ANSWER = 500
"""Maximum number of code points of an answer for its topic; the model reads few more."""


class RatingStore(Reading):
    """Store of rated answers."""

    async def rated(self, since: datetime, until: datetime, tenant: str, limit: int) -> list[RatedAnswer]:
        """Return the latest rated answers.

        Args:
            since: earliest time of the answer.
            until: end of the times of the answer, exclusive.
            tenant: tenant of the answers; all if empty.
            limit: maximum number of answers.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        parameters = {"since": without_zone(since), "until": without_zone(until), "tenant": tenant, "limit": limit}
        return [_rated(row) for row in await ask(self._analytics, RATED.format(database=self._database), parameters)]


def _rated(row: Sequence[Any]) -> RatedAnswer:
    answer_id, reward, model, query_type, query, answer, prompt, signals, grounding, relevance, quality, sources = row
    doubts = {
        "ungrounded": grounding is not None and grounding < GroundingThresholds().grounding_minimum,
        "irrelevant": relevance is not None and relevance < QualityThresholds().relevance,
        "low_quality": quality is not None and quality < QualityThresholds().overall,
    }
    return RatedAnswer(
        answer_id=answer_id,
        reward=reward,
        text=f"{query}\n{answer[:SHORT_ANSWER]}",
        facets={
            "model": (model,) if model != "unknown" else (),
            "prompt version": (prompt,) if prompt else (),
            "source": tuple(sorted(sources)),
            "query type": (query_type,) if query_type else (),
        },
        signals=frozenset(signals) | {name for name, found in doubts.items() if found},
    )
