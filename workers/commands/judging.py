"""Judging answers of a file on this machine, without broker and stores, as the agents do it."""

from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.topics import ANSWERS_GENERATED
from workers.agents.judging import Origin
from workers.agents.whole import AnswerJudge
from workers.delivery.records import Record
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_backend, open_verifier
from workers.inference.verifying import Verdict, VerifierBackend
from workers.settings import Settings
from workers.steps.verification import VerifierPair
from workers.versions import pipeline_version


class LocalJudge:
    """Judges answers one by one with the model of the settings; memory is not asked.

    Args:
        settings: all settings.
        backend: the model, if it is loaded already.
        verifier: the verifier, if it is.

    Raises:
        VerifierUnusable: the settings name a verifier that cannot be used.
    """

    def __init__(
        self, settings: Settings, backend: EmbeddingBackend | None = None, verifier: VerifierBackend | None = None
    ) -> None:
        self._settings = settings
        self._version = pipeline_version(settings)
        self._judge = AnswerJudge(settings)
        self._backend = backend or open_backend(settings)
        self._verifier = verifier or open_verifier(settings)

    def judge(self, answer: GeneratedAnswer) -> EnrichedAnswer:
        """Judge an answer as the three agents and assembly would."""
        case = self._judge.prepare(answer, Record(ANSWERS_GENERATED.name, 0, 0, answer.answer_id.encode(), None))
        vectors: dict[str, Any] = {}
        size = self._settings.inference.batch_texts
        for start in range(0, len(case.texts), size):
            part = case.texts[start : start + size]
            vectors.update(zip(part, self._backend.encode(part), strict=True))
        verdicts: dict[VerifierPair, Verdict] = {}
        if self._verifier is not None:
            questions = self._judge.weigh(case, vectors)
            verdicts = dict(zip(questions, self._verifier.score(questions), strict=True))
        # No clock: the same file gives the same judgement.
        origin = Origin(self._settings, self._version, answer.completed_at)
        return self._judge.judge(case, vectors, origin, verdicts).enriched
