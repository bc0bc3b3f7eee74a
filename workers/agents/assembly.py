"""assembly: answers.generated and the three report topics → join → answers.enriched, feedback.analytics.

The joining itself is in ``workers.delivery.assembler``; here is what comes of a joined answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import judgement_id
from schemas.reports import Report
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, FEEDBACK_ANALYTICS, REPORT_TOPICS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources, event_output, read_answer, traceparent
from workers.agents.judging import Origin
from workers.delivery.records import Output, Record, Result, Work
from workers.exporters.traces import exemplar
from workers.steps.enrichment import enrich
from workers.steps.rows import enriched_rows
from workers.steps.trimming import fit_record

AGENT = "assembly"


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(resources.steps_pool, _assemble_all, works, resources)

    return handle


def _assemble_all(works: Sequence[Work], resources: Resources) -> list[Result]:
    results: list[Result] = []
    for work in works:
        try:
            results.append(_assemble(work, resources))
        except Exception as error:
            results.append(error)
    return results


def _assemble(work: Work, resources: Resources) -> list[Output]:
    settings, record = resources.settings, work.record
    if record.topic != ANSWERS_GENERATED.name:
        # A report that could not be read came here to be dead-lettered with its error.
        topic = next(topic for topic in REPORT_TOPICS.values() if topic.name == record.topic)
        topic.model.from_bytes(record.value)
    answer = next((part for part in work.attachments if isinstance(part, GeneratedAnswer)), None)
    answer = answer or read_answer(record, settings.kafka.max_input_bytes)
    reports: dict[str, Report] = {report.agent: report for report in work.attachments if isinstance(report, Report)}
    origin = Origin(settings, resources.pipeline_version, resources.now())
    enriched, value = put_together(answer, reports, record, origin)
    _observe(enriched, record.timestamp, resources)
    return _outputs(enriched, value, resources)


def put_together(
    answer: GeneratedAnswer, reports: Mapping[str, Report], record: Record, origin: Origin
) -> tuple[EnrichedAnswer, bytes]:
    """The enriched answer of an answer and its reports, cut to what a record holds.

    Args:
        answer: the answer.
        reports: by agent; missing ones make it degraded.
        record: where the answer stood.
        origin: settings, version, run and time.

    Returns:
        It and its bytes.
    """
    settings = origin.settings
    enriched = enrich(
        answer,
        reports,
        partition=record.partition,
        offset=record.offset,
        now=origin.judged_at,
        pipeline_version=origin.pipeline_version,
        default_risk_mode=settings.release.default_risk_mode,
        gate=settings.gate,
        grounding_thresholds=settings.grounding,
        style=settings.release.style,
        policy=settings.decision,
        remember_without_context=settings.memory.remember_without_context,
        reader=settings.release.policy,
        run=origin.run,
    )
    return fit_record(enriched, settings.kafka.max_record_bytes - settings.kafka.max_record_bytes // 50)


def _outputs(enriched: EnrichedAnswer, value: bytes, resources: Resources) -> list[Output]:
    event_id = judgement_id(enriched.answer_id, AGENT, enriched.run)
    common: dict[str, Any] = {
        "key": enriched.answer_id,
        "agent": AGENT,
        "time": enriched.enriched_at,
        "pipeline_version": resources.pipeline_version,
        "traceparent": traceparent(enriched.answer),
    }
    rows = enriched_rows(enriched)
    return [
        event_output(ANSWERS_ENRICHED, enriched, event_id=event_id, value=value, **common),
        *(
            event_output(FEEDBACK_ANALYTICS, row, event_id=f"{event_id}-{number}", **common)
            for number, row in enumerate(rows)
        ),
    ]


def _observe(enriched: EnrichedAnswer, arrived: float, resources: Resources) -> None:
    trace = exemplar(enriched.answer)
    if arrived:
        metrics.END_TO_END_SECONDS.observe(max(0.0, resources.now().timestamp() - arrived), trace)
    for agent in (*enriched.missing, *enriched.failed):
        metrics.JOIN_DEGRADED.labels(agent).inc()
    if enriched.quality and enriched.quality.overall_score is not None:
        metrics.RESPONSE_QUALITY.observe(enriched.quality.overall_score, trace)
    if enriched.grounding and enriched.grounding.hallucination_risk is not None:
        metrics.HALLUCINATION_RISK.labels(enriched.grounding.hallucination_risk).inc()
    if enriched.grounding and enriched.grounding.grounding_score is not None:
        metrics.GROUNDING_SCORE.observe(enriched.grounding.grounding_score, trace)
    for claim in enriched.grounding.claims if enriched.grounding else ():
        metrics.CLAIMS.labels(claim.verdict).inc()
    metrics.DECISIONS.labels(enriched.decision.state).inc()


ASSEMBLY = AgentDefinition(AGENT, (ANSWERS_GENERATED, *REPORT_TOPICS.values()), _handler)
