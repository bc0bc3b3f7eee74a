"""Every example through every step: the results are valid, finite, in bounds, repeatable and storable."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import combinations, cycle
from types import SimpleNamespace
from typing import Any, cast

import pytest

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.citations import MAX_EXCERPT, CitationFindings, CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.grounding import MAX_CLAIM_TEXT, GroundingFindings, GroundingReport
from schemas.identifiers import judgement_id, record_key
from schemas.quality import QualityFindings, QualityReport
from schemas.reports import Findings, Report
from schemas.topics import FEEDBACK_ANALYTICS, REPORT_TOPICS, TOPICS
from tests.harness.paths import ROOT
from tests.harness.variants import variants
from tests.unit.decision.test_quotations import is_said, quoted_in_references
from workers.agents import assembly, feedback, release, signals
from workers.agents.base import AgentContext, event_output
from workers.decision.enrichment import JUDGES, enrich
from workers.decision.finality import released_by
from workers.decision.reader_text.formatting import format_answer
from workers.decision.release_events import alerts, conversation_turn, released_answer, review_request
from workers.delivery.records import Output
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.quality.quality_evaluator import PreparedQuality, evaluate_quality, prepare_quality
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds, QualityThresholds
from workers.evaluation.trimming import fit_record, fit_report
from workers.feedback.implicit_signals import execution_signals
from workers.feedback.observed_events import execution_event
from workers.inference.backends import SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService, Vector
from workers.pipeline.versions import pipeline_version
from workers.review.decision_events import decided
from workers.settings import InferenceSettings, Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows
from workers.stores.tables.packed_rows import PACKED_BYTES, packed, unpacked
from workers.stores.tables.table_row import TableRow

NOW = datetime(2026, 11, 2, 8, 14, 7, tzinfo=UTC)
VERSION = pipeline_version(Settings(_env_file=None))
MAX_RECORD = 980_000
REPORTS: dict[str, type[Report]] = {
    "citations": CitationReport, "grounding": GroundingReport, "quality": QualityReport,
}  # fmt: skip


def strange_answers() -> Iterator[GeneratedAnswer]:
    """Answers that are valid and as strange as the contract allows."""
    base = {"completed_at": NOW, "query": "Why?", "contexts": [{"chunk_id": "c", "content": "Loki needs 2 GiB."}]}
    bodies: dict[str, Any] = {
        "one-word": {"answer": "a" * 60_000},
        "many-claims": {"answer": "Loki needs 2 GiB [1]. " * 2_500},
        "empty": {"answer": ""},
        "blank": {"answer": " \n\t\u200b\n"},
        "nul": {"answer": "Loki\x00 needs \x1b[31m2 GiB.", "query": "\x00"},
        "line-ends": {"answer": "# Loki\r\n\r\n* needs 2 GiB\r* or 4\u2028GiB\r\n"},
        "scripts": {"answer": "لوكي يحتاج ٢ جيجابايت. 日本語の文。👩‍👩‍👧‍👦 é Ж 2 GiB [1]", "query": "ما هذا؟"},
        "fences": {"answer": "```python\nprint('Loki [1]')\n~~~\n````\n| a | b\n|--|--\n| 2 GiB [1]"},
        "brackets": {"answer": "[" * 3_000 + "1" + "]" * 3_000 + "(" * 2_000},
        "emphasis": {"answer": "**" * 3_000 + "Loki" + "_" * 3_000},
        "digits": {"answer": "9" * 20_000 + " GiB [99999999999999999999999999] 1e999 -0.0 ½ ² 1,2,3.4.5"},
        "no-contexts": {"answer": "Loki needs 2 GiB.", "contexts": None},
        "no-context": {"answer": "Loki needs 2 GiB.", "contexts": []},
        "error": {"answer": "", "status": "error", "error": "timeout after 30 s"},
        "backwards": {"answer": "Loki needs 2 GiB.", "requested_at": NOW + timedelta(hours=1)},
        "empty-context": {"answer": "Loki needs 2 GiB [1].", "contexts": [{"chunk_id": "c", "content": ""}]},
        "twice": {
            "answer": "Loki needs 2 GiB [1][2]. Or 4 [2].",
            "contexts": [{"chunk_id": "c", "content": "Loki needs 2 GiB."}] * 2,
        },
        "records": {
            "answer": "Pump P-7 runs at 84.5 °C [1] and 1200 rpm [2].",
            "contexts": [
                {"chunk_id": "j", "content": json.dumps([{"pump": "P-7", "temperature": 84.5, "deep": [[[{}]]]}])},
                {"chunk_id": "t", "content": "| pump | rpm |\n|---|---|\n| P-7 | 1200 |"},
                {"chunk_id": "k", "content": '{"pump": "P-7", "rpm": 12'},
            ],
        },
        "provided": {
            "answer": "Loki needs 2 GiB.",
            "citations": [
                {"number": 10**30}, {"number": 1, "start": 5, "end": 2}, {"chunk_id": "x" * 200},
                {"cited_text": "needs 2"}, {"start": 0, "end": 10**9}, {}, {"number": 2}, {"number": 2},
            ],
        },
        "all-cited": {
            "answer": " ".join(f"Part {n} of the pump lasts {n} hours [{n}]." for n in range(1, 121)) * 12,
            "contexts": [
                {
                    "chunk_id": f"chunk-{n}", "content": f"Part {n} of the pump lasts {n} hours.",
                    "source_name": "n" * 200, "source_path": "https://example.test/" + "p" * 1_900,
                    "source_table": "t" * 200, "record_id": "r" * 200, "entity": "e" * 200,
                }
                for n in range(1, 121)
            ],
        },
    }  # fmt: skip
    for name, body in bodies.items():
        yield GeneratedAnswer.from_bytes(GeneratedAnswer(answer_id=f"strange-{name}", **(base | body)).to_bytes())


@lru_cache(maxsize=1)
def all_answers() -> dict[str, GeneratedAnswer]:
    lines = (ROOT / "examples" / "answers.jsonl").read_bytes().splitlines()
    answers = [GeneratedAnswer.model_validate(example(GeneratedAnswer))]
    answers += [GeneratedAnswer.from_bytes(line) for line in lines if line.strip()]
    answers += strange_answers()
    found = {answer.answer_id: answer for answer in answers}
    assert len(found) == len(answers), "two examples share an identifier"
    return found


EVERY = pytest.mark.parametrize("answer_id", all_answers())


@dataclass(frozen=True)
class Prepared:
    grounding: PreparedGrounding
    quality: PreparedQuality


@pytest.fixture(scope="session")
def prepared() -> dict[str, Prepared]:
    return {
        name: Prepared(prepare_grounding(answer), prepare_quality(answer)) for name, answer in all_answers().items()
    }


@pytest.fixture(scope="session")
def vectors(backend: SentenceTransformerBackend, prepared: Mapping[str, Prepared]) -> dict[str, Vector]:
    """Every text of every answer, embedded together by the service."""

    async def embed() -> dict[str, Vector]:
        service = EmbeddingService(backend, InferenceSettings(timeout_seconds=300))
        service.start()
        try:
            return await service.embed(text for each in prepared.values() for text in texts_of(each))
        finally:
            await service.stop()

    return asyncio.run(embed())


def texts_of(each: Prepared) -> list[str]:
    return list(each.quality.texts)


def judge(answer_id: str, each: Prepared, vectors: Mapping[str, Vector]) -> dict[str, Findings]:
    return {
        "citations": find_citations(all_answers()[answer_id]),
        "grounding": evaluate_grounding(each.grounding, GroundingThresholds()),
        "quality": evaluate_quality(each.quality, vectors, QualityThresholds()),
    }


@pytest.fixture(scope="session")
def findings(prepared: Mapping[str, Prepared], vectors: Mapping[str, Vector]) -> dict[str, dict[str, Findings]]:
    return {name: judge(name, each, vectors) for name, each in prepared.items()}


def report(answer: GeneratedAnswer, agent: str, found: Findings) -> Report:
    return REPORTS[agent](
        **dict(found),
        judgement_id=judgement_id(answer.tenant, answer.answer_id, agent),
        answer_id=answer.answer_id,
        tenant=answer.tenant,
        agent=agent,
        pipeline_version=VERSION,
        answer_partition=2,
        answer_offset=1041,
        judged_at=NOW,
    )


def reports_of(answer_id: str, found: Mapping[str, Findings]) -> dict[str, Report]:
    return {agent: report(all_answers()[answer_id], agent, found[agent]) for agent in found}


def enriched_of(answer_id: str, reports: Mapping[str, Report], **changes: Any) -> EnrichedAnswer:
    arguments: dict[str, Any] = {
        "partition": 2,
        "offset": 1041,
        "now": NOW,
        "pipeline_version": VERSION,
        "default_risk_mode": "observer",
        "gate": GateThresholds(),
        "grounding_thresholds": GroundingThresholds(),
        "style": "standard",
        "remember_without_context": False,
    }
    return enrich(all_answers()[answer_id], reports, **(arguments | changes))


def assert_travels(event: Event) -> None:
    """It is written, read again without loss, and holds no number that JSON does not have."""
    value = event.to_bytes()
    assert type(event).from_bytes(value).to_bytes() == value

    def numbers(part: Any) -> Iterator[float]:
        if isinstance(part, float):
            yield part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from numbers(inner)

    assert all(math.isfinite(number) for number in numbers(event.model_dump()))


@EVERY
def test_reports_are_valid_and_finite(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    for each in reports_of(answer_id, findings[answer_id]).values():
        assert each.status in ("ok", "skipped")
        assert (each.reason is None) == (each.status == "ok")
        assert_travels(each)


@EVERY
def test_claims_and_evidence_stand_where_they_say(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    answer = all_answers()[answer_id]
    grounding = findings[answer_id]["grounding"]
    assert isinstance(grounding, GroundingFindings)
    chunks = answer.contexts or []
    for claim in grounding.claims:
        assert 0 <= claim.span.start < claim.span.end <= len(answer.answer)
        assert answer.answer[claim.span.start : claim.span.end][:MAX_CLAIM_TEXT] == claim.text
        if claim.evidence is not None:
            chunk = chunks[claim.evidence.number - 1]
            assert chunk.chunk_id == claim.evidence.chunk_id
            assert 0 <= claim.evidence.span.start < claim.evidence.span.end <= len(chunk.content)
            assert chunk.content[claim.evidence.span.start : claim.evidence.span.end].strip()
        assert all(1 <= number <= len(chunks) for number in claim.cited_numbers)
        assert (claim.score is None) == (claim.verdict == "not_checked")
    assert len({claim.claim_id for claim in grounding.claims}) == len(grounding.claims)
    assert [c.span.start for c in grounding.claims] == sorted(c.span.start for c in grounding.claims)
    assert grounding.claims_total >= len(grounding.claims)
    for marker in grounding.uncertainty_markers:
        assert answer.answer[marker.start : marker.end].strip()


@EVERY
def test_citations_stand_where_they_say(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    answer = all_answers()[answer_id]
    found = findings[answer_id]["citations"]
    assert isinstance(found, CitationFindings)
    chunks = answer.contexts or []
    for citation in found.citations:
        assert chunks[citation.number - 1].chunk_id == citation.chunk_id
        text = citation.excerpt.removesuffix("…")
        assert len(text) <= MAX_EXCERPT
        assert chunks[citation.number - 1].content.strip().startswith(text)
    spans = [span for citation in found.citations for span in citation.spans]
    spans += [reference.span for reference in found.invalid_references if reference.span]
    for span in [*spans, *found.inference_spans]:
        assert 0 <= span.start < span.end <= len(answer.answer)
    assert found.cited_recommendations <= found.cited_claims <= found.claims
    assert {c.number for c in found.citations} | {u.number for u in found.unused_sources} == (
        set(range(1, len(chunks) + 1)) if found.status == "ok" else set()
    )
    if found.status == "ok":
        assert found.valid == (not found.invalid_references)


@EVERY
def test_signals_stand_where_they_say(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    answer = all_answers()[answer_id]
    quality = findings[answer_id]["quality"]
    assert isinstance(quality, QualityFindings)
    for signal in quality.signals:
        if signal.span is not None:
            assert 0 <= signal.span.start <= signal.span.end <= len(answer.answer)


@pytest.mark.parametrize("answer_id", variants(all_answers(), in_every_run=list(all_answers())[::4]))
def test_a_judgement_is_the_same_twice(
    answer_id: str, findings: Mapping[str, dict[str, Findings]], vectors: Mapping[str, Vector]
) -> None:
    answer = all_answers()[answer_id]
    again = judge(answer_id, Prepared(prepare_grounding(answer), prepare_quality(answer)), vectors)
    assert again == findings[answer_id]
    once, twice = (enriched_of(answer_id, reports_of(answer_id, found)) for found in (findings[answer_id], again))
    assert once.to_bytes() == twice.to_bytes()


def test_batch_mates_change_nothing(
    backend: SentenceTransformerBackend,
    prepared: Mapping[str, Prepared],
    findings: Mapping[str, dict[str, Findings]],
) -> None:
    """An answer embedded alone gives to the last bit what it gave among all others; only its quality depends on vectors."""
    some = [name for name, each in prepared.items() if 0 < len(texts_of(each)) <= 40][::6]
    assert len(some) >= 15
    for name in some:
        each = prepared[name]
        texts = list(dict.fromkeys(texts_of(each)))
        # The backend of the tests keeps what it has embedded: it is asked past its memory.
        alone = dict(zip(texts, SentenceTransformerBackend.encode(backend, texts), strict=True))
        assert evaluate_quality(each.quality, alone, QualityThresholds()) == findings[name]["quality"], name


@EVERY
def test_every_subset_of_reports_makes_a_valid_answer(
    answer_id: str, findings: Mapping[str, dict[str, Findings]]
) -> None:
    reports = reports_of(answer_id, findings[answer_id])
    ranks = {}
    modes = cycle(("observer", "gatekeeper"))
    for names in (subset for size in range(4) for subset in combinations(JUDGES, size)):
        enriched = enriched_of(answer_id, {n: reports[n] for n in names}, default_risk_mode=next(modes))
        assert enriched.missing == [name for name in JUDGES if name not in names]
        assert enriched.degraded == bool(enriched.missing)
        assert_travels(enriched)
        ranks[names] = enriched.rank
    assert all(ranks[few] < ranks[JUDGES] for few in ranks if few != JUDGES)
    assert all(ranks[few] <= ranks[many] for few in ranks for many in ranks if set(few) <= set(many))


@EVERY
def test_a_failed_report_degrades_and_says_which(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    reports = reports_of(answer_id, findings[answer_id])
    complete = enriched_of(answer_id, reports)
    for agent in JUDGES:
        failure = type(findings[answer_id][agent])(status="failed", reason="the model raised RuntimeError")
        failed = report(all_answers()[answer_id], agent, failure)
        enriched = enriched_of(answer_id, reports | {agent: failed})
        assert (enriched.degraded, enriched.failed, enriched.missing) == (True, [agent], [])
        assert enriched.rank < complete.rank
        assert not enriched.decision.remember
        assert_travels(enriched)


@EVERY
def test_formatting_is_valid_and_keeps_to_its_bounds(
    answer_id: str, findings: Mapping[str, dict[str, Findings]]
) -> None:
    answer, reports = all_answers()[answer_id], reports_of(answer_id, findings[answer_id])
    found = findings[answer_id]["citations"]
    assert isinstance(found, CitationFindings)
    styles: tuple[Any, ...] = ("standard", "compact", "verbose")
    for style in styles:
        text = format_answer(answer.answer, found.citations, style=style)
        assert text == format_answer(answer.answer, found.citations, style=style)
        assert_travels(enriched_of(answer_id, reports, style=style))


@EVERY
def test_what_is_trimmed_is_named_and_still_valid(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    whole = enriched_of(answer_id, reports_of(answer_id, findings[answer_id]))
    untrimmed = whole.to_bytes()
    for max_bytes in (MAX_RECORD, 100_000, 4_000, 1):
        fitted, value = fit_record(whole, max_bytes)
        assert value == fitted.to_bytes(), max_bytes
        assert EnrichedAnswer.from_bytes(value).to_bytes() == value
        assert len(value) <= max(max_bytes, len(untrimmed))
        assert value == untrimmed or set(fitted.trimmed) > set(whole.trimmed), max_bytes
        if max_bytes == MAX_RECORD:
            assert len(value) <= max_bytes, "an input within its limit must give a record within the broker's"
        if fitted.grounding and whole.grounding:
            assert fitted.grounding.claims_total == whole.grounding.claims_total
        assert_travels(released_answer(fitted, NOW))


@pytest.mark.parametrize("answer_id", [name for name in all_answers() if not name.startswith("strange-")])
def test_a_quotation_is_the_text_of_its_source(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    answer, reports = all_answers()[answer_id], reports_of(answer_id, findings[answer_id])
    citations, grounding, contexts = reports["citations"], reports["grounding"], answer.contexts or []
    assert isinstance(citations, CitationReport) and isinstance(grounding, GroundingReport)
    found = [(each.number, each.excerpt) for claim in grounding.claims for each in claim.sources]
    found += [(claim.evidence.number, claim.evidence.excerpt) for claim in grounding.claims if claim.evidence]
    found += [
        (each.number, each.excerpt) for both in grounding.conflicts for each in (both.supporting, both.contradicting)
    ]
    found += quoted_in_references(answer, grounding, citations).items()
    for number, quote in found:
        assert is_said(quote, contexts[number - 1].content), quote


def outcomes_of(enriched: EnrichedAnswer) -> list[Event]:
    request = review_request(enriched, NOW, deadline_hours=24)
    turn = conversation_turn(enriched)
    events: list[Event] = [released_answer(enriched, NOW), *alerts(enriched, NOW, GroundingThresholds())]
    return events + [event for event in (request, turn) if event is not None]


@EVERY
@pytest.mark.parametrize("mode", ["observer", "gatekeeper"])
def test_outcomes_are_valid_and_agree_with_the_decision(
    answer_id: str, mode: Any, findings: Mapping[str, dict[str, Findings]]
) -> None:
    reports = reports_of(answer_id, findings[answer_id])
    for names in ((), ("grounding",), ("citations", "quality"), JUDGES):
        enriched = enriched_of(answer_id, {n: reports[n] for n in names}, default_risk_mode=mode)
        decision = enriched.decision
        for event in outcomes_of(enriched):
            assert_travels(event)
        released = released_answer(enriched, NOW)
        assert (released.content is None) == (decision.state == "held")
        assert (released.review_id is not None) == decision.review
        assert released.final == decision.final
        request = review_request(enriched, NOW, deadline_hours=24)
        assert (request is not None) == decision.review
        if request is not None:
            assert request.held == (decision.state == "held")
            assert all(claim.verdict in ("unsupported", "contradicted") for claim in request.claims)
        turn = conversation_turn(enriched)
        assert (turn is not None) == decision.remember
        assert not (turn and (enriched.degraded or decision.state in ("held", "rejected", "fallback")))
        assert {alert.alert_type for alert in alerts(enriched, NOW, GroundingThresholds())} >= (
            {"degraded_result"} if enriched.degraded else set()
        )


@pytest.mark.parametrize("mode", ["gatekeeper", "observer"])
def test_what_a_reviewer_approves_is_released_as_the_pipeline_has_formatted_it(
    mode: Any, findings: Mapping[str, dict[str, Findings]]
) -> None:
    """With the disclaimer where it was shown with one, without where it was held."""
    reviewed = 0
    for name, found in findings.items():
        enriched = enriched_of(name, reports_of(name, found), default_risk_mode=mode)
        request = review_request(enriched, NOW, deadline_hours=24)
        if request is None or enriched.formatted is None:
            continue
        warned = enriched.decision.state == "warned"
        decision = decided(request, by="r", profile={}, at=NOW, action="approve", with_warning=warned)
        assert_travels(request)
        assert_travels(decision)
        assert released_by(decision).content == enriched.formatted.content, name
        reviewed += 1
    assert reviewed > 20


# --- every row into ClickHouse ---------------------------------------------------------------

KEYS = {
    "answers": ("tenant", "answer_id", "run"),
    "claims": ("tenant", "answer_id", "run", "claim_id"),
    "citations": ("tenant", "answer_id", "run", "citation_id"),
    "sources": ("tenant", "source_digest"),
    "citation_logs": ("tenant", "response_id", "run"),
    "reviews": ("tenant", "review_id"),
    "review_queue": ("review_id",),
    "alerts": ("tenant", "alert_id"),
}


def rows_of(enriched: EnrichedAnswer) -> list[tuple[str, dict[str, Any]]]:
    rows = enriched_rows(enriched)
    request = review_request(enriched, NOW, deadline_hours=24)
    rows += review_rows(request) if request is not None else []
    rows += [alert_row(alert, enriched) for alert in alerts(enriched, NOW, GroundingThresholds())]
    for row in rows:
        assert_travels(row.record())
    return [(row.table, row.columns) for row in rows]


async def test_every_row_fits_its_table_and_repeats_add_nothing(
    analytics: AnalyticsStore, settings: Settings, findings: Mapping[str, dict[str, Findings]]
) -> None:
    """Complete, degraded, complete once more: after FINAL each fact stands there once, and complete."""
    complete, degraded = [], []
    for name, found in findings.items():
        reports = reports_of(name, found)
        complete += rows_of(enriched_of(name, reports))
        degraded += rows_of(enriched_of(name, {"quality": reports["quality"]}))
    for rows in (complete, degraded, complete):
        for table in KEYS:
            await analytics.insert(table, [columns for where, columns in rows if where == table])
    database = settings.clickhouse.database
    for table, key in KEYS.items():
        written = [tuple(columns[name] for name in key) for where, columns in complete if where == table]
        twice = [identifier for identifier, times in Counter(written).items() if times > 1]
        # A content that many answers rest on is kept once; an invalid marker may repeat itself.
        assert table == "sources" or all("strange-" in identifier[1] for identifier in twice), table
        extra = {tuple(columns[name] for name in key) for where, columns in degraded if where == table}
        result = await analytics.client.query(f"SELECT {', '.join(key)} FROM {database}.{table} FINAL")
        assert sorted(map(tuple, result.result_rows)) == sorted(set(written) | extra), table
    result = await analytics.client.query(f"SELECT countIf(degraded), min(rank) FROM {database}.answers FINAL")
    assert result.result_rows == [(0, 4)]


async def test_figures_come_back_as_they_were_judged(
    analytics: AnalyticsStore, settings: Settings, findings: Mapping[str, dict[str, Findings]]
) -> None:
    names = [name for name in findings if not name.startswith("strange-")]
    enriched = {name: enriched_of(name, reports_of(name, findings[name])) for name in names}
    await analytics.insert(
        "answers", [columns for e in enriched.values() for table, columns in rows_of(e) if table == "answers"]
    )
    result = await analytics.client.query(
        "SELECT answer_id, answer, completed_at, grounding_score, gate_score, hallucination_risk, claims_total, "
        f"reasons, state, requested_at FROM {settings.clickhouse.database}.answers FINAL"
    )
    assert len(result.result_rows) == len(names)
    for row in result.named_results():
        e = enriched[row["answer_id"]]
        assert e.grounding is not None
        assert row["answer"] == e.answer.answer
        assert row["completed_at"].replace(tzinfo=UTC) == e.answer.completed_at
        requested = row["requested_at"]
        assert (requested and requested.replace(tzinfo=UTC)) == e.answer.requested_at
        assert row["grounding_score"] == e.grounding.grounding_score
        assert row["gate_score"] == e.evaluation.score
        assert row["hallucination_risk"] == e.grounding.hallucination_risk
        assert row["claims_total"] == e.grounding.claims_total
        assert (row["reasons"], row["state"]) == (e.decision.reasons, e.decision.state)


# --- few records of few bytes, and rows that travel together --------------------------------------

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
        made, value = fit_report(report, MAX_RECORD)
        yield event_output(REPORT_TOPICS[agent], made, event_id=made.judgement_id, agent=agent, value=value, **common)
    enriched, value = fit_record(enriched_of(name, reports), MAX_RECORD, all_fields=settings.kafka.all_fields)
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


# --- schema examples agree with each other -----------------------------------------------------


def test_examples_of_the_schemas_are_one_story() -> None:
    examples = {topic.model: topic.model.model_validate(example(topic.model)) for topic in TOPICS}
    answer, enriched = examples[GeneratedAnswer], examples[EnrichedAnswer]
    assert isinstance(answer, GeneratedAnswer)
    assert isinstance(enriched, EnrichedAnswer)
    assert enriched.answer == answer
    assert enriched.citations == examples[CitationReport]
    assert enriched.grounding == examples[GroundingReport]
    assert enriched.quality == examples[QualityReport]
    for each in (enriched.citations, enriched.grounding, enriched.quality):
        assert each is not None
        assert each.judgement_id == judgement_id(answer.tenant, answer.answer_id, each.agent)
        assert (each.answer_partition, each.answer_offset) == (2, 1041)
