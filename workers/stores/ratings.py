"""Rated answers in ClickHouse, with what the judges said of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from workers.steps.insights import RatedAnswer
from workers.steps.thresholds import GroundingThresholds, QualityThresholds
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask, without_zone

RATED = """
SELECT r.answer_id, r.explicit_reward, r.model_id, r.query_type, a.query, a.answer, a.prompt_version, a.signals,
       a.grounding_score, a.relevance, a.quality_score, c.sources
FROM (
    SELECT tenant, answer_id, assumeNotNull(explicit_reward) AS explicit_reward, model_id, query_type, answered_at
    FROM {database}.rewards FINAL
    WHERE explicit_reward IS NOT NULL AND answered_at >= {{since:DateTime64(3, 'UTC')}}
      AND answered_at < {{until:DateTime64(3, 'UTC')}} AND ({{tenant:String}} = '' OR tenant = {{tenant:String}})
    ORDER BY answered_at DESC, answer_id LIMIT {{limit:UInt64}}
) AS r
LEFT JOIN (SELECT * FROM {database}.answers FINAL WHERE run = 'live') AS a
    ON a.tenant = r.tenant AND a.answer_id = r.answer_id
LEFT JOIN (
    SELECT tenant, answer_id, groupUniqArray(if(source_name != '', source_name, chunk_id)) AS sources
    FROM {database}.citations FINAL WHERE valid AND run = 'live' GROUP BY tenant, answer_id
) AS c ON c.tenant = r.tenant AND c.answer_id = r.answer_id
ORDER BY r.answer_id
"""

SHORT_ANSWER = 500
"""Code points of an answer that take part in its topic; the model reads hardly more."""


class RatingStore:
    """Reads what people rated.

    Args:
        analytics: connected store.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._rated = RATED.format(database=database)

    async def rated(self, since: datetime, until: datetime, tenant: str, limit: int) -> list[RatedAnswer]:
        """Answers that somebody rated, the latest ones.

        Args:
            since: answered then or later.
            until: answered before.
            tenant: whose; all if empty.
            limit: most answers.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        parameters = {"since": without_zone(since), "until": without_zone(until), "tenant": tenant, "limit": limit}
        return [_rated(row) for row in await ask(self._analytics, self._rated, parameters)]


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
