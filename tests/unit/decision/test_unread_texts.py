"""Answers of which texts were withheld, and facts that keep an answer out of memory whatever decides later."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.grounding import GroundingReport
from schemas.reports import Report
from tests.unit.decision.test_decision import COMPLETED, REPORT, Case
from workers.decision.decision import decide
from workers.decision.enrichment import enrich
from workers.decision.finality import decided_turn
from workers.decision.policy import DecisionPolicy, EvaluatorCondition, Row
from workers.decision.release_events import released_answer, review_request
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds
from workers.review.decision_events import decided, decided_by_deadline

FRESH = {"chunk_id": "c", "content": "A pump needs 2 GiB.", "last_updated": COMPLETED}


def enriched(answer: Mapping[str, Any], mode: str, policy: DecisionPolicy | None = None) -> EnrichedAnswer:
    """Judge an answer by citations and grounding, as far as rules without vectors do."""
    given = GeneratedAnswer.model_validate({"answer_id": "a", "completed_at": COMPLETED, "risk_mode": mode} | answer)
    findings = evaluate_grounding(prepare_grounding(given), GroundingThresholds())
    reports: dict[str, Report] = {
        "citations": CitationReport(**REPORT, agent="citations", **find_citations(given).model_dump()),
        "grounding": GroundingReport(**REPORT, agent="grounding", **findings.model_dump()),
        "quality": Case().reports()[2],
    }
    return enrich(
        given, reports, partition=0, offset=0, now=COMPLETED, pipeline_version="v", default_risk_mode="observer",
        gate=GateThresholds(), grounding_thresholds=GroundingThresholds(), style="standard",
        remember_without_context=True, policy=policy or DecisionPolicy(audit_share=0.0),
    )  # fmt: skip


WITHHELD = [
    {"answer": "A pump needs 4 GiB [1].", "withheld": ["contexts"]},
    {"answer": "A pump needs 4 GiB.", "contexts": [], "withheld": ["contexts", "query"]},
    {"answer": "", "contexts": [FRESH], "withheld": ["answer"]},
    {"answer": "", "withheld": ["answer", "contexts", "query"]},
]


@pytest.mark.parametrize("answer", WITHHELD)
def test_a_gatekeeper_holds_what_was_compared_with_nothing_because_a_text_was_withheld(answer: dict[str, Any]) -> None:
    found = enriched(answer, "gatekeeper")
    assert found.grounding is not None and found.grounding.status == "skipped"
    assert (found.decision.state, found.decision.review) == ("held", True)
    assert "text_not_sent" in found.decision.reasons


@pytest.mark.parametrize("answer", WITHHELD)
def test_an_observer_of_a_gateway_that_redacts_gets_no_warning_but_the_reason(answer: dict[str, Any]) -> None:
    decision = enriched(answer, "observer").decision
    assert (decision.state, decision.reasons, decision.review) == ("released", ["text_not_sent"], False)
    assert not decision.remember, "nothing was compared, and the contexts are not missing"


def test_only_a_withheld_text_that_is_needed_counts() -> None:
    sent = {"answer": "A pump needs 2 GiB [1].", "contexts": [FRESH], "withheld": ["query"]}
    assert enriched(sent, "gatekeeper").decision.reasons == []
    loud = DecisionPolicy(audit_share=0.0, rows={"text_not_sent": Row()})
    assert enriched(WITHHELD[2], "gatekeeper", loud).decision.state == "released"


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize(
    "case", [Case(degraded=True), Case(said_before=True), Case(contradicts=True), Case(grounding_score=0.1)]
)
def test_no_later_decision_without_verification_remembers_what_facts_keep_out_of_memory(case: Case) -> None:
    reviewed = case.enriched()
    reviewed = reviewed.model_copy(update={"decision": reviewed.decision.model_copy(update={"review": True})})
    request = review_request(reviewed, COMPLETED, deadline_hours=1)
    assert request is not None
    at = COMPLETED + timedelta(hours=1)
    person: dict[str, Any] = {"by": "reviewer", "profile": {}, "at": at, "action": "approve"}
    unverified = [
        decided_by_deadline(request, "keep", at),
        decided_by_deadline(request, "warn", at),
        decided(request, **person, with_warning=True),
    ]
    assert [decided_turn(each, 0.0, without_context=False) for each in unverified] == [None] * 3
    verified = decided_turn(decided(request, **person), 0.0, without_context=False)
    assert verified is not None and verified.response == reviewed.answer.answer


def test_an_answer_without_such_a_fact_is_remembered_after_the_deadline() -> None:
    reviewed = Case(risk="high").enriched()
    request = review_request(reviewed, COMPLETED, deadline_hours=1)
    assert request is not None
    turn = decided_turn(decided_by_deadline(request, "keep", COMPLETED), 0.6, without_context=False)
    assert turn is not None and turn.response == reviewed.answer.answer
    old = request.model_dump(mode="json")
    del old["releasable"]["memorable"]
    assert type(request).model_validate(old) == request, "requests of older workers have no such field"


def test_an_unknown_score_of_a_plugin_keeps_the_answer_out_of_memory_after_the_deadline() -> None:
    report = EvaluationReport(
        **REPORT, agent="tone", status="skipped", reason="no text", score=None, completed_at=COMPLETED
    )
    conditions = {"tone": EvaluatorCondition(minimum=0.5)}
    citations, grounding, quality = Case().reports()
    decision = decide(
        Case().answer(), "observer", citations, grounding, quality, Case().enriched().evaluation, False, GateThresholds(),
        GroundingThresholds(), policy=DecisionPolicy(evaluators=conditions), evaluations={"tone": report},
    )  # fmt: skip
    assert (decision.remember, decision.memorable) == (False, False)


def test_replaced_rows_remember_no_answer_below_the_grounding_minimum() -> None:
    lenient = DecisionPolicy(
        audit_share=0.0, rows={"grounding_below_minimum": Row(), "no_evidence": Row(), "high_hallucination_risk": Row()}
    )
    case = Case(grounding_score=0.1)
    citations, grounding, quality = case.reports()
    decision = decide(
        case.answer(), "observer", citations, grounding, quality, case.enriched().evaluation, False, GateThresholds(),
        GroundingThresholds(), policy=lenient,
    )  # fmt: skip
    assert (decision.state, decision.final, decision.remember) == ("released", True, False)


def test_the_released_answer_names_the_withheld_text_as_its_reason() -> None:
    assert released_answer(enriched(WITHHELD[0], "observer"), COMPLETED).reasons == ["text_not_sent"]
