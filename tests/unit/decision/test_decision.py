"""The settled order of release states, rule by rule and over all combinations at once."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import RiskLevel, RiskMode
from schemas.citations import CitationReport, InvalidReference
from schemas.enriched import Decision, EnrichedAnswer, EvaluationResult
from schemas.grounding import Claim, ClaimSource, Conflict, EarlierContradiction, EarlierStatement, GroundingReport
from schemas.quality import QualityReport
from schemas.reports import Span
from workers.decision.decision import alerts_for, decide, review_priority
from workers.decision.policy import DecisionPolicy
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
REPORT = {
    "judgement_id": "j", "answer_id": "a", "pipeline_version": "v", "answer_partition": 0, "answer_offset": 0,
    "judged_at": COMPLETED,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What a decision depends on; by default a good, grounded answer."""

    mode: RiskMode = "observer"
    gate_score: float | None = 0.9
    grounding_score: float | None = 0.9
    risk: RiskLevel | None = "low"
    refusal: bool = False
    tool_failure: bool = False
    empty: bool = False
    error: bool = False
    degraded: bool = False
    invalid_citation: bool = False
    contradicted: bool = False
    unsupported: bool = False
    other_source: bool = False
    uncited: bool = False
    citations_required: bool = False
    bare_recommendation: bool = False
    conflict: bool = False
    said_before: bool = False
    contradicts: bool = False
    ungrounded_observer: Literal["warn", "fallback"] = "warn"
    has_context: bool = True
    has_grounding: bool = True
    is_skipped: bool = False
    states_something: bool = True
    contexts_optional: bool = False
    remember_without_context: bool = False

    @property
    def no_evidence(self) -> bool:
        return self.weak and self.unsupported and not self.contradicted

    @property
    def lacks_citation(self) -> bool:
        return self.uncited and self.citations_required and self.states_something

    @property
    def miscited(self) -> bool:
        return self.invalid_citation or self.lacks_citation or (self.other_source and self.has_grounding)

    @property
    def baseless(self) -> bool:
        return self.states_something and not self.has_context and not self.contexts_optional

    @property
    def unread(self) -> bool:
        has_claims = self.contradicted or self.other_source or self.bare_recommendation or self.said_before
        return self.has_context and self.has_grounding and not (self.is_skipped or has_claims or self.risk)

    @property
    def failed(self) -> bool:
        return self.refusal or self.tool_failure or self.empty or self.error or self.high

    @property
    def high(self) -> bool:
        return self.has_grounding and self.risk == "high"

    @property
    def weak(self) -> bool:
        return self.has_grounding and self.grounding_score is not None and self.grounding_score < 0.5

    @property
    def memorable(self) -> bool:
        talk = self.has_grounding and (self.said_before or self.contradicts)
        return not (self.degraded or self.empty or self.weak or talk)

    def answer(self) -> GeneratedAnswer:
        return GeneratedAnswer(
            answer_id="a",
            answer="" if self.empty else "Text.",
            status="error" if self.error else "success",
            completed_at=COMPLETED,
            contexts=[ContextChunk(chunk_id="c", content="Text.")] if self.has_context else None,
        )

    def reports(self) -> tuple[CitationReport, GroundingReport | None, QualityReport]:
        invalid = [InvalidReference(marker="[9]", form="numeric", reason="out_of_range")]
        claim = Claim(claim_id="1", span=Span(start=0, end=1), text="c", kind="factual", verdict="contradicted")
        cited = claim.model_copy(update={"verdict": "supported", "cited_numbers": [1], "better_number": 2})
        advice = claim.model_copy(update={"verdict": "unsupported", "kind": "recommendation"})
        said = claim.model_copy(update={"verdict": "said_before"})
        earlier = EarlierStatement(turn=1, role="assistant", span=claim.span, excerpt="c")
        source = ClaimSource(number=1, chunk_id="c", span=claim.span, excerpt="c", score=0.9, verdict="supported")
        grounding = GroundingReport(
            **(REPORT | {"status": "skipped"} if self.is_skipped else REPORT),
            agent="grounding",
            grounding_score=self.grounding_score,
            hallucination_risk=self.risk,
            risk_score=0.9,
            claims=[claim] * self.contradicted
            + [cited] * self.other_source
            + [advice] * self.bare_recommendation
            + [said] * self.said_before,
            earlier_contradictions=[EarlierContradiction(claim_id="1", earlier=earlier)] * self.contradicts,
            facts_verified=0.0 if self.unsupported else None,
            conflicts=[Conflict(claim_id="1", supporting=source, contradicting=source)] * self.conflict,
        )
        return (
            CitationReport(
                **REPORT,
                agent="citations",
                invalid_references=invalid * self.invalid_citation,
                claims=int(self.states_something),
                cited_claims=int(self.states_something and not self.uncited),
            ),
            grounding if self.has_grounding else None,
            QualityReport(**REPORT, agent="quality", refusal=self.refusal, tool_failure=self.tool_failure),
        )

    def decide(self) -> Decision:
        citations, grounding, quality = self.reports()
        return decide(
            self.answer(),
            self.mode,
            citations,
            grounding,
            quality,
            EvaluationResult(score=self.gate_score),
            self.degraded,
            GateThresholds(),
            GroundingThresholds(),
            policy=DecisionPolicy(
                contexts_optional=self.contexts_optional,
                citations_required=self.citations_required,
                ungrounded_observer=self.ungrounded_observer,
            ),
            remember_without_context=self.remember_without_context,
        )

    def enriched(self) -> EnrichedAnswer:
        citations, grounding, quality = self.reports()
        return EnrichedAnswer(
            answer_id="a", pipeline_version="v", answer_partition=0, answer_offset=0, answer=self.answer(),
            citations=citations, grounding=grounding, quality=quality, evaluation=EvaluationResult(score=self.gate_score),
            decision=self.decide(), degraded=self.degraded, missing=["quality"] if self.degraded else [], enriched_at=COMPLETED,
        )  # fmt: skip


GATE = Case(mode="gatekeeper")
FAILED = Case(error=True, is_skipped=True, grounding_score=None, risk=None)
NO_CONTEXT = Case(grounding_score=None, risk=None, has_context=False)
TABLE = [
    # case, state, reasons, review, final, remember
    (Case(), "released", [], False, True, True),
    (GATE, "released", [], False, True, True),
    # Rule 1: a gatekeeper holds, an observer never does.
    (replace(GATE, gate_score=0.79), "held", ["gate_score_below_minimum"], True, False, False),
    (replace(GATE, gate_score=0.8), "released", [], False, True, True),
    (replace(GATE, gate_score=None), "held", ["gate_score_unknown"], True, False, False),
    (replace(GATE, refusal=True), "held", ["refusal"], True, False, False),
    (replace(GATE, tool_failure=True), "held", ["tool_failure"], True, False, False),
    (replace(GATE, error=True), "held", ["tool_failure"], True, False, False),
    (replace(GATE, empty=True), "held", ["empty_answer"], True, False, False),
    (replace(GATE, risk="high"), "held", ["high_hallucination_risk"], True, False, False),
    (replace(GATE, degraded=True), "held", ["degraded"], True, False, False),
    (replace(GATE, gate_score=0.1, refusal=True), "held", ["refusal", "gate_score_below_minimum"], True, False, False),
    (Case(gate_score=0.1), "released", [], False, True, True),
    (Case(gate_score=None), "released", [], False, True, True),
    (Case(refusal=True), "released", ["refusal"], True, False, False),
    (Case(tool_failure=True), "released", ["tool_failure"], True, False, False),
    (Case(empty=True), "released", ["empty_answer"], True, False, False),
    (Case(degraded=True), "released", ["degraded"], False, True, False),
    # Rule 2: grounding below the minimum.
    (replace(GATE, grounding_score=0.49), "fallback", ["grounding_below_minimum"], False, True, False),
    (replace(GATE, grounding_score=0.49, gate_score=0.5), "held", ["gate_score_below_minimum"], True, False, False),
    (replace(GATE, grounding_score=0.5), "released", [], False, True, True),
    (Case(grounding_score=0.49), "warned", ["grounding_below_minimum"], True, False, False),
    (Case(grounding_score=0.5), "released", [], False, True, True),
    # Rule 3: risk.
    (replace(GATE, risk="medium"), "warned", ["medium_hallucination_risk"], False, True, True),
    (Case(risk="medium"), "warned", ["medium_hallucination_risk"], False, True, True),
    (Case(risk="high"), "warned", ["high_hallucination_risk"], True, False, False),
    # Nothing to ground, no context, invalid citations.
    (Case(grounding_score=None), "released", [], False, True, False),
    (Case(grounding_score=None, remember_without_context=True), "released", [], False, True, False),
    (NO_CONTEXT, "warned", ["no_contexts"], False, True, False),
    (replace(NO_CONTEXT, mode="gatekeeper"), "held", ["no_contexts"], True, False, False),
    (replace(NO_CONTEXT, states_something=False), "released", [], False, True, False),
    (replace(NO_CONTEXT, contexts_optional=True), "released", [], False, True, False),
    (replace(NO_CONTEXT, contexts_optional=True, mode="gatekeeper"), "released", [], False, True, False),
    (replace(NO_CONTEXT, remember_without_context=True), "warned", ["no_contexts"], False, True, True),
    (
        replace(NO_CONTEXT, remember_without_context=True, states_something=False, refusal=True),
        "released", ["refusal"], True, False, False,
    ),
    # Nothing was compared, although the answer may state something ("Of course!"): unknown is not good.
    (Case(risk=None, grounding_score=None), "released", ["words_not_compared"], False, True, False),
    (replace(GATE, risk=None, grounding_score=None), "held", ["words_not_compared"], True, False, False),
    # Fail closed: an answer whose grounding nobody has evaluated is never plainly released.
    (Case(has_grounding=False), "warned", ["grounding_not_evaluated"], False, True, False),
    (replace(GATE, has_grounding=False), "held", ["grounding_not_evaluated"], True, False, False),
    # A failed call that brought a text, as a stream does that breaks off: nobody has evaluated what readers saw.
    (FAILED, "warned", ["tool_failure", "grounding_not_evaluated"], True, False, False),
    (replace(FAILED, mode="gatekeeper"), "held", ["tool_failure", "grounding_not_evaluated"], True, False, False),
    (replace(FAILED, empty=True), "released", ["empty_answer", "tool_failure"], True, False, False),
    # Citations: a wrong one holds and warns; a missing one counts only where a setting demands it.
    (Case(invalid_citation=True), "warned", ["invalid_citation"], False, True, True),
    (replace(GATE, invalid_citation=True), "held", ["invalid_citation"], True, False, False),
    (Case(other_source=True), "released", ["citation_of_other_source"], False, True, True),
    (replace(GATE, other_source=True), "held", ["citation_of_other_source"], True, False, False),
    (replace(GATE, uncited=True), "released", [], False, True, True),
    (replace(GATE, uncited=True, citations_required=True), "held", ["uncited_claim"], True, False, False),
    (Case(uncited=True, citations_required=True), "warned", ["uncited_claim"], False, True, True),
    (replace(GATE, bare_recommendation=True), "warned", ["uncited_recommendation"], False, True, True),
    (Case(bare_recommendation=True), "released", ["uncited_recommendation"], False, True, True),
    (replace(GATE, conflict=True), "warned", ["conflicting_sources"], False, True, True),
    # What only earlier turns support is never plainly released, and never remembered.
    (replace(GATE, said_before=True), "warned", ["said_before"], False, True, False),
    (Case(said_before=True), "warned", ["said_before"], False, True, False),
    (replace(GATE, contradicts=True), "warned", ["contradicts_earlier"], True, False, False),
    (Case(contradicts=True), "warned", ["contradicts_earlier"], False, True, False),
    (Case(conflict=True), "released", ["conflicting_sources"], False, True, True),
    # Nothing supports the answer, and nothing contradicts it: there is nothing to review.
    (
        replace(GATE, grounding_score=0.2, gate_score=0.5, risk="high", unsupported=True), "fallback",
        ["no_evidence", "grounding_below_minimum", "high_hallucination_risk", "gate_score_below_minimum"],
        False, True, False,
    ),
    (
        replace(GATE, grounding_score=0.2, gate_score=0.5, unsupported=True, contradicted=True),
        "held", ["gate_score_below_minimum"], True, False, False,
    ),
    (replace(GATE, grounding_score=0.2, unsupported=True, refusal=True), "held", ["refusal"], True, False, False),
    (
        Case(grounding_score=0.2, risk="high", unsupported=True), "warned",
        ["no_evidence", "grounding_below_minimum", "high_hallucination_risk"], True, False, False,
    ),
    (
        Case(grounding_score=0.2, risk="high", unsupported=True, ungrounded_observer="fallback"), "fallback",
        ["no_evidence", "grounding_below_minimum", "high_hallucination_risk"], False, True, False,
    ),
    (replace(NO_CONTEXT, ungrounded_observer="fallback"), "fallback", ["no_contexts"], False, True, False),
    (Case(ungrounded_observer="fallback"), "released", [], False, True, True),
]  # fmt: skip


@pytest.mark.parametrize(("case", "state", "reasons", "review", "final", "remember"), TABLE)
def test_table_of_the_settled_order(
    case: Case, state: str, reasons: list[str], review: bool, final: bool, remember: bool
) -> None:
    assert case.decide() == Decision.model_validate(
        {"state": state, "reasons": reasons, "review": review, "final": final, "remember": remember,
         "memorable": case.memorable}
    )  # fmt: skip


SCORES = st.sampled_from([None, 0.0, 0.59, 0.6, 0.79, 0.8, 1.0])
CASES = st.builds(
    Case,
    mode=st.sampled_from(["observer", "gatekeeper"]),
    gate_score=SCORES,
    grounding_score=SCORES,
    risk=st.sampled_from([None, "low", "medium", "high"]),
    **{
        name: st.booleans()
        for name in (
            "refusal", "tool_failure", "empty", "error", "degraded", "invalid_citation", "contradicted", "has_context",
            "has_grounding", "remember_without_context", "states_something", "contexts_optional", "unsupported",
            "other_source", "uncited", "citations_required", "bare_recommendation", "conflict",
        )
    },
)  # fmt: skip


@settings(max_examples=800, deadline=None)
@given(CASES)
@example(GATE)
def test_every_combination_keeps_the_settled_order(case: Case) -> None:
    decision = case.decide()
    gatekeeper = case.mode == "gatekeeper"
    unknown = case.baseless or not case.has_grounding
    broken = case.refusal or case.tool_failure or case.empty or case.error or case.degraded or case.gate_score is None
    doubtful = case.high or case.miscited or case.unread or (case.gate_score is not None and case.gate_score < 0.8)
    held = gatekeeper and (broken or unknown or (doubtful and not case.no_evidence))
    told = case.has_grounding and (case.risk in ("medium", "high") or case.conflict or case.bare_recommendation)
    warned_observer = case.weak or unknown or case.high or case.invalid_citation or (
        case.has_grounding and case.risk == "medium"
    ) or case.lacks_citation  # fmt: skip
    warned = told if gatekeeper else warned_observer
    expected = "held" if held else "fallback" if case.weak and gatekeeper else "warned" if warned else "released"
    assert decision.state == expected
    # An observer never waits and never gets another text than the answer.
    assert gatekeeper or decision.state in ("released", "warned")
    # What a person looks at is not final, and what is final nobody looks at.
    assert decision.final is not decision.review
    assert decision.review == (held or (not gatekeeper and (case.weak or case.failed)))
    # Every state but a clean release says why.
    assert decision.reasons or decision.state == "released"
    assert len(set(decision.reasons)) == len(decision.reasons)


@settings(max_examples=800, deadline=None)
@given(CASES)
def test_nothing_doubtful_is_ever_remembered(case: Case) -> None:
    decision = case.decide()
    if not decision.remember:
        return
    assert decision.final
    assert decision.state in ("released", "warned")
    assert not (case.failed or case.degraded or case.weak)
    grounded = case.has_grounding and case.grounding_score is not None
    assert grounded or (case.remember_without_context and not case.has_context)


@settings(max_examples=500, deadline=None)
@given(CASES)
def test_priority_is_a_share_and_waiting_readers_come_first(case: Case) -> None:
    enriched = case.enriched()
    priority = review_priority(enriched)
    assert 0.0 <= priority <= 1.0
    assert (priority >= 0.5) or enriched.decision.state != "held"


def test_priority_grows_with_what_is_wrong() -> None:
    assert review_priority(Case(contradicted=True).enriched()) > review_priority(Case().enriched())
    assert review_priority(Case(risk="high").enriched()) > review_priority(Case(risk="medium").enriched())
    assert review_priority(replace(GATE, risk="high").enriched()) == 1.0


def test_good_answer_raises_no_alert() -> None:
    assert alerts_for(Case().enriched(), GroundingThresholds()) == []


def test_low_grounding_raises_the_alert_of_the_document() -> None:
    (alert,) = alerts_for(Case(grounding_score=0.49).enriched(), GroundingThresholds())
    assert alert == (
        "low_grounding_score",
        "warning",
        "Response a has low grounding score: 0.49",
        {"response_id": "a", "score": 0.49, "minimum": 0.5},
    )
    assert alerts_for(Case(grounding_score=0.5).enriched(), GroundingThresholds()) == []
    assert (
        alerts_for(Case(grounding_score=0.6).enriched(), GroundingThresholds(grounding_minimum=0.7))[0].metadata[
            "minimum"
        ]
        == 0.7
    )


def test_high_risk_is_critical_once_it_is_shown() -> None:
    assert [alert.severity for alert in alerts_for(Case(risk="high").enriched(), GroundingThresholds())] == ["critical"]
    assert [alert.severity for alert in alerts_for(replace(GATE, risk="high").enriched(), GroundingThresholds())] == [
        "warning"
    ]


def test_degraded_result_and_invalid_citation_raise_alerts() -> None:
    found = alerts_for(Case(degraded=True, invalid_citation=True).enriched(), GroundingThresholds())
    assert [alert.alert_type for alert in found] == ["degraded_result", "invalid_citation"]
    assert found[0].metadata["missing"] == ["quality"]


@given(CASES)
def test_alerts_hold_no_text_of_the_answer(case: Case) -> None:
    assert "Text." not in str(alerts_for(case.enriched(), GroundingThresholds()))
