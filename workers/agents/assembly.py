"""Run the agent assembly: join answers.generated with the report topics → answers.enriched, feedback.analytics.

The join itself is in ``workers.delivery.join.assembler``; this module handles a joined answer.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.identifiers import judgement_id, record_key
from schemas.reports import Report
from schemas.topics import (
    ANSWERS_ENRICHED,
    ANSWERS_EVALUATIONS,
    ANSWERS_GENERATED,
    FEEDBACK_ANALYTICS,
    JOINED_REPORTS,
    REPORT_TOPICS,
)
from workers.agents.base import AgentContext, AgentDefinition, Handler, event_output, read_answer, traceparent
from workers.decision.decision_basis import basis_of
from workers.decision.enrichment import JUDGES
from workers.delivery.application import AgentApplication
from workers.delivery.join.assembler import Assembler, ExpectedEvaluators
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import CountedOutputs, Output, Result, WorkItem
from workers.observability import metrics
from workers.observability.caller_traces import exemplar
from workers.pipeline.reports import Origin, build_enriched_answer
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.clickhouse.rows.score_rows import report_rows
from workers.stores.tables.packed_rows import packed

AGENT = "assembly"


async def _open(context: AgentContext, _: AsyncExitStack) -> Handler:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(context.steps_pool, _assemble_all, works, context)

    return handle


def _assemble_all(works: Sequence[WorkItem], context: AgentContext) -> list[Result]:
    results: list[Result] = []
    for work in works:
        try:
            results.append(_assemble(work, context))
        except Exception as error:
            results.append(error)
    return results


def _assemble(work: WorkItem, context: AgentContext) -> CountedOutputs:
    settings, record = context.settings, work.record
    if record.topic == ANSWERS_EVALUATIONS.name:
        return _unjoined_scores(EvaluationReport.from_bytes(record.value), context)
    if record.topic != ANSWERS_GENERATED.name:
        # Unreadable reports are passed to assembly, which dead-letters them with their error.
        topic = next(topic for topic in REPORT_TOPICS.values() if topic.name == record.topic)
        topic.model.from_bytes(record.value)
    answer = next((part for part in work.attachments if isinstance(part, GeneratedAnswer)), None)
    answer = answer or read_answer(record, settings.kafka.max_input_bytes)
    reports: dict[str, Report] = {report.agent: report for report in work.attachments if isinstance(report, Report)}
    origin = Origin(settings, context.pipeline_version, context.now())
    enriched, value = build_enriched_answer(answer, reports, record, origin)
    return CountedOutputs(_outputs(enriched, value, context), partial(_observe, enriched, record.timestamp, context))


def _unjoined_scores(report: EvaluationReport, context: AgentContext) -> CountedOutputs:
    """Return the rows of a report outside of a join: it was late, or no answer waits for its evaluator."""
    # Reports may come from anybody who may write to the topic: their names must not become values of a label.
    enabled = report.agent in context.settings.evaluators.enabled
    counter = metrics.UNJOINED_REPORTS.labels(report.agent if enabled else "not enabled")
    outputs = [
        event_output(
            FEEDBACK_ANALYTICS,
            row,
            key=record_key(report.tenant, report.answer_id),
            event_id=f"{report.judgement_id}-{number}",
            agent=AGENT,
            time=report.judged_at,
            pipeline_version=context.pipeline_version,
        )
        for number, row in enumerate(packed(report_rows(report)))
    ]
    return CountedOutputs(outputs, counter.inc)


def _outputs(enriched: EnrichedAnswer, value: bytes, context: AgentContext) -> list[Output]:
    event_id = judgement_id(enriched.tenant, enriched.answer_id, AGENT, enriched.run)
    common: dict[str, Any] = {
        "key": record_key(enriched.tenant, enriched.answer_id),
        "agent": AGENT,
        "time": enriched.enriched_at,
        "pipeline_version": context.pipeline_version,
        "traceparent": traceparent(enriched.answer),
    }
    settings = context.settings
    rows = enriched_rows(enriched, basis_of(enriched, settings.gate, settings.grounding, settings.decision))
    return [
        event_output(ANSWERS_ENRICHED, enriched, event_id=event_id, value=value, **common),
        *(
            event_output(FEEDBACK_ANALYTICS, row, event_id=f"{event_id}-{number}", **common)
            for number, row in enumerate(packed(rows))
        ),
    ]


def _observe(enriched: EnrichedAnswer, arrived: float, context: AgentContext) -> None:
    trace = exemplar(enriched.answer)
    if arrived:
        metrics.END_TO_END_SECONDS.observe(max(0.0, context.now().timestamp() - arrived), trace)
    needed = context.settings.decision.named_evaluators.union(JUDGES)
    lacking = needed.intersection((*enriched.missing, *enriched.failed))
    metrics.ANSWERS_DEGRADED.inc(bool(lacking))
    for agent in lacking:
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
    if "grounding" in (*enriched.missing, *enriched.failed) and enriched.decision.state in ("released", "warned"):
        metrics.UNEVALUATED.labels(enriched.decision.state).inc()


def _join(context: AgentContext, application: AgentApplication, processor: BatchProcessor) -> Assembler:
    settings = context.settings
    read = partial(read_answer, max_bytes=settings.kafka.max_input_bytes)
    expected = ExpectedEvaluators.of_settings(settings)
    return Assembler(application, processor, settings.delivery, read, context.erasures, expected)


ASSEMBLY = AgentDefinition(AGENT, (ANSWERS_GENERATED, *JOINED_REPORTS), _open, receiver=_join)
