"""Define grounding: the claims of an answer, the evidence for each, and the resulting risk."""

from typing import Literal

from pydantic import Field

from schemas.base import Identifier, LongText, Many, Part, RiskLevel, Score, ShortText
from schemas.reports import AgentName, Findings, Report, Span

ClaimKind = Literal["factual", "recommendation", "inference", "question", "code", "meta"]
Verdict = Literal["supported", "contradicted", "unsupported", "not_checked"]
ClaimVerdict = Literal["supported", "contradicted", "unsupported", "not_checked", "said_before"]
"""Verdict of a claim; ``said_before``: an earlier turn of the conversation states it, and the sources do not."""
IssueType = Literal[
    "uncertainty_language",
    "low_context_similarity",
    "unverified_facts",
    "low_citation_coverage",
    "contradicted_facts",
    "cited_unsupported",
    "failed_tool",
    "words_not_compared",
]
Operation = Literal["sum", "mean", "difference", "product", "ratio", "share", "change", "part", "increase", "decrease"]
Severity = Literal["low", "medium", "high"]
Mismatch = Literal[
    "number", "date", "name", "negation", "antonym", "comparative", "quantifier", "role", "subject", "predicate"
]

MAX_CLAIMS = 400
"""Maximum number of claims listed for one answer; further claims are only counted."""
MAX_SOURCES = 4
"""Maximum number of sources listed for one claim."""
MAX_ISSUE_CLAIMS = 20
"""Maximum number of claims listed for one issue; the claims contain their evidence."""
MAX_PASSAGE = 200
"""Maximum length of a copied passage of a source, code points."""
MAX_CONFLICTS = 50
"""Maximum number of conflicts listed for one answer."""
MAX_CALCULATIONS = 3
"""Maximum number of calculations listed for one claim."""
MAX_NUMBER = 100
"""Maximum length of a copied number, code points."""
MAX_EXPRESSION = 500
"""Maximum length of a calculation as text, code points."""
MAX_CLAIM_TEXT = 500
"""Maximum length of a copied claim text, code points; the span always covers the whole claim."""


class Evidence(Part):
    """Describe the sentence of a source with which a claim was compared."""

    chunk_id: Identifier
    number: int = Field(ge=1, description="Position of the chunk among the contexts, from 1.")
    span: Span = Field(description="The sentence in the chunk's content, code points.")
    excerpt: ShortText = Field(
        description="The sentence, at most 300 code points: the part with the facts of the claim."
    )
    similarity: float = Field(
        ge=-1.0, le=1.0, allow_inf_nan=False, description="Cosine of the words of claim and evidence."
    )


class ClaimSource(Part):
    """Describe the support of a claim by one source."""

    number: int = Field(ge=1, description="Position of the chunk among the contexts, from 1.")
    chunk_id: Identifier
    span: Span = Field(description="The sentence in the chunk's content, code points.")
    excerpt: str = Field(max_length=MAX_PASSAGE, description="The sentence, shortened.")
    score: Score = Field(description="Support by this source alone.")
    verdict: Verdict
    cited: bool = Field(default=False, description="True if the claim cites it.")


class CalculationInput(Part):
    """Describe a number that enters a calculation."""

    text: str = Field(max_length=MAX_NUMBER, description="The number as written, with its unit.")
    number: int | None = Field(
        default=None,
        ge=1,
        description="Position of its chunk among the contexts, from 1; null if the number is in the claim.",
    )
    chunk_id: Identifier | None = None
    span: Span | None = Field(default=None, description="Its sentence in the chunk's content.")


class Calculation(Part):
    """Describe the derivation of a claim's figure from numbers of its sources."""

    operation: Operation
    result: str = Field(max_length=MAX_NUMBER, description="The figure as the claim writes it.")
    expression: str = Field(
        max_length=MAX_EXPRESSION, description="Text for readers, such as '47 minutes × $3,000 per hour = $2,350'."
    )
    inputs: list[CalculationInput] = Field(min_length=1, max_length=8)


class Conflict(Part):
    """Describe two sources that disagree on a claim, with both passages."""

    claim_id: Identifier
    supporting: ClaimSource
    contradicting: ClaimSource


class EarlierStatement(Part):
    """Describe a sentence of an earlier turn of the conversation."""

    turn: int = Field(ge=1, description="Position of the turn in the conversation, from 1.")
    role: Literal["user", "assistant"] = Field(description="Author of the turn.")
    span: Span = Field(description="The sentence in the turn's content, code points.")
    excerpt: str = Field(max_length=MAX_PASSAGE, description="The sentence, shortened.")


class EarlierContradiction(Part):
    """Describe a claim that contradicts an earlier answer of the conversation without saying so."""

    claim_id: Identifier
    earlier: EarlierStatement
    mismatches: Many[Mismatch] = Field(default_factory=list, description="Kinds of mismatch.")


class ResolvedQuery(Part):
    """Describe the query as it is understood after the earlier turns."""

    status: Literal["self_contained", "resolved", "not_resolved"]
    text: LongText = Field(description="The query that claims and relevance are compared with.")
    reason: ShortText | None = Field(default=None, description="Reason why the query was not resolved.")


class Claim(Part):
    """Describe one statement of the answer and its verdict."""

    claim_id: Identifier = Field(description="UUIDv5 of (tenant, answer_id, start, end).")
    span: Span = Field(description="The claim in the raw answer, code points.")
    text: str = Field(max_length=MAX_CLAIM_TEXT, description="The claim, shortened for readers.")
    kind: ClaimKind
    hedged: bool = Field(
        default=False, description="True for claims with words such as 'probably'; they are checked too."
    )
    verdict: ClaimVerdict
    score: Score | None = Field(default=None, description="Support in 0..1; null if not checked.")
    verifier_score: Score | None = Field(
        default=None, description="A verifier's probability of support; null without a verifier's answer."
    )
    mismatches: Many[Mismatch] = Field(default_factory=list, description="Kinds of mismatch with the evidence.")
    evidence: Evidence | None = Field(default=None, description="The best evidence, even if it is insufficient.")
    cited_numbers: Many[int] = Field(default_factory=list, description="Contexts that the claim validly cites.")
    sources: list[ClaimSource] = Field(
        default_factory=list, max_length=MAX_SOURCES, description="Support by its nearest sources, the best first."
    )
    calculations: list[Calculation] = Field(
        default_factory=list, max_length=MAX_CALCULATIONS, description="Derivation of its calculated figures."
    )
    primary_number: int | None = Field(default=None, ge=1, description="The source that supports it best.")
    redundant_numbers: Many[int] = Field(default_factory=list, description="Further sources that support it.")
    proposed_numbers: Many[int] = Field(default_factory=list, description="Sources that it should cite and does not.")
    cited_unsupported: Many[int] = Field(
        default_factory=list, description="Sources that it cites and that do not support it."
    )
    better_number: int | None = Field(default=None, ge=1, description="The source to cite instead.")
    earlier: EarlierStatement | None = Field(
        default=None,
        exclude_if=lambda earlier: earlier is None,
        description="The earlier turn that states it, for the verdict said_before; absent for others.",
    )
    step: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda step: step is None,
        description="The first step of the run that stated it, from 1, if it is unsupported or contradicted; absent "
        "without steps.",
    )


class GroundingIssue(Part):
    """Describe a reason for hallucination risk."""

    type: IssueType
    severity: Severity
    message: ShortText
    value: float | None = Field(default=None, allow_inf_nan=False, description="Measured value.")
    threshold: float | None = Field(default=None, allow_inf_nan=False, description="Threshold of the measure.")
    claim_ids: Many[Identifier] = Field(
        default_factory=list, max_length=MAX_ISSUE_CLAIMS, description="The first claims that the issue concerns."
    )


class GroundingFindings(Findings):
    """State the degree to which an answer is supported by its contexts."""

    hallucination_risk: RiskLevel | None = Field(default=None, description="Null if not evaluated.")
    risk_score: Score | None = Field(default=None, description="Mean severity of the issues, 0..1.")
    confidence_score: Score | None = Field(default=None, description="1 - risk_score.")
    grounding_score: Score | None = Field(
        default=None, description="Mean support of the claims that need grounding; null without such claims."
    )
    context_similarity: float | None = Field(default=None, ge=-1.0, le=1.0, allow_inf_nan=False)
    facts_verified: Score | None = Field(default=None, description="Share of checked claims that are supported.")
    citation_coverage: Score | None = None
    uncertainty_markers: Many[Span] = Field(default_factory=list)
    claims: Many[Claim] = Field(default_factory=list, max_length=MAX_CLAIMS)
    claims_total: int = Field(default=0, ge=0, description="Number of claims, including omitted ones.")
    conflicts: list[Conflict] = Field(
        default_factory=list, max_length=MAX_CONFLICTS, description="Sources that disagree on a claim."
    )
    query: ResolvedQuery | None = Field(
        default=None,
        exclude_if=lambda query: query is None,
        description="The query after the earlier turns; absent without earlier turns.",
    )
    earlier_contradictions: list[EarlierContradiction] = Field(
        default_factory=list,
        max_length=MAX_CONFLICTS,
        exclude_if=lambda contradictions: not contradictions,
        description="Claims that contradict an earlier answer of the conversation without saying so.",
    )
    without_verifier: ShortText | None = Field(
        default=None,
        description="Reason for an evaluation by rules alone despite a configured verifier; null otherwise.",
    )
    issues: Many[GroundingIssue] = Field(default_factory=list)
    suggestions: Many[ShortText] = Field(default_factory=list)

    @property
    def ungrounded_claims(self) -> list[Claim]:
        """Return the claims that were checked and are not supported."""
        return [claim for claim in self.claims if claim.verdict in ("unsupported", "contradicted")]


class GroundingReport(Report, GroundingFindings):
    """Describe the report of the grounding agent on one answer."""

    agent: AgentName
