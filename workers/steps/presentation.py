"""What a reader is shown: the answer formatted, with disclaimer and references as decided."""

from collections.abc import Sequence
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.base import RiskLevel
from schemas.citations import Citation, CitationReport
from schemas.enriched import Decision, FormattedResponse
from schemas.grounding import GroundingReport
from schemas.quality import QualityReport
from workers.steps.formatting import format_answer
from workers.steps.markdown import closed
from workers.steps.mitigation import FALLBACK_TEXT, mitigate
from workers.steps.references import Style, format_interactive, format_references


def present(
    answer: GeneratedAnswer,
    citations_report: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
    decision: Decision,
    style: Style = "standard",
) -> FormattedResponse:
    """Compose what a reader is shown (seed 000).

    A fallback shows its message instead of the answer. A held answer is formatted for the
    reviewer and bears no disclaimer: who approves it has verified it.
    """
    citations = citations_report.citations if citations_report is not None else []
    if decision.state == "fallback":
        content = FALLBACK_TEXT
    else:
        body = format_answer(answer.answer, citations, style=style, include_references=False)
        # The disclaimer stands under the answer, not below a page of references.
        content = mitigate(body, disclaimed_risk(decision, grounding))
        references = format_references(citations, style=style)
        content = closed(content) + references if references else content
    return FormattedResponse(
        content=content,
        citations=citations,
        metadata={
            "timestamp": answer.completed_at.isoformat(),
            "model": answer.model.id,
            "context_chunks": len(answer.contexts or []),
            "state": decision.state,
            "style": style,
        },
        quality_score=quality.overall_score if quality is not None else None,
        hallucination_risk=grounding.hallucination_risk if grounding is not None else None,
        interactive_elements=interactive_elements(citations, decision),
        suggestions=grounding.suggestions if grounding is not None else [],
    )


MAX_INTERACTIVE = 50
"""Most citations that are described for user interfaces; all stand in ``citations``."""
BUTTONS = (("copy", "Copy"), ("helpful", "Helpful"), ("not_helpful", "Not helpful"))
"""What every answer offers; the seed's implicit and explicit feedback comes from here."""


def interactive_elements(citations: Sequence[Citation], decision: Decision) -> dict[str, Any]:
    """Elements for a user interface (seed 000): citations to open, buttons to press.

    A warned answer also offers a review. Text is raw: the interface escapes it.
    """
    buttons = [{"id": identifier, "label": label} for identifier, label in BUTTONS]
    if decision.state == "warned":
        buttons.append({"id": "request_review", "label": "Ask for a review"})
    return {"citations": format_interactive(citations[:MAX_INTERACTIVE]), "buttons": buttons}


def disclaimed_risk(decision: Decision, grounding: GroundingReport | None) -> RiskLevel | None:
    """The risk whose disclaimer is shown: a warned answer bears one even where its risk is low."""
    if decision.state != "warned":
        return None
    return "high" if grounding is not None and grounding.hallucination_risk == "high" else "medium"
