"""Read the figures of a period, counted by the time of evaluation."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.review import POLICY
from workers.stores.clickhouse.row_reading import Reading, Row, without_zone
from workers.stores.queries.claim_queries import NOT_MOVED

# The cost of an answer is NULL where its model has no price or its tokens are unknown: nothing is free by mistake.
JUDGED = f"""
SELECT *, dateDiff('millisecond', completed_at, enriched_at) / 1000 AS delay_seconds,
       indexOf({{{{priced:Array(String)}}}}, toString(model_id)) AS place,
       if(place = 0, NULL, (prompt_tokens * {{{{inputs:Array(Float64)}}}}[place]
                            + completion_tokens * {{{{outputs:Array(Float64)}}}}[place]) / 1000000) AS answer_cost
FROM {{database}}.answers FINAL
WHERE run = 'live' AND (empty({{{{tenants:Array(String)}}}}) OR tenant IN {{{{tenants:Array(String)}}}})
  AND enriched_at >= {{{{since:DateTime64(3, 'UTC')}}}} AND enriched_at < {{{{until:DateTime64(3, 'UTC')}}}}
  AND {NOT_MOVED}
"""
FIGURES = """
    count() AS answers,
    countIf(hallucination_risk = 'low') AS low, countIf(hallucination_risk = 'medium') AS medium,
    countIf(hallucination_risk = 'high') AS high,
    countIf(hallucination_risk IS NULL) AS without_risk, countIf(degraded) AS degraded, countIf(review) AS reviewed,
    countIf(has(missing, 'grounding') AND state IN ('released', 'warned')) AS unevaluated,
    avg(grounding_score) AS grounding, avg(quality_score) AS quality, avgIf(gate_score, NOT has(missing, 'grounding')) AS gate,
    sumOrNull(answer_cost) AS cost, count(answer_cost) AS costed
"""

SERIES = f"""
SELECT toStartOfInterval(enriched_at, toIntervalSecond({{{{bucket:UInt32}}}})) AS at, {FIGURES},
       quantile(0.5)(delay_seconds) AS delay_p50, quantile(0.95)(delay_seconds) AS delay_p95
FROM ({JUDGED}) GROUP BY at ORDER BY at
"""

MOST_MODELS = 5
"""Number of models that are drawn over time: those with the most answers, and those with the highest cost."""
MODEL_SERIES = f"""
SELECT toStartOfInterval(enriched_at, toIntervalSecond({{{{bucket:UInt32}}}})) AS at, model_id, count() AS answers,
       sum(ifNull(prompt_tokens, 0)) AS prompt_tokens, sum(ifNull(completion_tokens, 0)) AS completion_tokens,
       sumOrNull(answer_cost) AS cost
FROM ({JUDGED})
WHERE model_id IN (SELECT model_id FROM ({JUDGED}) GROUP BY model_id ORDER BY count() DESC, model_id LIMIT {MOST_MODELS})
   OR model_id IN (SELECT model_id FROM ({JUDGED}) GROUP BY model_id HAVING count(answer_cost) > 0
                   ORDER BY sum(answer_cost) DESC, model_id LIMIT {MOST_MODELS})
GROUP BY at, model_id ORDER BY at, model_id
"""

TENANTS = """
SELECT DISTINCT tenant FROM {database}.answers
WHERE run = 'live' AND (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND enriched_at >= {{since:DateTime64(3, 'UTC')}} ORDER BY tenant LIMIT 500
"""

# Dashboards show a promoted replay for these hours; the overview is that of the live run.
PROMOTED = """
SELECT run, count() AS hours, min(hour) AS first, max(hour) + toIntervalHour(1) AS until FROM {database}.promoted_hours
WHERE (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND hour >= toStartOfHour({{since:DateTime64(3, 'UTC')}}) AND hour < {{until:DateTime64(3, 'UTC')}}
GROUP BY run ORDER BY run
"""

TOTALS = f"SELECT {FIGURES} FROM ({JUDGED})"

# A reward also holds what reviewers decided and how they voted.
MODELS = f"""
SELECT a.model_id AS model_id, {FIGURES}, quantileOrNull(0.5)(a.latency_seconds) AS latency_p50,
       avg(r.reward) AS reward, countIf(r.reward IS NOT NULL) AS rewarded
FROM ({JUDGED}) AS a
LEFT JOIN (
    SELECT tenant, answer_id, toNullable(reward) AS reward FROM {{database}}.rewards FINAL
    WHERE (explicit_reward IS NOT NULL OR satisfaction IS NOT NULL OR retry_detected)
      AND (tenant, answer_id) NOT IN (SELECT tenant, answer_id FROM {{database}}.review_decisions
                                      WHERE ruling IN ('final', 'withdrawal', 'vote') AND decided_by != '{POLICY}')
) AS r ON r.tenant = a.tenant AND r.answer_id = a.answer_id
GROUP BY model_id ORDER BY answers DESC, model_id LIMIT 20
"""

# A source is bad if claims cite it and it does not support them.
SOURCES = f"""
SELECT c.name AS name, any(c.source_type) AS source_type, count() AS citations, uniqExact(c.tenant, c.answer_id) AS answers,
       sum(u.failed) AS unsupported, argMaxIf(c.citation_id, (c.completed_at, c.citation_id), u.failed > 0) AS citation_id
FROM (
    SELECT tenant, answer_id, completed_at, citation_id, toUInt32(assumeNotNull(number)) AS number, source_type,
           multiIf(source_name != '', source_name, record_id != '', concat(source_table, '/', record_id), chunk_id) AS name
    FROM {{database}}.citations FINAL
    WHERE valid AND NOT has(forms, 'attributed') AND run = 'live'
      AND (tenant, answer_id) IN (SELECT tenant, answer_id FROM ({JUDGED}))
) AS c
LEFT JOIN (
    SELECT tenant, answer_id, toUInt32(arrayJoin(cited_unsupported)) AS number, count() AS failed
    FROM {{database}}.claims FINAL
    WHERE run = 'live' AND (tenant, answer_id, pipeline_version) IN (
        SELECT tenant, answer_id, pipeline_version FROM ({JUDGED})
    )
    GROUP BY tenant, answer_id, number
) AS u ON u.tenant = c.tenant AND u.answer_id = c.answer_id AND u.number = c.number
GROUP BY name HAVING unsupported > 0 ORDER BY unsupported / citations DESC, unsupported DESC, name LIMIT 10
"""

ALERTS = """
SELECT alert_type, severity, message, answer_id, tenant, raised_at FROM {database}.alerts FINAL
WHERE (empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}})
  AND raised_at >= {{since:DateTime64(3, 'UTC')}} AND raised_at < {{until:DateTime64(3, 'UTC')}}
ORDER BY raised_at DESC, alert_id LIMIT 20
"""

BACKLOG = """
SELECT countIf(state = 'open') AS open, countIf(state = 'open' AND held) AS held,
       minIf(requested_at, state = 'open') AS oldest_at, countIf(state != 'open') AS decided
FROM {database}.review_queue FINAL
WHERE empty({{tenants:Array(String)}}) OR tenant IN {{tenants:Array(String)}}
"""

DEAD_LETTERS = "SELECT count() AS open FROM {database}.dead_letters FINAL WHERE requeued_at IS NULL"

BUCKETS = (60, 300, 900, 3_600, 21_600, 86_400, 604_800)
"""Possible lengths of one chart interval in seconds, from a minute to a week."""
MOST_POINTS = 120


@dataclass(frozen=True, slots=True)
class OverviewRows:
    """Hold the rows of an overview."""

    bucket_seconds: int
    series: list[Row]
    totals: Row
    models: list[Row]
    model_series: list[Row]
    sources: list[Row]
    alerts: list[Row]
    backlog: Row
    dead_letters: int
    promoted: list[Row]


class OverviewStore(Reading):
    """Query the figures of the overview page."""

    async def overview(
        self, tenants: Sequence[str], since: datetime, until: datetime, prices: Mapping[str, tuple[float, float]]
    ) -> OverviewRows:
        """Return the figures of a period.

        Args:
            tenants: tenants of the rows; all if empty.
            since: earliest time of evaluation.
            until: end of the times of evaluation, exclusive.
            prices: prices of a million prompt tokens and of a million completion tokens, by model.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        bucket = bucket_seconds((until - since).total_seconds())
        statements = (SERIES, TOTALS, MODELS, MODEL_SERIES, SOURCES, ALERTS, BACKLOG, DEAD_LETTERS, PROMOTED)
        parts = await asyncio.gather(
            *(
                self.rows(
                    statement,
                    tenants=list(tenants),
                    since=without_zone(since),
                    until=without_zone(until),
                    bucket=bucket,
                    priced=list(prices),
                    inputs=[each for each, _ in prices.values()],
                    outputs=[each for _, each in prices.values()],
                )
                for statement in statements
            )
        )
        series, totals, models, model_series, sources, alerts, backlog, dead_letters, promoted = parts
        return OverviewRows(
            bucket,
            series,
            totals[0],
            models,
            model_series,
            sources,
            alerts,
            backlog[0],
            dead_letters[0]["open"],
            promoted,
        )

    async def tenants(self, tenants: Sequence[str], since: datetime) -> list[str]:
        """Return the tenants with answers since a time.

        Args:
            tenants: tenants to choose from; all if empty.
            since: earliest time of evaluation.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        found = await self.rows(TENANTS, tenants=list(tenants), since=without_zone(since))
        return [row["tenant"] for row in found]


def bucket_seconds(period_seconds: float) -> int:
    """Return the shortest bucket that keeps a chart to ``MOST_POINTS``, in seconds."""
    return next((bucket for bucket in BUCKETS if period_seconds / bucket <= MOST_POINTS), BUCKETS[-1])
