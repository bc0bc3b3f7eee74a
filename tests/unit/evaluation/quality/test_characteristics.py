"""The seven characteristics: what each rests on, and null where that is missing."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import Citation, CitationReport, InvalidReference
from schemas.grounding import Claim, ClaimKind, Evidence, GroundingReport, Verdict
from schemas.quality import Consistency, QualityMetrics, QualityReport
from schemas.reports import Span
from workers.evaluation.grounding.grounding_evaluator import _mean as mean_of_claims
from workers.evaluation.quality.characteristics import evaluate
from workers.evaluation.quality.quality_evaluator import _weighted_mean as mean_of_quality
from workers.evaluation.thresholds import GateThresholds

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
REPORT = {
    "judgement_id": "j", "answer_id": "a", "pipeline_version": "v", "answer_partition": 0, "answer_offset": 0,
    "judged_at": COMPLETED,
}  # fmt: skip
GATE = GateThresholds()
CHUNK = ContextChunk(chunk_id="c1", content="Loki needs 2 GiB.")


def generated(**fields: Any) -> GeneratedAnswer:
    return GeneratedAnswer.model_validate({"answer_id": "a", "answer": "Text.", "completed_at": COMPLETED} | fields)


def citations(valid: int = 1, invalid: int = 0, coverage: float | None = 1.0, **fields: Any) -> CitationReport:
    return CitationReport(
        **REPORT,
        agent="citations",
        coverage=coverage,
        citations=[
            Citation(citation_id=f"c{n}", number=n, chunk_id=f"c{n}", source_type="document", **fields)
            for n in range(1, valid + 1)
        ],
        invalid_references=[InvalidReference(marker="[9]", form="numeric", reason="out_of_range")] * invalid,
    )


def grounding(score: float | None, *verdicts: Verdict) -> GroundingReport:
    claims = [
        Claim(claim_id=str(n), span=Span(start=0, end=1), text="c", kind="factual", verdict=v)
        for n, v in enumerate(verdicts)
    ]
    return GroundingReport(**REPORT, agent="grounding", grounding_score=score, claims=claims)


def quality(**metrics: float) -> QualityReport:
    return QualityReport(**REPORT, agent="quality", metrics=QualityMetrics(**metrics))


def metric(name: str, *arguments: Any, gate: GateThresholds = GATE) -> float | None:
    return evaluate(*arguments, gate).metrics[name]


def test_without_any_report_nothing_is_judged() -> None:
    result = evaluate(generated(), None, None, None, GATE)
    assert result.score is None
    assert result.passed is None
    assert list(result.metrics) == list(GATE.weights)
    assert set(result.metrics.values()) == {None}
    assert result.reasoning == "Nothing could be judged."


def test_gate_score_is_the_mean_of_what_is_known() -> None:
    result = evaluate(generated(), None, grounding(0.9, "supported"), quality(relevance=0.8, completeness=0.7), GATE)
    # Faithfulness, relevance, coverage, and correctness, since no claim is contradicted.
    assert result.score == pytest.approx((0.9 + 0.8 + 0.7 + 1.0) / 4)
    assert result.passed is True
    assert result.reasoning == ("Gate score 0.85 reaches 0.80, from 4 of 7 characteristics; weakest: coverage (0.70).")


@pytest.mark.parametrize(
    ("verdicts", "compared"),
    [
        (["not_checked"], False),
        (["not_checked", "not_checked"], False),
        (["not_checked", "said_before"], False),
        (["not_checked", "supported"], True),
        (["not_checked", "unsupported"], True),
        (["contradicted", "not_checked"], True),
    ],
)
def test_an_answer_whose_claims_could_not_be_compared_has_no_score(verdicts: list[Verdict], compared: bool) -> None:
    read = grounding(0.9 if compared else None, *verdicts)
    near = Evidence(chunk_id="c1", number=1, span=Span(start=0, end=1), excerpt="x", similarity=0.5)
    claims = [each.model_copy(update={"evidence": near}) for each in read.claims]
    report = read.model_copy(update={"claims": claims})
    result = evaluate(generated(), citations(1), report, quality(relevance=1.0, completeness=1.0), GATE)
    assert (result.score is not None) == compared
    assert compared or (result.passed is None and result.reasoning.startswith("No gate score"))


def test_an_answer_with_nothing_to_compare_keeps_its_score() -> None:
    """A greeting, or code, has no evidence that could not be read."""
    result = evaluate(generated(), None, grounding(None, "not_checked"), quality(relevance=1.0, completeness=0.8), GATE)
    assert result.score == pytest.approx(0.9)


def test_weights_move_the_score_and_unnamed_ones_count_one() -> None:
    gate = GateThresholds(weights={"relevance": 3.0, "coverage": 0.0})
    assert evaluate(
        generated(), None, grounding(1.0), quality(relevance=0.6, completeness=0.1), gate
    ).score == pytest.approx(0.7)


def test_weights_of_nothing_give_no_score() -> None:
    gate = GateThresholds(weights=dict.fromkeys(GATE.weights, 0.0))
    assert evaluate(generated(), None, grounding(1.0), None, gate).score is None


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_impossible_weight_is_refused(weight: float) -> None:
    with pytest.raises(ValidationError):
        GateThresholds(weights={"relevance": weight})


def test_contradictions_lower_faithfulness() -> None:
    assert metric("faithfulness", generated(), None, grounding(0.8, "supported", "supported"), None) == 0.8
    found = metric("faithfulness", generated(), None, grounding(0.8, "supported", "contradicted", "not_checked"), None)
    assert found == pytest.approx(0.4)
    assert metric("faithfulness", generated(), None, grounding(None), None) is None


def test_correctness_is_token_f1_against_the_reference() -> None:
    answer = generated(answer="The limit is 2 GiB [1].", reference_answer="A limit of 2 GiB")
    assert metric("correctness", answer, None, None, None) == pytest.approx(2 * 3 / (4 + 4))
    assert (
        metric("correctness", generated(answer="LIMIT: 2 GiB!", reference_answer="limit 2 gib"), None, None, None)
        == 1.0
    )
    assert metric("correctness", generated(answer="", reference_answer="limit"), None, None, None) == 0.0
    assert metric("correctness", generated(), None, None, None) is None
    assert metric("correctness", generated(reference_answer="..."), None, None, None) is None


def test_freshness_halves_with_the_half_life_at_completion() -> None:
    year = timedelta(days=365)
    assert metric("freshness", generated(), citations(last_updated=COMPLETED - year), None, None) == pytest.approx(0.5)
    assert metric("freshness", generated(), citations(last_updated=COMPLETED + year), None, None) == 1.0
    assert metric("freshness", generated(), citations(), None, None) is None


def test_freshness_counts_all_contexts_where_none_is_cited() -> None:
    dated = CHUNK.model_copy(update={"last_updated": COMPLETED})
    answer = generated(contexts=[dated.model_dump(), CHUNK.model_dump()])
    assert metric("freshness", answer, citations(valid=0), None, None) == 1.0
    assert metric("freshness", answer, citations(), None, None) is None


def test_traceability_is_coverage_of_valid_references() -> None:
    answer = generated(contexts=[CHUNK.model_dump()])
    assert metric("traceability", answer, citations(3, 1, 0.8), None, None) == pytest.approx(0.6)
    assert metric("traceability", answer, citations(0, 0, 0.0), None, None) == 0.0
    assert metric("traceability", answer, citations(coverage=None), None, None) is None
    assert metric("traceability", generated(), citations(), None, None) is None


def claimed(kind: ClaimKind = "factual", verdict: Verdict = "supported", **fields: Any) -> Claim:
    return Claim(claim_id="1", span=Span(start=0, end=1), text="c", kind=kind, verdict=verdict, **fields)


def test_traceability_counts_what_is_attributed_and_not_only_what_the_author_cites() -> None:
    answer, uncited = generated(contexts=[CHUNK]), citations(valid=0, coverage=0.5)
    uncited = uncited.model_copy(update={"claims": 2, "cited_claims": 1})
    cited = claimed(cited_numbers=[1], primary_number=1)

    def traced(*claims: Claim, report: CitationReport = uncited) -> float | None:
        judged = GroundingReport(**REPORT, agent="grounding", claims=[cited, *claims])
        return metric("traceability", answer, report, judged, None)

    assert traced(claimed(primary_number=2)) == 1.0
    assert traced(claimed("recommendation", primary_number=2)) == 1.0
    # What nothing supports, and what no single source supports, is not attributed.
    assert traced(claimed(verdict="unsupported")) == 0.5
    assert traced(claimed()) == 0.5
    # An attribution does not make up for a wrong citation.
    invalid = citations(valid=0, invalid=1, coverage=0.5).model_copy(update={"claims": 2, "cited_claims": 1})
    assert traced(claimed(primary_number=2), report=invalid) == 0.0


def test_a_characteristic_without_its_input_says_why() -> None:
    details = evaluate(generated(), None, None, None, GATE).details
    assert list(details) == list(GATE.weights)
    for detail in details.values():
        assert detail.method
        assert detail.reason
    known = evaluate(generated(), citations(), grounding(0.9, "supported"), quality(relevance=0.8), GATE)
    for name, score in known.metrics.items():
        assert (score is None) == (known.details[name].reason is not None), name


def test_consistency_is_the_lower_of_itself_and_the_past() -> None:
    report = quality().model_copy(update={"consistency": Consistency(within=0.9, temporal=0.5)})
    assert metric("consistency", generated(), None, None, report) == 0.5
    alone = quality().model_copy(update={"consistency": Consistency(within=0.9)})
    assert metric("consistency", generated(), None, None, alone) == 0.9
    assert metric("consistency", generated(), citations(), grounding(1.0), quality(relevance=1.0)) is None


def test_contradicted_claims_make_an_answer_less_correct_with_and_without_reference() -> None:
    report = grounding(0.5, "supported", "contradicted")
    assert metric("correctness", generated(), None, report, None) == pytest.approx(0.5)
    matched = quality().model_copy(update={"reference_match": 0.8})
    assert metric("correctness", generated(reference_answer="x"), None, report, matched) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("verdicts", "score", "says"),
    [
        (["supported", "supported"], 1.0, "no claim contradicted"),
        (["unsupported"], 1.0, "proves none correct"),
        (["supported", "contradicted"], 0.5, "1 - share of claims contradicted"),
    ],
)
def test_correctness_without_a_reference_says_that_there_is_none(
    verdicts: list[Verdict], score: float, says: str
) -> None:
    result = evaluate(generated(), None, grounding(0.5, *verdicts), None, GATE)
    method = result.details["correctness"].method
    assert result.metrics["correctness"] == pytest.approx(score)
    assert says in method
    assert "no reference answer to compare with" in method
    referred = evaluate(generated(reference_answer="Text."), None, grounding(0.5, *verdicts), None, GATE)
    assert "no reference answer" not in referred.details["correctness"].method


@pytest.mark.parametrize("verdicts", [["not_checked"], ["said_before"], ["said_before", "not_checked"], []])
def test_correctness_is_unknown_where_nothing_was_compared(verdicts: list[Verdict]) -> None:
    result = evaluate(generated(), None, grounding(None, *verdicts), None, GATE)
    assert result.metrics["correctness"] is None
    assert result.details["correctness"].reason == "no reference answer and no claim checked"


def test_coverage_counts_the_contexts_that_bear_on_the_question() -> None:
    contexts = [
        {"chunk_id": "c1", "content": "The memory limit of Loki is 2 GiB."},
        {"chunk_id": "c2", "content": "Loki has a limit on memory that was raised in May."},
        {"chunk_id": "c9", "content": "Invoices are paid within thirty days."},
    ]
    answer = generated(query="What is the memory limit of Loki?", contexts=contexts)
    one_of_two = metric("coverage", answer, citations(valid=1), None, quality(completeness=1.0))
    assert one_of_two == pytest.approx(0.8 + 0.2 / 2)
    assert metric("coverage", answer, citations(valid=2), None, quality(completeness=1.0)) == pytest.approx(1.0)


def test_freshness_has_a_half_life_for_each_source_type() -> None:
    week = COMPLETED - timedelta(days=7)
    board = ContextChunk(chunk_id="c1", content="x", source_type="dashboard", last_updated=week)
    assert metric("freshness", generated(contexts=[board.model_dump()]), None, None, None) == pytest.approx(0.5)


def test_a_citation_whose_source_does_not_support_the_claim_is_not_traceable() -> None:
    def claim(verdict: Verdict, number: int) -> Claim:
        evidence = Evidence(chunk_id="c1", number=1, span=Span(start=0, end=1), excerpt="x", similarity=0.9)
        return Claim(
            claim_id="1", span=Span(start=0, end=1), text="c", kind="factual", verdict=verdict, evidence=evidence,
            cited_numbers=[number],
        )  # fmt: skip

    answer = generated(contexts=[CHUNK.model_dump()])
    for verdict, number, expected in (("supported", 1, 1.0), ("supported", 2, 0.5), ("unsupported", 1, 0.0)):
        report = grounding(0.9).model_copy(update={"claims": [claim(verdict, number)]})
        assert metric("traceability", answer, citations(), report, None) == pytest.approx(expected)


SHARES = st.none() | st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES, st.integers(0, 3), st.integers(0, 3), st.text(max_size=30), st.text(max_size=30))
def test_scores_are_shares_or_null(
    grounded: float | None, relevant: float | None, complete: float | None, covered: float | None,
    valid: int, invalid: int, text: str, reference: str,
) -> None:  # fmt: skip
    answer = generated(answer=text, reference_answer=reference, contexts=[CHUNK.model_dump()])
    known = {"relevance": relevant, "completeness": complete}
    metrics = {name: value for name, value in known.items() if value is not None}
    result = evaluate(
        answer, citations(valid, invalid, covered), grounding(grounded, "contradicted"), quality(**metrics), GATE
    )
    for score in (result.score, *result.metrics.values()):
        assert score is None or 0.0 <= score <= 1.0
    assert (result.score is None) == (result.passed is None) == all(value is None for value in result.metrics.values())


def test_a_gate_score_of_exactly_the_minimum_passes() -> None:
    given = generated(contexts=[CHUNK.model_dump()])
    result = evaluate(given, citations(), None, quality(relevance=0.4, completeness=1.0), GATE)
    assert [result.metrics[name] for name in ("relevance", "coverage", "traceability")] == [0.4, 1.0, 1.0]
    assert (result.score, result.passed) == (0.8, True)


@given(st.integers(1, 100), st.lists(st.integers(0, 100), min_size=1, max_size=6))
def test_a_mean_of_hundredths_is_never_below_itself(minimum: int, parts: list[int]) -> None:
    """Complete some scores by one that makes their mean the minimum."""
    last = minimum * (len(parts) + 1) - sum(parts)
    assume(0 <= last <= 100)
    scores = [part / 100 for part in (*parts, last)]
    named = {str(number): score for number, score in enumerate(scores)}
    assert mean_of_quality(named, {}) == mean_of_claims(scores) == minimum / 100
