"""What a reader is shown: the answer formatted, with disclaimer and references as decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.base import RiskLevel
from schemas.citations import Citation, CitationReport
from schemas.enriched import Decision, FormattedResponse
from schemas.grounding import Calculation, GroundingReport
from schemas.quality import QualityReport
from workers.steps.formatting import format_answer
from workers.steps.inline import InlinePolicy, UngroundedPolicy, annotate
from workers.steps.markdown import closed
from workers.steps.mitigation import FALLBACK_TEXT, mitigate
from workers.steps.references import Style, format_interactive, format_references


@dataclass(frozen=True, slots=True)
class ReaderPolicy:
    """What is done to an answer for its readers; see ``inline`` and ``addresses``.

    Attributes:
        inline_citations: keep markers, link them, or propose missing ones as well.
        ungrounded_claims: keep claims without support, mark them as AI inference, or omit them.
        url_rules: addresses of sources by pattern.
    """

    inline_citations: InlinePolicy = "link"
    ungrounded_claims: UngroundedPolicy = "keep"
    url_rules: Mapping[str, str] = field(default_factory=dict)


DEFAULT_POLICY = ReaderPolicy()


def present(
    answer: GeneratedAnswer,
    citations_report: CitationReport | None,
    grounding: GroundingReport | None,
    quality: QualityReport | None,
    decision: Decision,
    style: Style = "standard",
    policy: ReaderPolicy = DEFAULT_POLICY,
) -> FormattedResponse:
    """Compose what a reader is shown (seeds 000 and 004).

    A fallback shows its message instead of the answer. A held answer is formatted for the
    reviewer and bears no disclaimer: who approves it has verified it.
    """
    citations = citations_report.citations if citations_report is not None else []
    if decision.state == "fallback":
        content = FALLBACK_TEXT
    else:
        body, references = body_and_references(answer, citations_report, grounding, style, policy)
        # The disclaimer stands under the answer, not below a page of references.
        content = mitigate(body, disclaimed_risk(decision, grounding))
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
        interactive=format_interactive(citations, policy.url_rules, _calculations(grounding)),
        grounding_score=grounding.grounding_score if grounding is not None else None,
        ungrounded_claims=[claim.text for claim in grounding.ungrounded_claims] if grounding is not None else [],
        response_seconds=response_seconds(answer),
        grounding_seconds=grounding.duration_seconds if grounding is not None else None,
        citation_count=len(citations),
    )


def body_and_references(
    answer: GeneratedAnswer,
    citations_report: CitationReport | None,
    grounding: GroundingReport | None,
    style: Style = "standard",
    policy: ReaderPolicy = DEFAULT_POLICY,
) -> tuple[str, str]:
    """The answer formatted without any disclaimer, and the list of references that stands under it, or nothing."""
    citations = citations_report.citations if citations_report is not None else []
    marked = annotate(
        answer.answer,
        citations,
        grounding.claims if grounding is not None else [],
        inline=policy.inline_citations,
        ungrounded=policy.ungrounded_claims,
        rules=policy.url_rules,
    )
    body = format_answer(marked, citations, style=style, include_references=False)
    calculations = _calculations(grounding)
    return body, format_references(citations, style=style, rules=policy.url_rules, calculations=calculations)


def _calculations(grounding: GroundingReport | None) -> list[Calculation]:
    claims = grounding.claims if grounding is not None else []
    return [each for claim in claims for each in claim.calculations][:MAX_CALCULATIONS]


def response_seconds(answer: GeneratedAnswer) -> float | None:
    """Time from question to answer; a clock that runs backwards is the caller's, and no time."""
    if answer.requested_at is None or answer.requested_at > answer.completed_at:
        return None
    return (answer.completed_at - answer.requested_at).total_seconds()


MAX_CALCULATIONS = 50
"""Most calculations that are shown below an answer; all stand with their claims."""
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
