"""Verify the claims that the rules leave open; if the verifier fails, the rules decide and the report says so."""

from collections.abc import Sequence

from workers.errors import JudgementError
from workers.evaluation.grounding.grounding_evaluator import Verdicts
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.verification import VerificationService
from workers.observability import metrics
from workers.observability.logs import get_logger

log = get_logger(__name__)


async def ask_verifier(
    verifier: VerificationService, questions: Sequence[VerifierPair], answer_id: str
) -> Verdicts | JudgementError:
    """Return the verdicts on the pairs of an answer, or the failure of the verifier.

    Args:
        verifier: the verification service.
        questions: pairs; empty if the rules decide every claim.
        answer_id: identifier of the answer.
    """
    if not questions:
        metrics.VERIFICATIONS.labels("not_asked").inc()
        return {}
    try:
        verdicts = await verifier.verify(questions)
    except JudgementError as failure:
        return unverified(failure, answer_id)
    metrics.VERIFICATIONS.labels("asked").inc()
    return verdicts


def unverified(failure: JudgementError, answer_id: str) -> JudgementError:
    """Count and log that an answer is evaluated without the verifier; return the failure."""
    metrics.VERIFICATIONS.labels("failed").inc()
    log.warning("claim_verification_failed", answer_id=answer_id, reason=str(failure))
    return failure
