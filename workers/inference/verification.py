"""Verify pairs in batches across answers, each distinct pair once, without blocking the event loop."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.batching import BatchingService, BatchLimits, BatchMetrics
from workers.inference.verifying import OUTCOMES, Verdict, VerifierBackend
from workers.observability import metrics
from workers.settings import InferenceSettings


class VerificationService(BatchingService[VerifierPair]):
    """Verdicts of pairs, from the cache or the verifier; see :class:`BatchingService`.

    Args:
        backend: the verifier.
        settings: batch size, cache size and deadline.
    """

    def __init__(self, backend: VerifierBackend, settings: InferenceSettings) -> None:
        limits = BatchLimits(
            settings.batch_pairs, settings.batch_wait_seconds, settings.cache_pairs, settings.timeout_seconds
        )
        counted = BatchMetrics(metrics.VERIFIER_SECONDS, metrics.VERIFIER_BATCH, metrics.VERIFIER_CACHE)
        super().__init__(backend.name, "pairs", limits, counted)
        self._backend = backend

    async def verify(self, pairs: Iterable[VerifierPair]) -> dict[VerifierPair, Verdict]:
        """Return the verdicts of pairs.

        Args:
            pairs: distinct or not, in any order.

        Returns:
            float32 of shape (3,) for each distinct pair: probabilities of supported,
            contradicted and unsupported.

        Raises:
            InferenceTimeout: the verifier did not return within ``inference.timeout_seconds``.
            InferenceFailed: the verifier raised.
        """
        return await self._rows(pairs)

    def _digest(self, item: VerifierPair) -> bytes:
        evidence, claim = (text.encode("utf-8", "surrogatepass") for text in (item.evidence, item.claim))
        # The length comes first, so that another division of the same characters gets another digest.
        return blake2b(len(evidence).to_bytes(8) + evidence + claim, digest_size=16).digest()

    def _compute(self, batch: Sequence[VerifierPair]) -> Verdict:
        verdicts = self._backend.score(batch)
        if verdicts.shape != (len(batch), len(OUTCOMES)) or not ((verdicts >= 0.0) & (verdicts <= 1.0)).all():
            raise ValueError(f"the verifier returned shape {verdicts.shape} or values that are not probabilities")
        return verdicts
