"""Present an answer to a reader: formatted, with the decided disclaimer and references."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.base import RiskLevel
from schemas.citations import Citation, CitationReport
from schemas.enriched import Decision, FormattedResponse
from schemas.grounding import Calculation, GroundingReport
from schemas.quality import QualityReport
from workers.decision.mitigation import mitigate, note_conflicts, note_earlier_turns
from workers.decision.reader_text.formatting import format_answer
from workers.decision.reader_text.inline_marks import InlinePolicy, UngroundedPolicy, annotate
from workers.decision.reader_text.proposals import citable, note_dangling
from workers.decision.reader_text.quotes import quoted
from workers.decision.reader_text.reader_texts import ReaderTexts, texts_for
from workers.decision.reader_text.reference_list import Style, format_interactive, format_references
from workers.decision.reader_text.released_citations import (
    preferred_numbers,
    primary_numbers,
    proposed_markers,
    released_citations,
)
from workers.evaluation.text.structure.boilerplate import is_courtesy
from workers.evaluation.text.structure.markdown import closed
from workers.evaluation.text.structure.segmentation import segment


@dataclass(frozen=True, slots=True)
class ReaderPolicy:
    """Describe the changes to an answer for its readers; see ``inline`` and ``addresses``.

    Attributes:
        inline_citations: keep markers, link them, or propose missing ones as well.
        ungrounded_claims: keep claims without support, mark them as AI inference, or omit them.
        url_rules: addresses of sources by pattern.
        texts: texts beside an answer or in its place by language and name, instead of the usual ones.
    """

    inline_citations: InlinePolicy = "propose"
    ungrounded_claims: UngroundedPolicy = "keep"
    url_rules: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def texts_for(self, answer: GeneratedAnswer) -> ReaderTexts:
        """Return the texts in the language of an answer."""
        return texts_for(answer.answer, answer.query, self.texts)


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
    """Compose the text for a reader.

    A fallback shows its message instead of the answer. A held answer is formatted for the reviewer without a
    disclaimer, because an approval verifies it.
    """
    citations = citations_of(answer, citations_report, grounding, policy)
    listed = quoted(citations, grounding, answer.contexts or [])
    primary, contradicted = primary_numbers(grounding), contradicted_numbers(grounding)
    return FormattedResponse(
        content=text_for_readers(answer, citations_report, grounding, decision, style, policy),
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
        interactive_elements=interactive_elements(listed, decision, primary, contradicted),
        suggestions=grounding.suggestions if grounding is not None else [],
        interactive=format_interactive(listed, policy.url_rules, _calculations(grounding), primary, contradicted),
        grounding_score=grounding.grounding_score if grounding is not None else None,
        ungrounded_claims=[claim.text for claim in grounding.ungrounded_claims] if grounding is not None else [],
        response_seconds=response_seconds(answer),
        grounding_seconds=grounding.duration_seconds if grounding is not None else None,
        citation_count=len(citations),
    )


def text_for_readers(
    answer: GeneratedAnswer,
    citations_report: CitationReport | None,
    grounding: GroundingReport | None,
    decision: Decision,
    style: Style = "standard",
    policy: ReaderPolicy = DEFAULT_POLICY,
) -> str:
    """Return the text of a decided answer: its body, the decided disclaimer and the references, or the fallback."""
    texts = policy.texts_for(answer)
    if decision.state == "fallback":
        return texts.fallback
    body, references = body_and_references(answer, citations_report, grounding, style, policy)
    # The disclaimer is placed before the list of references, so that readers see it.
    disclaimer = texts.disclaimer(disclaimed_risk(decision, grounding))
    content = mitigate(body, disclaimer if body != texts.fallback else "")
    return closed(content) + references if references else content


def body_and_references(
    answer: GeneratedAnswer,
    citations_report: CitationReport | None,
    grounding: GroundingReport | None,
    style: Style = "standard",
    policy: ReaderPolicy = DEFAULT_POLICY,
) -> tuple[str, str]:
    """Return the formatted answer without a disclaimer, and its list of references, which may be empty.

    References that lead nowhere, conflicts between sources and with earlier answers are noted below the answer. An answer of which nothing is left says so.
    """
    citations = citations_of(answer, citations_report, grounding, policy)
    texts = policy.texts_for(answer)
    invalid = citations_report.invalid_references if citations_report is not None else []
    claims = citable(answer, grounding.claims, invalid) if grounding is not None else []
    proposed = {number for claim in claims for number in claim.proposed_numbers}
    marked = annotate(
        answer.answer,
        citations,
        claims,
        inline=policy.inline_citations,
        ungrounded=policy.ungrounded_claims,
        rules=policy.url_rules,
        markers=proposed_markers(answer.contexts or [], proposed) if policy.inline_citations == "propose" else None,
    )
    if marked != answer.answer and _says_nothing(marked):
        return texts.fallback, ""
    body = note_dangling(format_answer(marked, citations, style=style, include_references=False), invalid, texts)
    if grounding is not None:
        body = note_conflicts(body, grounding.conflicts, texts)
        body = note_earlier_turns(body, grounding.claims, grounding.earlier_contradictions, texts)
    return body, format_references(
        quoted(citations, grounding, answer.contexts or []),
        style=style,
        rules=policy.url_rules,
        calculations=_calculations(grounding),
        primary=preferred_numbers(citations, grounding),
        contradicted=contradicted_numbers(grounding),
    )


def contradicted_numbers(grounding: GroundingReport | None) -> set[int]:
    """Return the numbers of the sources that contradicted claims cite, or that contradict them."""
    claims = [claim for claim in grounding.claims if claim.verdict == "contradicted"] if grounding is not None else []
    return {number for claim in claims for number in claim.cited_numbers} | {
        claim.evidence.number for claim in claims if claim.evidence is not None
    }


def citations_of(
    answer: GeneratedAnswer,
    report: CitationReport | None,
    grounding: GroundingReport | None,
    policy: ReaderPolicy,
) -> list[Citation]:
    """Return the citations that the readers of an answer see."""
    propose = policy.inline_citations == "propose"
    return released_citations(answer, report, grounding, propose=propose)


def _says_nothing(text: str) -> bool:
    """Return true if headings and courtesies are all that a text has."""
    return all(sentence.block == "heading" or is_courtesy(sentence.text) for sentence in segment(text))


def _calculations(grounding: GroundingReport | None) -> list[Calculation]:
    claims = grounding.claims if grounding is not None else []
    return [each for claim in claims for each in claim.calculations][:MAX_CALCULATIONS]


def response_seconds(answer: GeneratedAnswer) -> float | None:
    """Return the seconds from question to answer; ``None`` if the caller's clock runs backwards."""
    if answer.requested_at is None or answer.requested_at > answer.completed_at:
        return None
    return (answer.completed_at - answer.requested_at).total_seconds()


MAX_CALCULATIONS = 50
"""Maximum number of calculations shown below an answer; all are shown at their claims."""
MAX_INTERACTIVE = 50
"""Maximum number of citations described for user interfaces; all are in ``citations``."""
BUTTONS = (("copy", "Copy"), ("helpful", "Helpful"), ("not_helpful", "Not helpful"))
"""Buttons of every answer, the source of explicit and implicit feedback."""


def interactive_elements(
    citations: Sequence[Citation], decision: Decision, primary: Collection[int] = (), contradicted: Collection[int] = ()
) -> dict[str, Any]:
    """Return elements for a user interface: citations to open, buttons to press.

    A warned answer also offers a review. Text is raw: the interface escapes it.
    """
    buttons = [{"id": identifier, "label": label} for identifier, label in BUTTONS]
    if decision.state == "warned":
        buttons.append({"id": "request_review", "label": "Ask for a review"})
    return {
        "citations": format_interactive(citations[:MAX_INTERACTIVE], primary=primary, contradicted=contradicted),
        "buttons": buttons,
    }


def disclaimed_risk(decision: Decision, grounding: GroundingReport | None) -> RiskLevel | None:
    """Return the risk of the displayed disclaimer; a warned answer has a disclaimer even at low risk."""
    if decision.state != "warned":
        return None
    return "high" if grounding is not None and grounding.hallucination_risk == "high" else "medium"
