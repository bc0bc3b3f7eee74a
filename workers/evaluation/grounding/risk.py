"""Derive issues, risk and suggestions from measures.

| issue | when | severity |
|---|---|---|
| uncertainty_language | more markers than the threshold | medium |
| low_context_similarity | similarity below the threshold | high; medium if the facts are verified |
| unverified_facts | share of facts verified below the threshold | high |
| low_citation_coverage | share of sentences cited below the threshold | medium |
| contradicted_facts | any claim contradicted (ours) | high |
| cited_unsupported | a claim cites a source that does not support it (ours) | medium |
| failed_tool | a tool failed or found nothing, the answer does not say so and has claims without support (ours) | high |
| words_not_compared | a claim in other words or another language than the sources (ours) | low |

The baseline risk is the mean of the severities' weights (low 0.2, medium 0.5, high 0.9), and each
issue a threshold on one measure. That mean falls when a milder issue is added (high 0.9, high and two medium 0.63),
jumps when a measure crosses its threshold, and separates labelled good and bad answers poorly
(docs/reference/grounding.md). Here issues are explanations, and the score is ``1 - (1 - p) * prod(1 - weight)``: p is
the calibrated probability that something in the answer is unsupported (``calibration``); contradicted facts and issues
of style increase the score. An additional issue never lowers it.

- Low similarity while the facts are verified is a distant paraphrase: medium, not high.
- Coverage is no issue where no claim needs grounding: there is nothing to cite.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import RiskLevel
from schemas.grounding import GroundingIssue, IssueType, Severity
from workers.evaluation.thresholds import GroundingThresholds

ISSUE_WEIGHTS: dict[IssueType, float] = {
    "contradicted_facts": 0.7,
    "failed_tool": 0.5,
    "low_citation_coverage": 0.1,
    "uncertainty_language": 0.1,
}
"""Weight of issues that add to the risk of the content; other issues are already part of it."""

NOTHING_VERIFIED = 0.5
"""Additional weight if no claim is supported."""

SUGGESTIONS: dict[IssueType, str] = {
    "low_context_similarity": "Consider regenerating with more relevant context",
    "unverified_facts": "Review factual claims against source material",
    "low_citation_coverage": "Add more citations to support claims",
    "uncertainty_language": "Reduce uncertainty markers or add supporting evidence",
    "contradicted_facts": "Correct the claims that the sources contradict",
    "failed_tool": "Call the tool again, or say that it failed",
    "cited_unsupported": "Cite the sources that support the claims",
    "words_not_compared": "Let a person compare the claims with their sources",
}
"""Suggestion for each issue."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Hold the measures of an answer; ``None`` where a measure does not apply.

    Attributes:
        uncertainty: uncertainty markers.
        context_similarity: length-weighted mean of the best cosine of the claims' words, 0..1.
        facts_verified: share of claims supported, 0..1.
        citation_coverage: share of sentences with a valid citation, 0..1.
        contradicted: claims contradicted.
        groundable: claims that need grounding.
        cited_unsupported: claims that cite a source which does not support them.
        unchecked: claims beyond the limit, which were not checked.
        unknown_figures: claims with a figure that no evidence has or gives.
        failed_tools: names of tools that failed or found nothing, where the answer does not say so and has claims without
            support.
        unread: claims of which only exact details were compared; they are not among those that need grounding.
    """

    uncertainty: int
    context_similarity: float | None
    facts_verified: float | None
    citation_coverage: float | None
    contradicted: int
    groundable: int
    cited_unsupported: int = 0
    unchecked: int = 0
    unknown_figures: int = 0
    failed_tools: tuple[str, ...] = ()
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Risk:
    """Describe the risk of an answer: a score in 0..1, its band and its reasons."""

    score: float
    level: RiskLevel
    issues: list[GroundingIssue]
    suggestions: list[str]


def assess(measures: Measures, content_risk: float | None, thresholds: GroundingThresholds) -> Risk:
    """Assess one answer: return its issues, risk and suggestions.

    Args:
        measures: measures from which issues are derived.
        content_risk: probability that something is unsupported; ``None`` if nothing was checked.
        thresholds: thresholds of issues and bands.
    """
    issues = find_issues(measures, thresholds)
    score = risk_score(content_risk or 0.0, issues)
    if measures.facts_verified == 0.0:
        # Without any supported claim the answer is worse than its worst claims, which determine the risk of the
        # content.
        score = 1.0 - (1.0 - score) * (1.0 - NOTHING_VERIFIED)
    # A score of exactly the bound of a band must not miss it by the rounding error of a product.
    score = round(score, 6)
    if thresholds.mapping is not None:
        score = round(thresholds.mapping(score), 6)
    if measures.unchecked or measures.unknown_figures:
        # The worst claim decides, however many others are supported.
        score = max(score, thresholds.risk_medium)
    return Risk(score, risk_level(score, thresholds), issues, [SUGGESTIONS[issue.type] for issue in issues])


def find_issues(measures: Measures, thresholds: GroundingThresholds) -> list[GroundingIssue]:
    """Return an issue for each measure beyond its threshold, in a fixed order."""
    similarity, verified, coverage = measures.context_similarity, measures.facts_verified, measures.citation_coverage
    issues: list[GroundingIssue] = []

    def add(kind: IssueType, severity: Severity, message: str, value: float, threshold: float | None) -> None:
        issues.append(GroundingIssue(type=kind, severity=severity, message=message, value=value, threshold=threshold))

    if measures.uncertainty > thresholds.uncertainty_markers:
        message = f"Response contains {measures.uncertainty} uncertainty markers"
        add("uncertainty_language", "medium", message, measures.uncertainty, thresholds.uncertainty_markers)
    if similarity is not None and similarity < thresholds.context_similarity:
        sound = verified is not None and verified >= thresholds.facts_verified
        message = f"Response similarity to context: {similarity:.2f} (threshold: {thresholds.context_similarity:.2f})"
        severity: Severity = "medium" if sound else "high"
        add("low_context_similarity", severity, message, similarity, thresholds.context_similarity)
    if verified is not None and verified < thresholds.facts_verified:
        message = f"Only {verified:.0%} of facts verified in context"
        add("unverified_facts", "high", message, verified, thresholds.facts_verified)
    if measures.groundable and coverage is not None and coverage < thresholds.citation_coverage:
        message = f"Only {coverage:.0%} of response is cited"
        add("low_citation_coverage", "medium", message, coverage, thresholds.citation_coverage)
    if measures.unchecked:
        message = f"{measures.unchecked} of {measures.groundable} facts exceed the limit and were not checked"
        add("unverified_facts", "high", message, measures.unchecked, 0.0)
    if measures.contradicted:
        message = f"{measures.contradicted} of {measures.groundable} facts contradicted by the context"
        add("contradicted_facts", "high", message, measures.contradicted, 0.0)
    if measures.cited_unsupported:
        message = (
            f"{measures.cited_unsupported} of {measures.groundable} facts cite a source that does not support them"
        )
        add("cited_unsupported", "medium", message, measures.cited_unsupported, 0.0)
    if measures.failed_tools:
        names = ", ".join(measures.failed_tools[:3])[:200]
        message = f"Failed or empty calls are not admitted: {names}"
        add("failed_tool", "high", message, len(measures.failed_tools), 0.0)
    if measures.unread:
        message = (
            f"{measures.unread} of {measures.groundable + measures.unread} facts are in other words or another language "
            "than the context: only figures, dates and names were compared"
        )
        add("words_not_compared", "low", message, measures.unread, 0.0)
    return issues


def risk_score(content_risk: float, issues: Sequence[GroundingIssue]) -> float:
    """Compute the risk in 0..1; an additional issue never lowers it."""
    safe = 1.0 - content_risk
    for issue in issues:
        safe *= 1.0 - ISSUE_WEIGHTS.get(issue.type, 0.0)
    return 1.0 - safe


def risk_level(score: float, thresholds: GroundingThresholds) -> RiskLevel:
    """Return the band of a risk score."""
    if score < thresholds.risk_medium:
        return "low"
    return "medium" if score < thresholds.risk_high else "high"
