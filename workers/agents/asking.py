"""Asking the verifier about what the rules leave open; without its answer the rules judge alone, and it is told."""

from collections.abc import Sequence

from workers import metrics
from workers.delivery.errors import JudgementError
from workers.inference.verification import VerificationService
from workers.logs import get_logger
from workers.steps.grounding import Verdicts
from workers.steps.verification import VerifierPair

log = get_logger(__name__)


async def ask_verifier(
    verifier: VerificationService, questions: Sequence[VerifierPair], answer_id: str
) -> Verdicts | JudgementError:
    """Verdicts on the questions about an answer, or why there are none.

    Args:
        verifier: the service.
        questions: pairs; none where the rules decide every claim.
        answer_id: whose claims they are.
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
    """Tell that an answer is judged without the verifier; returns the failure."""
    metrics.VERIFICATIONS.labels("failed").inc()
    log.warning("claims_not_verified", answer_id=answer_id, reason=str(failure))
    return failure
