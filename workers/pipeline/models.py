"""Get vectors and verdicts for the evaluators from the embedding model and the verifier."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Protocol

from workers.errors import JudgementError
from workers.evaluation.grounding.grounding_evaluator import Verdicts
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.backends import EmbeddingBackend
from workers.inference.embedding import EmbeddingService, Vector
from workers.inference.verification import VerificationService
from workers.inference.verifying import VerifierBackend
from workers.pipeline.evaluator import Vectors
from workers.pipeline.verifier_client import ask_verifier


class Models(Protocol):
    """Source of vectors and verdicts for an evaluation; the failure of a model is returned and not raised."""

    async def embed(self, texts: Sequence[str]) -> Vectors | JudgementError:
        """Return a vector of length 1 for each text."""

    async def verify(self, pairs: Sequence[VerifierPair], answer_id: str) -> Verdicts | JudgementError:
        """Return the verdicts on pairs of one answer."""


class ServiceModels:
    """Models of the services of this process, which batch across answers and limit the work in progress.

    Args:
        embedding: the embedding service, if an evaluator needs vectors.
        verifier: the verification service, if an evaluator needs verdicts.
    """

    def __init__(self, embedding: EmbeddingService | None, verifier: VerificationService | None) -> None:
        self._embedding, self._verifier = embedding, verifier

    @property
    def verifies(self) -> bool:
        """Return whether there is a verifier."""
        return self._verifier is not None

    async def embed(self, texts: Sequence[str]) -> Vectors | JudgementError:
        """Return a vector of length 1 for each text."""
        assert self._embedding is not None
        try:
            return await self._embedding.embed(texts)
        except JudgementError as failure:
            return failure

    async def verify(self, pairs: Sequence[VerifierPair], answer_id: str) -> Verdicts | JudgementError:
        """Return the verdicts on pairs of one answer."""
        if self._verifier is None:
            return JudgementError("there is no verifier; set grounding.verifier")
        return await ask_verifier(self._verifier, pairs, answer_id)


class LocalModels:
    """Models of this process without services, called in a thread.

    Args:
        backend: the embedding model.
        verifier: the verifier, if the settings name one.
        batch_texts: number of texts per call of the model.
        pool: pool of one thread, because models do not support concurrent calls.
    """

    def __init__(
        self, backend: EmbeddingBackend, verifier: VerifierBackend | None, batch_texts: int, pool: Executor
    ) -> None:
        self._backend, self._verifier, self._batch, self._pool = backend, verifier, batch_texts, pool

    async def embed(self, texts: Sequence[str]) -> Vectors | JudgementError:
        """Return a vector of length 1 for each text."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._embed, texts)

    async def verify(self, pairs: Sequence[VerifierPair], answer_id: str) -> Verdicts | JudgementError:
        """Return the verdicts on pairs of one answer."""
        if self._verifier is None:
            return JudgementError("there is no verifier; set grounding.verifier")
        verdicts = await asyncio.get_running_loop().run_in_executor(self._pool, self._verifier.score, pairs)
        return dict(zip(pairs, verdicts, strict=True))

    def _embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        vectors: dict[str, Vector] = {}
        for start in range(0, len(texts), self._batch):
            part = texts[start : start + self._batch]
            vectors.update(zip(part, self._backend.encode(part), strict=True))
        return vectors
