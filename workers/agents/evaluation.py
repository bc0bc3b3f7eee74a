"""Build the agent of an evaluator: answers.generated → evaluate → its report topic.

Reading, the stages of the pipeline and writing run in threads, so that a long answer does not hold up the event loop.
A record that cannot be read is skipped here: assembly dead-letters it, once.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.identifiers import record_key
from schemas.quality import EarlierAnswer
from schemas.reports import Report
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentContext, AgentDefinition, Handler, Store, event_output, read_or_skip, traceparent
from workers.delivery.records import CountedOutputs, Result, WorkItem
from workers.errors import StoreUnavailable
from workers.observability import metrics
from workers.observability.caller_traces import exemplar
from workers.observability.logs import get_logger
from workers.pipeline.evaluator import AnyEvaluator, Needs
from workers.pipeline.evaluator_registry import evaluator_plugins, open_evaluator
from workers.pipeline.models import ServiceModels
from workers.pipeline.pipeline import AnswerCase, EvaluationPipeline
from workers.pipeline.reports import Origin, report_topic
from workers.settings import Settings
from workers.stores.lancedb.memory_store import AskedBefore, MemoryStore

MAX_EARLIER_RESPONSE = 2_000
"""Maximum length of the stored beginning of an earlier answer, code points."""

log = get_logger(__name__)


def evaluation_agent(
    name: str,
    evaluator: Callable[[Settings], AnyEvaluator],
    needs: Needs = Needs(),  # noqa: B008  frozen
) -> AgentDefinition:
    """Return the agent of an evaluator.

    Args:
        name: name of the evaluator, and the end of the consumer group.
        evaluator: function that creates the evaluator from the settings.
        needs: its needs besides the answer; a verifier is opened only if the settings name one.
    """

    async def open_agent(context: AgentContext, stack: AsyncExitStack) -> Handler:
        services = context.services
        embedder = await stack.enter_async_context(services.embedder()) if needs.vectors else None
        verifier = await stack.enter_async_context(services.verifier()) if needs.verifier else None
        memory = await stack.enter_async_context(services.memory()) if needs.memory else None
        # In a thread, since an evaluator may load a model while it opens.
        opened = await asyncio.to_thread(evaluator, context.settings)
        return evaluation_handler(opened, context, ServiceModels(embedder, verifier), memory)

    stores: frozenset[Store] = frozenset({"memory"}) if needs.memory else frozenset()
    return AgentDefinition(name, (ANSWERS_GENERATED,), open_agent, embeds=needs.vectors or needs.memory, stores=stores)


def plugin_agents(settings: Settings) -> list[AgentDefinition]:
    """Return the agents of the evaluator plug-ins that the settings enable.

    Raises:
        PluginError: a plug-in is unknown, ambiguous or broken.
    """
    found = [open_evaluator(plugin, settings) for plugin in evaluator_plugins(settings)]
    return [evaluation_agent(each.name, partial(_already_open, each), each.needs) for each in found]


def _already_open(evaluator: AnyEvaluator, _: Settings) -> AnyEvaluator:
    return evaluator


def evaluation_handler(
    evaluator: AnyEvaluator, context: AgentContext, models: ServiceModels, memory: MemoryStore | None = None
) -> Handler:
    """Return the handler of an evaluator's agent.

    It sends exactly one report for every readable record. If the evaluation fails, the report has the status ``failed``
    and a reason.

    Args:
        evaluator: evaluates one answer.
        context: settings, version, clock and threads.
        models: the models that the evaluator needs.
        memory: earlier answers, if the evaluator needs them.
    """
    pipeline = EvaluationPipeline(context.settings, [evaluator])

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        loop, pool = asyncio.get_running_loop(), context.steps_pool
        answers = await loop.run_in_executor(pool, _read_all, evaluator.name, works, context)
        earlier: Sequence[Sequence[EarlierAnswer]] = [()] * len(works)
        if memory is not None:
            limit = context.settings.memory.earlier_answers
            earlier = await earlier_answers(answers, memory, limit)

        def prepare() -> list[AnswerCase | CountedOutputs]:
            given = zip(answers, works, earlier, strict=True)
            return [
                answer if isinstance(answer, CountedOutputs) else pipeline.prepare(answer, work.record, before)
                for answer, work, before in given
            ]

        def write() -> list[Result]:
            return [case if isinstance(case, CountedOutputs) else _outputs(pipeline, case, context) for case in cases]

        cases = await loop.run_in_executor(pool, prepare)
        await pipeline.run([case for case in cases if not isinstance(case, CountedOutputs)], models, pool)
        # Not in the pool: the reports would wait until the evaluations of later batches have ended.
        return await asyncio.to_thread(write)

    return handle


def _read_all(agent: str, works: Sequence[WorkItem], context: AgentContext) -> list[GeneratedAnswer | CountedOutputs]:
    return [read_or_skip(work.record, agent, context.settings.kafka.max_input_bytes) for work in works]


def _outputs(pipeline: EvaluationPipeline, case: AnswerCase, context: AgentContext) -> CountedOutputs:
    origin = Origin(context.settings, context.pipeline_version, context.now())
    made = pipeline.reports(case, origin)
    outputs = [
        event_output(
            report_topic(report.agent),
            report,
            key=record_key(case.answer.tenant, case.answer.answer_id),
            event_id=report.judgement_id,
            agent=report.agent,
            time=report.judged_at,
            pipeline_version=context.pipeline_version,
            traceparent=traceparent(case.answer),
            # Other producers may use any partitioning: the report goes to the partition of its answer.
            partition=case.record.partition,
            value=value,
        )
        for report, value in made
    ]
    return CountedOutputs(outputs, partial(_count, [report for report, _ in made], case.answer))


def _count(reports: Sequence[Report], answer: GeneratedAnswer) -> None:
    for report in reports:
        metrics.JUDGEMENTS.labels(report.agent, report.status).inc()
        metrics.RESPONSE_PROCESSING_SECONDS.labels(report.agent).observe(report.duration_seconds, exemplar(answer))


async def earlier_answers(
    answers: Sequence[GeneratedAnswer | CountedOutputs], memory: MemoryStore, limit: int
) -> list[list[EarlierAnswer]]:
    """Return for each answer at most ``limit`` remembered answers to the same question, given before it.

    If memory does not respond, there are none, and only the comparison with earlier answers is missing.
    """
    asking = [each for each in answers if isinstance(each, GeneratedAnswer) and each.query.strip()] if limit else []
    asked = [AskedBefore(each.tenant, each.query, each.completed_at) for each in asking]
    try:
        found = await memory.same_questions(asked, limit)
    except StoreUnavailable:
        log.warning("memory_read_failed", answer_ids=[each.answer_id for each in asking])
        return [[] for _ in answers]
    earlier = {id(answer): _earlier(answer, rows) for answer, rows in zip(asking, found, strict=True)}
    return [earlier.get(id(answer), []) for answer in answers]


def _earlier(answer: GeneratedAnswer, rows: Sequence[Mapping[str, Any]]) -> list[EarlierAnswer]:
    return [
        EarlierAnswer(
            answer_id=row["answer_id"], timestamp=row["timestamp"], response=row["response"][:MAX_EARLIER_RESPONSE]
        )
        for row in rows
        if row["answer_id"] != answer.answer_id
    ]
