"""Every example through every step: the results are valid, finite, in bounds, repeatable and storable."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import combinations
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.citations import MAX_EXCERPT, CitationFindings, CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.grounding import MAX_CLAIM_TEXT, GroundingFindings, GroundingReport
from schemas.identifiers import judgement_id
from schemas.quality import QualityFindings, QualityReport
from schemas.reports import Findings, Report
from schemas.topics import TOPICS
from tests.harness.paths import ROOT
from workers.decision.enrichment import JUDGES, enrich
from workers.decision.finality import released_by
from workers.decision.reader_text.formatting import format_answer
from workers.decision.release_events import alerts, conversation_turn, released_answer, review_request
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.quality.quality_evaluator import PreparedQuality, evaluate_quality, prepare_quality
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds, QualityThresholds
from workers.evaluation.trimming import fit_record
from workers.inference.backends import SentenceTransformerBackend
from workers.inference.embedding import EmbeddingService, Vector
from workers.pipeline.versions import pipeline_version
from workers.review.decision_events import decided
from workers.settings import InferenceSettings, Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows

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


@EVERY
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
    """An answer embedded alone gives to the last bit what it gave among all others."""
    some = [name for name, each in prepared.items() if 0 < len(texts_of(each)) <= 40][::6]
    assert len(some) >= 15
    for name in some:
        each = prepared[name]
        texts = list(dict.fromkeys(texts_of(each)))
        alone = dict(zip(texts, backend.encode(texts), strict=True))
        assert judge(name, each, alone) == findings[name], name


@EVERY
def test_every_subset_of_reports_makes_a_valid_answer(
    answer_id: str, findings: Mapping[str, dict[str, Findings]]
) -> None:
    reports = reports_of(answer_id, findings[answer_id])
    ranks = {}
    for names in (subset for size in range(4) for subset in combinations(JUDGES, size)):
        for mode in ("observer", "gatekeeper"):
            enriched = enriched_of(answer_id, {n: reports[n] for n in names}, default_risk_mode=mode)
            assert enriched.missing == [name for name in JUDGES if name not in names]
            assert enriched.degraded == bool(enriched.missing)
            assert_travels(enriched)
            ranks[names] = enriched.rank
    assert all(ranks[few] < ranks[JUDGES] for few in ranks if few != JUDGES)
    assert all(ranks[few] <= ranks[many] for few in ranks for many in ranks if set(few) <= set(many))


@EVERY
def test_a_failed_report_degrades_and_says_which(answer_id: str, findings: Mapping[str, dict[str, Findings]]) -> None:
    reports = reports_of(answer_id, findings[answer_id])
    for agent in JUDGES:
        failure = type(findings[answer_id][agent])(status="failed", reason="the model raised RuntimeError")
        failed = report(all_answers()[answer_id], agent, failure)
        enriched = enriched_of(answer_id, reports | {agent: failed})
        assert (enriched.degraded, enriched.failed, enriched.missing) == (True, [agent], [])
        assert enriched.rank < enriched_of(answer_id, reports).rank
        assert not enriched.decision.remember
        assert_travels(enriched)


@EVERY
@pytest.mark.parametrize("style", ["standard", "compact", "verbose"])
def test_formatting_is_valid_and_keeps_to_its_bounds(
    answer_id: str, style: Any, findings: Mapping[str, dict[str, Findings]]
) -> None:
    answer = all_answers()[answer_id]
    found = findings[answer_id]["citations"]
    assert isinstance(found, CitationFindings)
    text = format_answer(answer.answer, found.citations, style=style)
    assert text == format_answer(answer.answer, found.citations, style=style)
    assert_travels(enriched_of(answer_id, reports_of(answer_id, findings[answer_id]), style=style))


@EVERY
@pytest.mark.parametrize("max_bytes", [MAX_RECORD, 100_000, 4_000, 1])
def test_what_is_trimmed_is_named_and_still_valid(
    answer_id: str, max_bytes: int, findings: Mapping[str, dict[str, Findings]]
) -> None:
    whole = enriched_of(answer_id, reports_of(answer_id, findings[answer_id]))
    fitted, value = fit_record(whole, max_bytes)
    assert value == fitted.to_bytes()
    assert EnrichedAnswer.from_bytes(value).to_bytes() == value
    assert len(value) <= max(max_bytes, len(whole.to_bytes()))
    assert (fitted.to_bytes() == whole.to_bytes()) or set(fitted.trimmed) > set(whole.trimmed)
    if max_bytes == MAX_RECORD:
        assert len(value) <= max_bytes, "an input within its limit must give a record within the broker's"
    if fitted.grounding and whole.grounding:
        assert fitted.grounding.claims_total == whole.grounding.claims_total
    assert_travels(released_answer(fitted, NOW))


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
