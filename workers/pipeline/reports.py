"""Build reports from findings, and the enriched answer from reports."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.identifiers import LIVE_RUN, judgement_id
from schemas.reports import Report
from schemas.topics import ANSWERS_EVALUATIONS, REPORT_TOPICS, Topic
from workers.decision.enrichment import enrich
from workers.delivery.records import Record
from workers.errors import JudgementError
from workers.evaluation.trimming import fit_record, fit_report
from workers.observability.logs import get_logger
from workers.pipeline.builtin_evaluators import BUILTIN
from workers.pipeline.evaluator import MAX_REASON, Evaluation, InvalidFindings, invalid_findings
from workers.pipeline.versions import rule_versions
from workers.settings import Settings

MAX_REPORT_REASON = 2_000
"""Maximum length of a report's reason, code points: that of ``ShortText``."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Origin:
    """The provenance of a report.

    Attributes:
        settings: all settings.
        pipeline_version: their fingerprint.
        judged_at: time of the evaluation.
        run: live, or the name of a replay.
    """

    settings: Settings
    pipeline_version: str
    judged_at: datetime
    run: str = LIVE_RUN


def make_report(
    evaluation: Evaluation, answer: GeneratedAnswer, record: Record, origin: Origin
) -> tuple[Report, bytes]:
    """Return the report of an evaluation and its bytes, trimmed to the size of a record.

    A failed evaluation, and findings that do not fit the report, give a report with the status ``failed`` and a reason.

    Args:
        evaluation: the finished evaluation of one evaluator.
        answer: the evaluated answer.
        record: the record of the answer.
        origin: settings, version, run and time.
    """
    name = evaluation.name
    common: dict[str, object] = {
        "judgement_id": judgement_id(answer.tenant, answer.answer_id, name, origin.run),
        "answer_id": answer.answer_id,
        "tenant": answer.tenant,
        "agent": name,
        "run": origin.run,
        "pipeline_version": origin.pipeline_version,
        "answer_partition": record.partition,
        "answer_offset": record.offset,
        "versions": rule_versions(origin.settings, *_models(evaluation)),
        "duration_seconds": evaluation.seconds,
        "judged_at": origin.judged_at,
    }
    if evaluation.report is EvaluationReport:
        common["completed_at"] = answer.completed_at
    limit = origin.settings.kafka.max_record_bytes * 9 // 10
    failure = evaluation.failure
    if failure is None and evaluation.findings is not None:
        # A plug-in may derive a model with additional fields, which reports do not have.
        found = {
            key: value for key, value in dict(evaluation.findings).items() if key in evaluation.report.model_fields
        }
        try:
            report, value = fit_report(evaluation.report.model_validate(found | common), limit)
            if name in BUILTIN:
                return report, value
            evaluation.report.from_bytes(value)
            if len(value) <= limit:
                return report, value
            failure = InvalidFindings(f"the findings of {name} have {len(value)} bytes; at most {limit} are allowed")
        except ValidationError as error:
            failure = invalid_findings(name, error)
        except UnreadableEvent as error:
            failure = InvalidFindings(f"the findings of {name} cannot be read again: {error}"[:MAX_REASON])
        except (ValueError, RecursionError):
            failure = InvalidFindings(
                f"the findings of {name} cannot be written as JSON: a text holds half a surrogate pair, or a number is "
                "too long"
            )
    reason = _reason(name, answer, failure)
    return fit_report(evaluation.report.model_validate(common | {"status": "failed", "reason": reason}), limit)


def report_topic(evaluator: str) -> Topic:
    """Return the topic of an evaluator's reports: its own for a built-in one, one for all plug-ins."""
    return REPORT_TOPICS.get(evaluator, ANSWERS_EVALUATIONS)


def _models(evaluation: Evaluation) -> tuple[str, ...]:
    needs = evaluation.needs
    return (("embedding",) if needs.vectors else ()) + (("verifier",) if needs.verifier else ())


def _reason(name: str, answer: GeneratedAnswer, failure: Exception | None) -> str:
    reason = None
    if isinstance(failure, JudgementError):
        # A plug-in may raise it with any text, or with one that cannot be made.
        with suppress(Exception):
            reason = str(failure)
    if reason is None:
        log.error("evaluation_failed", agent=name, answer_id=answer.answer_id, exc_info=failure)
        reason = f"{type(failure).__name__} in the rules of {name}; the log has the traceback"
    return reason[:MAX_REPORT_REASON].encode("utf-8", "backslashreplace").decode()[:MAX_REPORT_REASON]


def build_enriched_answer(
    answer: GeneratedAnswer, reports: Mapping[str, Report], record: Record, origin: Origin
) -> tuple[EnrichedAnswer, bytes]:
    """Return the enriched answer of an answer and its reports, trimmed to the size of a record.

    Args:
        answer: the answer.
        reports: reports by agent; a missing report makes the result degraded.
        record: position of the answer's record.
        origin: settings, version, run and time.

    Returns:
        The enriched answer and its bytes.
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
        evaluators=settings.evaluators.enabled,
    )
    return fit_record(enriched, settings.kafka.largest_result_bytes, all_fields=settings.kafka.all_fields)
