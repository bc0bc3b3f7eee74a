"""Put an answer together from its chunks, and evaluate its sentences as they are finished.

The sentences are evaluated by the rules alone: their claims, and the risk of the answer so far. What becomes of the
answer is decided on the whole answer, which goes the way of all answers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from schemas.answers import GeneratedAnswer
from schemas.grounding import GroundingFindings
from schemas.reasoning import blanked
from schemas.streams import AnswerChunk, CheckedSentences
from workers.decision.stream_stop import StopOn, stop_reason
from workers.evaluation.budget import Budget, spending
from workers.evaluation.grounding.claim_memory import ClaimMemory, remembering
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.text.structure.finished_sentences import finished_ends
from workers.evaluation.thresholds import GroundingThresholds

MAX_CODE_POINTS = 60_000
"""Maximum length of an answer (``schemas.base.AnswerText``)."""
CUT = "length"
"""Finish reason of an answer whose rest is missing; quality reports it as cut off."""
SEGMENTED_ALWAYS = 2_000
"""Length of unfinished text up to which every chunk is searched for sentences, code points."""
GROWTH = 1.1
"""Growth of longer unfinished text after which it is searched again, so that the work stays linear."""


@dataclass
class StreamedAnswer:
    """Hold the chunks of one answer.

    Attributes:
        tenant: tenant of the answer.
        answer_id: identifier of the answer.
        texts: texts by index.
        fields: the other fields of the answer, once they have arrived.
        last: index of the last chunk, once it is known.
        first_seen: time of the first chunk, seconds since the epoch.
        done: the record that ended the answer; empty while it grows.
        checked: offset up to which the sentences are evaluated.
    """

    tenant: str
    answer_id: str
    texts: dict[int, str] = field(default_factory=dict)
    fields: Mapping[str, Any] | None = None
    last: int | None = None
    first_seen: float = 0.0
    done: str = ""
    checked: int = 0
    _text: str = ""
    _next: int = 0
    _size: int = 0
    _searched: int = 0
    _memory: ClaimMemory = field(default_factory=ClaimMemory)

    def add(self, chunk: AnswerChunk) -> None:
        """Add a chunk; one with an index that is there already has no effect."""
        if chunk.answer is not None and self.fields is None:
            self.fields = chunk.answer
        if chunk.last and self.last is None:
            self.last = chunk.index
        if chunk.index not in self.texts:
            self.texts[chunk.index] = chunk.text
            self._size += len(chunk.text)
        while self._next in self.texts:
            self._text += self.texts[self._next]
            self._next += 1

    @property
    def text(self) -> str:
        """Return the text up to the first missing chunk."""
        return self._text[:MAX_CODE_POINTS]

    @property
    def is_complete(self) -> bool:
        """Return true if no chunk is missing."""
        return self.last is not None and self._next > self.last

    @property
    def is_too_long(self) -> bool:
        """Return true if the answer cannot be completed within the maximum length."""
        return self._size > MAX_CODE_POINTS

    def answer(self, completed_at: datetime) -> GeneratedAnswer:
        """Return the answer; one that is not complete ends before its first missing chunk and is marked as cut.

        Args:
            completed_at: time of the answer if its fields name none.

        Raises:
            ValidationError: the fields are not those of an answer.
        """
        fields = {"completed_at": completed_at, **(self.fields or {})}
        fields |= {"tenant": self.tenant, "answer_id": self.answer_id, "answer": self.text}
        if not self.is_complete or self.is_too_long:
            missing = {"missing_chunk": self._next, "received_chunks": len(self.texts)}
            fields |= {"finish_reason": CUT, "metadata": {**(fields.get("metadata") or {}), "cut": missing}}
        return GeneratedAnswer.model_validate(fields)

    def finished_sentences(
        self, thresholds: GroundingThresholds, stop_on: StopOn, now: datetime, version: str
    ) -> list[CheckedSentences]:
        """Return the findings on the sentences that were finished since ``checked``, and move it behind them."""
        text = blanked(self.text)
        unfinished = len(text) - self.checked
        if self.fields is None or SEGMENTED_ALWAYS < unfinished < self._searched * GROWTH:
            return []
        self._searched = unfinished
        ends = finished_ends(text, self.checked)
        if not ends:
            return []
        begun, self.checked, self._searched = self.checked, ends[-1], 0
        found = list(self._checked(begun, ends, thresholds, now, version))
        for each in found:
            each.stop = stop_reason(each.claims, each.hallucination_risk, stop_on)
        return found

    def _checked(
        self, begun: int, ends: list[int], thresholds: GroundingThresholds, now: datetime, version: str
    ) -> Iterator[CheckedSentences]:
        problem, findings = None, GroundingFindings(status="skipped")
        try:
            answer = self.answer(now).model_copy(update={"answer": blanked(self.text)[: self.checked]})
            with spending(Budget()), remembering(self._memory):
                findings = evaluate_grounding(prepare_grounding(answer), thresholds)
        except Exception as error:  # the whole answer is evaluated all the same
            problem = type(error).__name__
        start = begun
        for end in ends:
            yield CheckedSentences(
                answer_id=self.answer_id,
                tenant=self.tenant,
                start=start,
                end=end,
                claims=[claim for claim in findings.claims if start <= claim.span.start < end],
                hallucination_risk=findings.hallucination_risk,
                problem=problem,
                checked_at=now,
                pipeline_version=version,
            )
            start = end
