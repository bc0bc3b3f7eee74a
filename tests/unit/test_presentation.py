"""What a reader is shown in each state."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import RiskLevel
from schemas.citations import Citation, CitationReport
from schemas.enriched import Decision, FormattedResponse, ReleaseState
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from workers.steps.mitigation import DISCLAIMERS, FALLBACK_TEXT
from workers.steps.presentation import present

COMPLETED = datetime(2026, 11, 2, 8, 14, 6, tzinfo=UTC)
REPORT: dict[str, Any] = {
    "judgement_id": "j", "answer_id": "a", "pipeline_version": "v", "answer_partition": 0, "answer_offset": 0,
    "judged_at": COMPLETED,
}  # fmt: skip
CITATION = Citation(citation_id="c", number=1, chunk_id="c1", source_type="runbook", source_name="Loki")
REFERENCES = "\n\n## References\n\n[1] **Runbook**: Loki\n"


def shown(
    state: ReleaseState, risk: RiskLevel | None = "low", text: str = "* Loki restarts [1].", citations: int = 1
) -> FormattedResponse:
    answer = GeneratedAnswer(
        answer_id="a", answer=text, completed_at=COMPLETED, contexts=[ContextChunk(chunk_id="c1", content="x")]
    )
    return present(
        answer,
        CitationReport(**REPORT, agent="citations", citations=[CITATION] * citations),
        GroundingReport(**REPORT, agent="grounding", hallucination_risk=risk, suggestions=["Add more citations"]),
        QualityReport(**REPORT, agent="quality", overall_score=0.9),
        Decision(state=state),
    )


def test_released_answer_is_formatted_with_references() -> None:
    response = shown("released")
    assert response.content == "- Loki restarts [1]." + REFERENCES
    assert response.citations == [CITATION]
    assert response.quality_score == 0.9
    assert response.hallucination_risk == "low"
    assert response.suggestions == ["Add more citations"]
    assert response.metadata == {
        "timestamp": "2026-11-02T08:14:06+00:00",
        "model": "unknown",
        "context_chunks": 1,
        "state": "released",
        "style": "standard",
    }


@pytest.mark.parametrize(
    ("risk", "disclaimer"), [("high", "high"), ("medium", "medium"), ("low", "medium"), (None, "medium")]
)
def test_warned_answer_bears_its_disclaimer_above_the_references(risk: RiskLevel | None, disclaimer: RiskLevel) -> None:
    assert shown("warned", risk).content == "- Loki restarts [1]." + DISCLAIMERS[disclaimer] + REFERENCES


@pytest.mark.parametrize("risk", ["high", "medium", "low", None])
@pytest.mark.parametrize("state", ["held", "released"])
def test_other_states_bear_none(state: ReleaseState, risk: RiskLevel | None) -> None:
    assert shown(state, risk).content == "- Loki restarts [1]." + REFERENCES


def test_fallback_shows_nothing_of_the_answer() -> None:
    response = shown("fallback")
    assert response.content == FALLBACK_TEXT
    assert "Loki" not in response.content


def test_open_fence_hides_neither_disclaimer_nor_references() -> None:
    content = shown("warned", "high", "```\nls").content
    assert content == "```\nls\n```" + DISCLAIMERS["high"] + REFERENCES


def test_answer_without_any_report_is_shown() -> None:
    answer = GeneratedAnswer(answer_id="a", answer="", completed_at=COMPLETED)
    response = present(answer, None, None, None, Decision(state="released"))
    assert response.content == ""
    assert response.quality_score is None
    assert response.hallucination_risk is None


@pytest.mark.parametrize("unit", ["Note:\n", "x", "aa.The ", "* a\n"])
def test_largest_answer_with_largest_references_fits(unit: str) -> None:
    hostile = [
        CITATION.model_copy(
            update={"source_name": "*" * 200, "source_path": "`" * 2000, "excerpt": "[" * 200, "number": n}
        )
        for n in range(1, 201)
    ]
    answer = GeneratedAnswer(answer_id="a", answer=(unit * 60_000)[:60_000], completed_at=COMPLETED)
    report = CitationReport(**REPORT, agent="citations", citations=hostile)
    response = present(answer, report, None, None, Decision(state="warned"), "verbose")
    assert len(response.content) < 200_000
