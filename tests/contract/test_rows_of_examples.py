"""The example answers become few records of few bytes, and their rows travel together."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from schemas.reports import Findings
from schemas.topics import FEEDBACK_ANALYTICS, REPORT_TOPICS
from tests.contract.test_steps_on_examples import NOW, all_answers, enriched_of, reports_of
from tests.contract.test_steps_on_examples import findings as findings
from tests.contract.test_steps_on_examples import prepared as prepared
from tests.contract.test_steps_on_examples import vectors as vectors
from workers.agents import assembly, feedback, release, signals
from workers.agents.base import AgentContext, event_output
from workers.decision.release_events import alerts, review_request
from workers.delivery.records import Output
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.trimming import fit_record, fit_report
from workers.feedback.implicit_signals import execution_signals
from workers.feedback.observed_events import execution_event
from workers.settings import Settings
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows
from workers.stores.tables.packed_rows import PACKED_BYTES, packed, unpacked
from workers.stores.tables.table_row import TableRow

LIMIT = 980_000
FEATURES = [0.1234] * 16
"""Features of a query: their bytes hardly depend on the query."""

BOUNDS = {
    "answers.citations": 1_450, "answers.grounding": 5_700, "answers.quality": 1_270, "answers.enriched": 14_000,
    "answers.released": 1_900, "memory.turns": 520, "review.requests": 3_150, "feedback.events": 880,
    "feedback.rewards": 910, "feedback.analytics": 14_500, "alerts.raised": 580,
}  # fmt: skip
"""Bytes that may be written of an answer to each topic, keys and headers included: some five percent above what the
examples need in the mean."""

RECORDS = 11.5
"""Records that may be written of an answer; the examples need 11.2 in the mean."""


def rows_by_agent(enriched: EnrichedAnswer) -> list[list[TableRow]]:
    """Return the rows of assembly and those of release."""
    request = review_request(enriched, NOW, deadline_hours=24)
    released: list[TableRow] = list(review_rows(request)) if request is not None else []
    released += [alert_row(alert, enriched) for alert in alerts(enriched, NOW, GroundingThresholds())]
    return [list(enriched_rows(enriched)), released]


def size(event: Any, enriched: EnrichedAnswer) -> int:
    """Return the bytes of a record with its key and headers."""
    output = event_output(
        FEEDBACK_ANALYTICS, event, key=enriched.answer_id, event_id=enriched.answer_id, agent="assembly", time=NOW,
        pipeline_version="0.1.0+0123456789ab",
    )  # fmt: skip
    return bytes_of(output)


def bytes_of(output: Output) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in output.headers)
    return len(output.key or b"") + len(output.value or b"") + headers


def test_an_answer_has_one_record_of_rows_for_each_agent(findings: Mapping[str, dict[str, Findings]]) -> None:
    singly = together = rows = records = answers = 0
    for name, found in findings.items():
        enriched = enriched_of(name, reports_of(name, found))
        for of_agent in rows_by_agent(enriched):
            made = packed(of_agent)
            each_alone = sum(size(row.record(), enriched) for row in of_agent)
            assert sorted(table for each in made for table, _ in unpacked(each)) == sorted(
                row.table for row in of_agent
            )
            if each_alone > PACKED_BYTES:
                continue  # an answer of 60,000 characters
            assert len(made) == bool(of_agent), name
            rows, records, singly = rows + len(of_agent), records + len(made), singly + each_alone
            together += sum(size(each, enriched) for each in made)
        answers += 1
    assert records < 0.2 * rows
    assert together < 0.75 * singly


def context_with(settings: Settings) -> AgentContext:
    """Return what the functions of agents use of their context."""
    return cast(
        AgentContext, SimpleNamespace(settings=settings, pipeline_version="2026.11-abcdef123456", now=lambda: NOW)
    )


def records_of(name: str, found: Mapping[str, Findings], context: AgentContext) -> Iterator[Output]:
    answer, settings = all_answers()[name], context.settings
    common: dict[str, Any] = {
        "key": record_key(answer.tenant, name), "time": NOW, "pipeline_version": context.pipeline_version,
    }  # fmt: skip
    reports = reports_of(name, found)
    for agent, report in reports.items():
        made, value = fit_report(report, LIMIT)
        yield event_output(REPORT_TOPICS[agent], made, event_id=made.judgement_id, agent=agent, value=value, **common)
    enriched, value = fit_record(enriched_of(name, reports), LIMIT, all_fields=settings.kafka.all_fields)
    yield from assembly._outputs(enriched, value, context)
    yield from release._release(enriched, context)
    outcome = execution_signals(answer, settings.feedback, settings.quality)
    event = execution_event(answer, outcome.model_copy(update={"query_features": FEATURES}))
    yield signals._output(event, answer, context)
    yield from feedback._outputs([event], None, context)


def test_an_answer_becomes_few_records_with_few_bytes(findings: Mapping[str, dict[str, Findings]]) -> None:
    context = context_with(Settings(_env_file=None))
    names = [name for name in findings if not name.startswith("strange-")]
    records = [output for name in names for output in records_of(name, findings[name], context)]
    written: Counter[str] = Counter()
    for output in records:
        written[output.topic.name] += bytes_of(output)
    found = {topic: round(total / len(names)) for topic, total in written.items()}
    assert set(found) == set(BOUNDS)
    assert {topic: size for topic, size in found.items() if size > BOUNDS[topic]} == {}
    assert len(records) < RECORDS * len(names)
