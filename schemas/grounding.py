"""Grounding: the claims of an answer, the evidence for each, and the risk that follows."""

from typing import Literal

from pydantic import Field

from schemas.base import Identifier, Many, Part, RiskLevel, Score, ShortText
from schemas.reports import Findings, Report, Span

ClaimKind = Literal["factual", "recommendation", "inference", "question", "code", "meta"]
Verdict = Literal["supported", "contradicted", "unsupported", "not_checked"]
IssueType = Literal[
    "uncertainty_language",
    "low_context_similarity",
    "unverified_facts",
    "low_citation_coverage",
    "contradicted_facts",
    "cited_unsupported",
]
Operation = Literal["sum", "mean", "difference", "product", "ratio", "share", "change", "part", "increase", "decrease"]
Severity = Literal["low", "medium", "high"]
Mismatch = Literal["number", "date", "name", "negation", "antonym", "comparative", "quantifier", "role"]

MAX_CLAIMS = 400
"""Most claims reported for one answer; what is beyond is counted, not listed."""
MAX_SOURCES = 4
"""Most sources listed for one claim."""
MAX_ISSUE_CLAIMS = 20
"""Most claims named by one issue; their evidence stands with the claims."""
MAX_PASSAGE = 200
"""Longest copy of a source's passage beside a claim, code points."""
MAX_CONFLICTS = 50
"""Most conflicts listed for one answer."""
MAX_CALCULATIONS = 3
"""Most calculations stated for one claim."""
MAX_NUMBER = 100
"""Longest copy of a number as it is written, code points."""
MAX_EXPRESSION = 500
"""Longest calculation written out, code points."""
MAX_CLAIM_TEXT = 500
"""Longest copy of a claim's text, code points; the span always covers it whole."""


class Evidence(Part):
    """The sentence of a source that a claim was compared with."""

    chunk_id: Identifier
    number: int = Field(ge=1, description="Position of the chunk among the contexts, from 1.")
    span: Span = Field(description="The sentence in the chunk's content, code points.")
    excerpt: ShortText = Field(description="The sentence, at most 300 code points.")
    similarity: float = Field(ge=-1.0, le=1.0, allow_inf_nan=False, description="Cosine of the embeddings.")


class ClaimSource(Part):
    """What one source says on a claim."""

    number: int = Field(ge=1, description="Position of the chunk among the contexts, from 1.")
    chunk_id: Identifier
    span: Span = Field(description="The sentence in the chunk's content, code points.")
    excerpt: str = Field(max_length=MAX_PASSAGE, description="The sentence, shortened.")
    score: Score = Field(description="Support by this source alone.")
    verdict: Verdict
    cited: bool = Field(default=False, description="The claim cites it.")


class CalculationInput(Part):
    """A number that a calculation starts from."""

    text: str = Field(max_length=MAX_NUMBER, description="The number as it is written, with its unit.")
    number: int | None = Field(
        default=None, ge=1, description="Position of its chunk among the contexts, from 1; null if the claim says it."
    )
    chunk_id: Identifier | None = None
    span: Span | None = Field(default=None, description="The sentence it stands in, in the chunk's content.")


class Calculation(Part):
    """How a figure of a claim follows from numbers of its sources (seed 004: the calculation basis)."""

    operation: Operation
    result: str = Field(max_length=MAX_NUMBER, description="The figure as the claim writes it.")
    expression: str = Field(
        max_length=MAX_EXPRESSION, description="For readers, as '47 minutes × $3,000 per hour = $2,350'."
    )
    inputs: list[CalculationInput] = Field(min_length=1, max_length=8)


class Conflict(Part):
    """Two sources that disagree on a claim, with both passages."""

    claim_id: Identifier
    supporting: ClaimSource
    contradicting: ClaimSource


class Claim(Part):
    """One statement of the answer and the verdict on it."""

    claim_id: Identifier = Field(description="UUIDv5 of (answer_id, start, end).")
    span: Span = Field(description="The claim in the raw answer, code points.")
    text: str = Field(max_length=MAX_CLAIM_TEXT, description="The claim, shortened for readers.")
    kind: ClaimKind
    hedged: bool = Field(default=False, description="Weakened by words as 'probably'; checked all the same.")
    verdict: Verdict
    score: Score | None = Field(default=None, description="Support in 0..1; null if not checked.")
    verifier_score: Score | None = Field(
        default=None, description="A verifier's probability that it is supported; null where none was asked."
    )
    mismatches: Many[Mismatch] = Field(default_factory=list, description="What stands against the evidence.")
    evidence: Evidence | None = Field(default=None, description="The best evidence, also if it falls short.")
    cited_numbers: Many[int] = Field(default_factory=list, description="Contexts that the claim validly cites.")
    sources: list[ClaimSource] = Field(
        default_factory=list, max_length=MAX_SOURCES, description="What its nearest sources say, the best first."
    )
    calculations: list[Calculation] = Field(
        default_factory=list, max_length=MAX_CALCULATIONS, description="How its derived figures come about."
    )
    primary_number: int | None = Field(default=None, ge=1, description="The source that supports it best.")
    redundant_numbers: Many[int] = Field(default_factory=list, description="Further sources that support it.")
    proposed_numbers: Many[int] = Field(default_factory=list, description="Sources that it should cite and does not.")
    cited_unsupported: Many[int] = Field(
        default_factory=list, description="Sources that it cites and that do not support it."
    )
    better_number: int | None = Field(default=None, ge=1, description="The source to cite in place of those.")


class GroundingIssue(Part):
    """A reason for hallucination risk (seed 000)."""

    type: IssueType
    severity: Severity
    message: ShortText
    value: float | None = Field(default=None, allow_inf_nan=False, description="What was measured.")
    threshold: float | None = Field(default=None, allow_inf_nan=False, description="What it was held against.")
    claim_ids: Many[Identifier] = Field(
        default_factory=list, max_length=MAX_ISSUE_CLAIMS, description="The claims it is about, the first ones."
    )


class GroundingFindings(Findings):
    """How far an answer rests on its contexts."""

    hallucination_risk: RiskLevel | None = Field(default=None, description="null if not judged.")
    risk_score: Score | None = Field(default=None, description="Mean severity of the issues, 0..1.")
    confidence_score: Score | None = Field(default=None, description="1 - risk_score.")
    grounding_score: Score | None = Field(
        default=None, description="Mean support of the claims that need grounding; null with none."
    )
    context_similarity: float | None = Field(default=None, ge=-1.0, le=1.0, allow_inf_nan=False)
    facts_verified: Score | None = Field(default=None, description="Share of checked claims that are supported.")
    citation_coverage: Score | None = None
    uncertainty_markers: Many[Span] = Field(default_factory=list)
    claims: Many[Claim] = Field(default_factory=list, max_length=MAX_CLAIMS)
    claims_total: int = Field(default=0, ge=0, description="Claims found, listed or not.")
    conflicts: list[Conflict] = Field(
        default_factory=list, max_length=MAX_CONFLICTS, description="Sources that disagree on a claim."
    )
    without_verifier: ShortText | None = Field(
        default=None,
        description="Why the rules alone have judged though a verifier is set; null where it answered, or none is set.",
    )
    issues: Many[GroundingIssue] = Field(default_factory=list)
    suggestions: Many[ShortText] = Field(default_factory=list)

    @property
    def ungrounded_claims(self) -> list[Claim]:
        """Claims that were checked and not found supported."""
        return [claim for claim in self.claims if claim.verdict in ("unsupported", "contradicted")]


class GroundingReport(Report, GroundingFindings):
    """The grounding agent's judgement of one answer."""
