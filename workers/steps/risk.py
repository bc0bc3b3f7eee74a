"""From measures to issues, risk and suggestions (seed 000).

| issue | when | severity |
|---|---|---|
| uncertainty_language | more markers than the threshold | medium |
| low_context_similarity | similarity below the threshold | high; medium if the facts are verified |
| unverified_facts | share of facts verified below the threshold | high |
| low_citation_coverage | share of sentences cited below the threshold | medium |
| contradicted_facts | any claim contradicted (ours) | high |
| cited_unsupported | a claim cites a source that does not support it (ours) | medium |

The seed's risk is the mean of the severities' weights (low 0.2, medium 0.5, high 0.9), and each
issue a threshold on one measure. That falls when a milder issue joins a graver one (high 0.9, high
and two medium 0.63), jumps where a measure crosses its threshold, and on labelled answers hardly
tells good from bad (docs/reference/grounding.md). Here issues explain and the score is
``1 - (1 - p) * prod(1 - weight)``: p is the calibrated probability that something in the answer is
unsupported (``calibration``); a contradicted fact and issues of manner, which say how a thing is
said and not whether it is so, add to it. No further issue can lower it.

- Low similarity while the facts are verified is a distant paraphrase: medium, not high.
- Coverage is no issue where no claim needs grounding: there is nothing to cite.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import RiskLevel
from schemas.grounding import GroundingIssue, IssueType, Severity
from workers.steps.thresholds import GroundingThresholds

ISSUE_WEIGHTS: dict[IssueType, float] = {
    "contradicted_facts": 0.7,
    "low_citation_coverage": 0.1,
    "uncertainty_language": 0.1,
}
"""What an issue adds to the risk of the content; all others are part of it already."""

NOTHING_VERIFIED = 0.5
"""What it adds if no claim is supported."""

SUGGESTIONS: dict[IssueType, str] = {
    "low_context_similarity": "Consider regenerating with more relevant context",
    "unverified_facts": "Review factual claims against source material",
    "low_citation_coverage": "Add more citations to support claims",
    "uncertainty_language": "Reduce uncertainty markers or add supporting evidence",
    "contradicted_facts": "Correct the claims that the sources contradict",
    "cited_unsupported": "Cite the sources that support the claims",
}
"""Suggestions of seed 000, and of the issues that are ours."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What was measured on an answer; ``None`` where there was nothing to measure.

    Attributes:
        uncertainty: uncertainty markers.
        context_similarity: length-weighted mean of the claims' best cosine, -1..1.
        facts_verified: share of claims supported, 0..1.
        citation_coverage: share of sentences with a valid citation, 0..1.
        contradicted: claims contradicted.
        groundable: claims that need grounding.
        cited_unsupported: claims that cite a source which does not support them.
    """

    uncertainty: int
    context_similarity: float | None
    facts_verified: float | None
    citation_coverage: float | None
    contradicted: int
    groundable: int
    cited_unsupported: int = 0


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk of an answer: a score in 0..1, its band, and why."""

    score: float
    level: RiskLevel
    issues: list[GroundingIssue]
    suggestions: list[str]


def assess(measures: Measures, content_risk: float | None, thresholds: GroundingThresholds) -> Risk:
    """Issues, risk and suggestions for one answer.

    Args:
        measures: what the issues are found by.
        content_risk: probability that something is unsupported; ``None`` if nothing was checked.
        thresholds: of issues and bands.
    """
    issues = find_issues(measures, thresholds)
    score = risk_score(content_risk or 0.0, issues)
    if measures.facts_verified == 0.0:
        # Nothing at all holds: that is worse than the worst claims, which make the content's risk.
        score = 1.0 - (1.0 - score) * (1.0 - NOTHING_VERIFIED)
    return Risk(score, risk_level(score, thresholds), issues, [SUGGESTIONS[issue.type] for issue in issues])


def find_issues(measures: Measures, thresholds: GroundingThresholds) -> list[GroundingIssue]:
    """Measures that fall short, in the order of the seed."""
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
    if measures.contradicted:
        message = f"{measures.contradicted} of {measures.groundable} facts contradicted by the context"
        add("contradicted_facts", "high", message, measures.contradicted, 0.0)
    if measures.cited_unsupported:
        message = (
            f"{measures.cited_unsupported} of {measures.groundable} facts cite a source that does not support them"
        )
        add("cited_unsupported", "medium", message, measures.cited_unsupported, 0.0)
    return issues


def risk_score(content_risk: float, issues: Sequence[GroundingIssue]) -> float:
    """Risk in 0..1; no further issue lowers it."""
    safe = 1.0 - content_risk
    for issue in issues:
        safe *= 1.0 - ISSUE_WEIGHTS.get(issue.type, 0.0)
    return 1.0 - safe


def risk_level(score: float, thresholds: GroundingThresholds) -> RiskLevel:
    """The band of a risk score."""
    if score < thresholds.risk_medium:
        return "low"
    return "medium" if score < thresholds.risk_high else "high"
