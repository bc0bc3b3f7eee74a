"""Read rated answers from ClickHouse, with their evaluations."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from schemas.feedback import FeedbackEvent
from workers.evaluation.thresholds import GroundingThresholds, QualityThresholds
from workers.feedback.observed_events import REVIEWER, is_of_reviewer
from workers.feedback.patterns import Judges, RatedAnswer
from workers.feedback.rewards import EVENTS_OF_A_KIND, combine, explicit_reward
from workers.stores.clickhouse.row_reading import Reading, ask, without_zone

_REWARDS = """{database}.rewards FINAL
    WHERE explicit_reward IS NOT NULL AND answered_at >= {{since:DateTime64(3, 'UTC')}}
      AND answered_at < {{until:DateTime64(3, 'UTC')}} AND ({{tenant:String}} = '' OR tenant = {{tenant:String}})
    ORDER BY answered_at DESC, answer_id LIMIT {{limit:UInt64}}"""

RATED = f"""
SELECT r.tenant, r.answer_id, assumeNotNull(r.explicit_reward), r.model_id, r.query_type, a.query, a.answer, a.prompt_version, a.signals,
       a.grounding_score, a.relevance, a.quality_score, c.sources
FROM (
    SELECT tenant, answer_id, explicit_reward, model_id, query_type, answered_at
    FROM {_REWARDS}
) AS r
LEFT JOIN (SELECT * FROM {{database}}.answers FINAL WHERE run = 'live') AS a
    ON a.tenant = r.tenant AND a.answer_id = r.answer_id
LEFT JOIN (
    SELECT tenant, answer_id, groupUniqArray(if(source_name != '', source_name, chunk_id)) AS sources
    FROM {{database}}.citations FINAL WHERE valid AND NOT has(forms, 'attributed') AND run = 'live'
    GROUP BY tenant, answer_id
) AS c ON c.tenant = r.tenant AND c.answer_id = r.answer_id
ORDER BY r.answer_id
"""

# A reward mixes what readers and reviewers said, so that each side is computed from its events.
REVIEWED = f"""
SELECT tenant, answer_id, groupArray(event)
FROM (
    SELECT tenant, answer_id, event, review_action IS NOT NULL OR startsWith(user_id, '{REVIEWER}') AS reviews
    FROM {{database}}.feedback FINAL
    WHERE kind = 'explicit' AND (tenant, answer_id) IN (SELECT tenant, answer_id FROM {_REWARDS})
    ORDER BY occurred_at, feedback_id LIMIT {EVENTS_OF_A_KIND} BY tenant, answer_id, reviews
)
GROUP BY tenant, answer_id HAVING countIf(reviews) > 0
"""

SHORT_ANSWER = 500
"""Maximum number of code points of an answer for its topic; the model reads few more."""


class RatingStore(Reading):
    """Store of rated answers."""

    async def rated(self, since: datetime, until: datetime, tenant: str, limit: int) -> list[RatedAnswer]:
        """Return the latest answers that readers rated, or reviewers decided or voted on; an answer of both is there twice.

        Args:
            since: earliest time of the answer.
            until: end of the times of the answer, exclusive.
            tenant: tenant of the answers; all if empty.
            limit: maximum number of answers.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        parameters = {"since": without_zone(since), "until": without_zone(until), "tenant": tenant, "limit": limit}
        rated, reviewed = await asyncio.gather(
            *(ask(self._analytics, each.format(database=self._database), parameters) for each in (RATED, REVIEWED))
        )
        events = {
            (owner, name): [FeedbackEvent.model_validate_json(each) for each in given]
            for owner, name, given in reviewed
        }
        return [answer for row in rated for answer in _apart(_rated(row[1:]), events.get((row[0], row[1]), ()))]


def _apart(answer: RatedAnswer, events: Sequence[FeedbackEvent]) -> Iterator[RatedAnswer]:
    """Yield an answer as readers and as reviewers found it; without events of reviewers, the reward is that of readers."""
    if not events:
        yield answer
        return
    for by in get_args(Judges):
        given = [event for event in events if is_of_reviewer(event) == (by == "reviewers")]
        reward = explicit_reward(combine(given)) if given else None
        if reward is not None:
            yield replace(answer, reward=reward, by=by)


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
