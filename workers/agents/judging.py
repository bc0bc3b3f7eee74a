"""What the three judging agents share: read, prepare, embed, judge, report.

The steps are pure and run in a thread, as do reading and writing, so that a long answer does
not hold up the event loop; the texts of a whole batch are embedded together. Where a verifier is asked,
judging has two halves and it is asked between them. A record that cannot be read is left to assembly, which
dead-letters it once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.identifiers import LIVE_RUN, judgement_id
from schemas.reports import AgentName, Findings, Report
from schemas.topics import REPORT_TOPICS
from workers import metrics
from workers.agents.asking import ask_verifier
from workers.agents.base import Handler, Resources, event_output, read_answer, traceparent
from workers.delivery.errors import JudgementError, OversizeRecord, UnreadableRecord
from workers.delivery.records import Output, Record, Result, Work
from workers.exporters.traces import exemplar
from workers.inference.embedding import Vector
from workers.logs import get_logger
from workers.settings import Settings
from workers.steps.grounding import Verdicts
from workers.steps.trimming import fit_report
from workers.steps.verification import VerifierPair
from workers.versions import rule_versions

log = get_logger(__name__)


class Prepared(Protocol):
    """An answer made ready to be judged."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct texts whose vectors the judgement needs."""


class Weighed(Protocol):
    """A prepared answer, judged as far as it can be without a verifier."""

    @property
    def questions(self) -> Sequence[VerifierPair]:
        """Distinct pairs that the verifier is asked."""


@dataclass(frozen=True, slots=True)
class VerifiedJudge:
    """The two halves of a judgement between which a verifier is asked.

    Attributes:
        weigh: prepared answer and vectors to what is left open.
        judge: that and the verifier's verdicts, or why there are none, to findings.
    """

    weigh: Callable[[Any, Mapping[str, Vector]], Weighed]
    judge: Callable[[Any, Verdicts | JudgementError], Findings]


@dataclass(frozen=True, slots=True)
class Judge:
    """The step of one judging agent.

    Attributes:
        agent: its name.
        report: model of its report.
        findings: model of what the step finds.
        prepare: answer to prepared answer.
        judge: prepared answer and vectors to findings.
        embeds: whether it needs vectors.
        fetch: what the judgement needs from outside, as further arguments of ``prepare``; it is
            recorded in the report, so that a replay sees the same.
        verified: takes the place of ``judge`` where the settings name a verifier.
    """

    agent: AgentName
    report: type[Report]
    findings: type[Findings]
    prepare: Callable[..., Any]
    judge: Callable[[Any, Mapping[str, Vector]], Findings]
    embeds: bool = True
    fetch: Callable[[GeneratedAnswer], Awaitable[tuple[Any, ...]]] | None = None
    verified: VerifiedJudge | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """What takes part in its judgement besides the rules."""
        return (("embedding",) if self.embeds else ()) + (("verifier",) if self.verified else ())


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a report comes from.

    Attributes:
        settings: what was judged by.
        pipeline_version: their fingerprint.
        judged_at: when.
        run: live, or the name of a replay.
    """

    settings: Settings
    pipeline_version: str
    judged_at: datetime
    run: str = LIVE_RUN


def make_report(
    judge: Judge, answer: GeneratedAnswer, record: Record, findings: Findings, seconds: float, origin: Origin
) -> Report:
    """A step's findings with where they come from.

    Args:
        judge: whose they are.
        answer: what was judged.
        record: the record that held it.
        findings: what was found.
        seconds: that the step took.
        origin: version and run.
    """
    return judge.report(
        **dict(findings),
        judgement_id=judgement_id(answer.answer_id, judge.agent, origin.run),
        answer_id=answer.answer_id,
        tenant=answer.tenant,
        agent=judge.agent,
        run=origin.run,
        pipeline_version=origin.pipeline_version,
        answer_partition=record.partition,
        answer_offset=record.offset,
        versions=rule_versions(origin.settings, *judge.models),
        duration_seconds=seconds,
        judged_at=origin.judged_at,
    )


def failed_findings(judge: Judge, answer: GeneratedAnswer, failure: Exception | None) -> Findings:
    """What a report says whose judgement could not be made: why, and no score."""
    if isinstance(failure, JudgementError):
        reason = str(failure)
    else:
        log.error("judgement_failed", agent=judge.agent, answer_id=answer.answer_id, exc_info=failure)
        reason = f"{type(failure).__name__} in the rules of {judge.agent}; the log has the traceback"
    return judge.findings(status="failed", reason=reason)


@dataclass(slots=True)
class _Case:
    """One answer on its way through the step."""

    record: Record
    answer: GeneratedAnswer
    given: tuple[Any, ...] = ()
    prepared: Any = None
    weighed: Any = None
    verdicts: Verdicts | JudgementError = field(default_factory=dict)
    findings: Findings | None = None
    failure: Exception | None = None
    seconds: float = 0.0


def judging_handler(judge: Judge, resources: Resources) -> Handler:
    """The handler of a judging agent.

    Returns:
        A handler that answers every readable record with exactly one report, also where
        the judgement fails: the report then says so and why.
    """

    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        loop = asyncio.get_running_loop()
        cases = await loop.run_in_executor(resources.steps_pool, _read_all, judge, works, resources)
        present = [case for case in cases if case is not None]
        if judge.fetch is not None:
            for case, given in zip(
                present, await asyncio.gather(*(judge.fetch(c.answer) for c in present)), strict=True
            ):
                case.given = given
        await loop.run_in_executor(resources.steps_pool, _prepare_all, judge, present)
        vectors = await asyncio.gather(*(_vectors(judge, case, resources) for case in present))
        if judge.verified is not None:
            await loop.run_in_executor(resources.steps_pool, _weigh_all, judge.verified, present, vectors)
            await asyncio.gather(*(_ask(case, resources) for case in present))
        outputs = iter(await loop.run_in_executor(resources.steps_pool, _judge_all, judge, present, vectors, resources))
        return [[] if case is None else [next(outputs)] for case in cases]

    return handle


def _read(record: Record, agent: str, resources: Resources) -> _Case | None:
    try:
        return _Case(record, read_answer(record, resources.settings.kafka.max_input_bytes))
    except UnreadableEvent as error:
        metrics.RECORDS_SKIPPED.labels(agent, error.code).inc()
    except OversizeRecord:
        metrics.RECORDS_SKIPPED.labels(agent, "oversize").inc()
    except UnreadableRecord:
        metrics.RECORDS_SKIPPED.labels(agent, "header").inc()
    return None


def _read_all(judge: Judge, works: Sequence[Work], resources: Resources) -> list[_Case | None]:
    return [_read(work.record, judge.agent, resources) for work in works]


def _prepare_all(judge: Judge, cases: Sequence[_Case]) -> None:
    for case in cases:
        started = time.perf_counter()
        try:
            case.prepared = judge.prepare(case.answer, *case.given)
        except Exception as error:
            case.failure = error
        case.seconds += time.perf_counter() - started


async def _vectors(judge: Judge, case: _Case, resources: Resources) -> Mapping[str, Vector]:
    if case.failure is not None or not judge.embeds or not case.prepared.texts:
        return {}
    assert resources.embedding is not None
    started = time.perf_counter()
    try:
        return await resources.embedding.embed(case.prepared.texts)
    except JudgementError as error:
        case.failure = error
        return {}
    finally:
        case.seconds += time.perf_counter() - started


def _weigh_all(judge: VerifiedJudge, cases: Sequence[_Case], vectors: Sequence[Mapping[str, Vector]]) -> None:
    for case, known in zip(cases, vectors, strict=True):
        started = time.perf_counter()
        try:
            case.weighed = judge.weigh(case.prepared, known) if case.failure is None else None
        except Exception as error:
            case.failure = error
        case.seconds += time.perf_counter() - started


async def _ask(case: _Case, resources: Resources) -> None:
    if case.failure is None:
        assert resources.verifier is not None
        started = time.perf_counter()
        case.verdicts = await ask_verifier(resources.verifier, case.weighed.questions, case.answer.answer_id)
        case.seconds += time.perf_counter() - started


def _judge_all(
    judge: Judge, cases: Sequence[_Case], vectors: Sequence[Mapping[str, Vector]], resources: Resources
) -> list[Output]:
    for case, known in zip(cases, vectors, strict=True):
        if case.failure is None:
            _judge(judge, case, known)
    return [_output(judge, case, resources) for case in cases]


def _judge(judge: Judge, case: _Case, vectors: Mapping[str, Vector]) -> None:
    started = time.perf_counter()
    try:
        if judge.verified is None:
            case.findings = judge.judge(case.prepared, vectors)
        else:
            case.findings = judge.verified.judge(case.weighed, case.verdicts)
    except Exception as error:
        case.failure = error
    case.seconds += time.perf_counter() - started
    metrics.RESPONSE_PROCESSING_SECONDS.labels(judge.agent).observe(case.seconds, exemplar(case.answer))


def _output(judge: Judge, case: _Case, resources: Resources) -> Output:
    report = _report(judge, case, resources)
    metrics.JUDGEMENTS.labels(judge.agent, report.status).inc()
    report, value = fit_report(report, resources.settings.kafka.max_record_bytes * 9 // 10)
    return event_output(
        REPORT_TOPICS[judge.agent],
        report,
        key=case.answer.answer_id,
        event_id=report.judgement_id,
        agent=judge.agent,
        time=report.judged_at,
        pipeline_version=resources.pipeline_version,
        traceparent=traceparent(case.answer),
        # Foreign producers partition as they like: the report goes where its answer is.
        partition=case.record.partition,
        value=value,
    )


def _report(judge: Judge, case: _Case, resources: Resources) -> Report:
    origin = Origin(resources.settings, resources.pipeline_version, resources.now())
    findings = case.findings or failed_findings(judge, case.answer, case.failure)
    return make_report(judge, case.answer, case.record, findings, case.seconds, origin)
