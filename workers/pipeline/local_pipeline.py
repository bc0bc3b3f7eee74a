"""Evaluate answers of a file on this machine, without broker and stores, as the agents do."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED
from workers.delivery.records import Record
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_backend, open_verifier
from workers.inference.verifying import VerifierBackend
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.models import LocalModels
from workers.pipeline.pipeline import EvaluatedAnswer, EvaluationPipeline
from workers.pipeline.reports import Origin
from workers.pipeline.versions import pipeline_version
from workers.settings import Settings


class LocalPipeline:
    """Evaluate answers one by one with the models of the settings; memory is not used.

    Args:
        settings: all settings.
        backend: the embedding model, if it is loaded already.
        verifier: the verifier, if it is loaded already.

    Raises:
        VerifierUnusable: the settings name a verifier that cannot be used.
        PluginError: the settings name a plug-in that cannot be used.
    """

    def __init__(
        self, settings: Settings, backend: EmbeddingBackend | None = None, verifier: VerifierBackend | None = None
    ) -> None:
        self._settings = settings
        self._version = pipeline_version(settings)
        self._pipeline = EvaluationPipeline(settings, open_evaluators(settings))
        # One thread for the loop and one for rules and models, because callers may have their own loop.
        self._loop_thread = ThreadPoolExecutor(1, thread_name_prefix="local-loop")
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="local")
        self._models = LocalModels(
            backend or open_backend(settings),
            verifier or open_verifier(settings),
            settings.inference.batch_texts,
            self._pool,
        )

    def evaluate(self, answer: GeneratedAnswer) -> EnrichedAnswer:
        """Return the enriched answer that the agents would produce."""
        return self._loop_thread.submit(lambda: asyncio.run(self._evaluate(answer))).result().enriched

    async def _evaluate(self, answer: GeneratedAnswer) -> EvaluatedAnswer:
        record = Record(ANSWERS_GENERATED.name, 0, 0, record_key(answer.tenant, answer.answer_id).encode(), None)
        loop = asyncio.get_running_loop()
        case = await loop.run_in_executor(self._pool, self._pipeline.prepare, answer, record)
        await self._pipeline.run([case], self._models, self._pool)
        # No clock: the same file gives the same evaluation.
        origin = Origin(self._settings, self._version, answer.completed_at)
        return await loop.run_in_executor(self._pool, self._pipeline.finish, case, origin)
