"""List the claims of an explained answer with verdict and evidence."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field

from schemas.grounding import GroundingReport
from workers.decision.explanation import Explanation


class ExplainedClaim(BaseModel):
    """Describe one claim of an answer.

    Attributes:
        text: the claim, shortened for readers.
        kind: kind of the claim.
        verdict: verdict of the claim.
        score: support from 0 to 1; null if the claim was not checked.
        mismatches: kinds of mismatch with the evidence.
        chunk_id: source of the evidence; empty without evidence.
        evidence: the nearest sentence of the sources, even if it is insufficient.
    """

    text: str
    kind: str
    verdict: str
    score: float | None
    mismatches: list[str]
    chunk_id: str
    evidence: str


class ExplainedAnswer(Explanation):
    """Explain a decision together with the claims behind it.

    Attributes:
        claims: claims in the order of the answer.
    """

    claims: list[ExplainedClaim] = Field(default_factory=list)


def with_claims(explanation: Explanation, claims: Iterable[ExplainedClaim]) -> ExplainedAnswer:
    """Return the explanation with its claims."""
    return ExplainedAnswer(**dict(explanation), claims=list(claims))


def claims_of_report(report: GroundingReport | None) -> Iterable[ExplainedClaim]:
    """Yield the claims of a grounding report; none without a report."""
    for claim in report.claims if report else ():
        yield ExplainedClaim(
            **claim.model_dump(include={"text", "kind", "verdict", "score", "mismatches"}),
            chunk_id=claim.evidence.chunk_id if claim.evidence else "",
            evidence=claim.evidence.excerpt if claim.evidence else "",
        )


def claims_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterable[ExplainedClaim]:
    """Yield the claims of rows of the table ``claims``."""
    for row in rows:
        yield ExplainedClaim.model_validate({name: row[name] for name in ExplainedClaim.model_fields})
