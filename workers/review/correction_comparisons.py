"""Compare corrected texts with the sources of their answers, and keep what was found until the text is saved."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from pydantic import ValidationError
from pydantic_core import from_json

from schemas.answers import ContextChunk, GeneratedAnswer, ModelReference
from schemas.grounding import Claim
from schemas.review import MAX_DOUBTED, CorrectionComparison, DoubtedStatement, ReviewRequest
from workers.review.queue.shared_state import SharedState, SharedStateAway
from workers.review.review_errors import InvalidDecision
from workers.stores.tables.review_tables import QueueRow

KEPT_SECONDS = 86_400
"""Time for which a comparison is kept until its text is saved."""
MOST_KEPT = 1_000
"""Maximum number of comparisons that a process keeps for the time in which Redis does not respond."""
VERDICTS = ("contradicted", "unsupported", "said_before", "not_checked")
"""Verdicts of statements that the sources do not support, the worst first."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A corrected text that is to be compared with the sources of its answer.

    Attributes:
        place: place of the request.
        request: the review request.
        answer: the text in place of the answer, as the evaluation reads it.
        dangling: references of the text that lead to no source.
    """

    place: QueueRow
    request: ReviewRequest
    answer: GeneratedAnswer
    dangling: Sequence[str]


def answer_to_compare(request: ReviewRequest, text: str, turns: str) -> GeneratedAnswer:
    """Return a text as the answer to the query of a request, from the same sources and in the same mode.

    Args:
        request: the review request.
        text: the corrected text, masked.
        turns: conversation before the query, as JSON; empty without any.

    Raises:
        InvalidDecision: the request has no sources, or readers would see more of the text than is evaluated.
    """
    if not request.contexts:
        why = (
            "the sources of this answer are too large to be kept with its request"
            if request.contexts_total
            else "the model received no sources for this answer"
        )
        raise InvalidDecision(
            "corrected_answer", f"{why}, so there is nothing to compare the text with; check each statement yourself"
        )
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": request.answer_id, "tenant": request.tenant, "query": request.query, "answer": text,
            "contexts": [each.model_dump(include=set(ContextChunk.model_fields)) for each in request.contexts],
            "conversation": from_json(turns) if turns else [], "risk_mode": request.risk_mode,
            "query_type": request.releasable.query_type if request.releasable else None,
            "model": ModelReference(id=request.model_id),
            "completed_at": request.releasable.completed_at if request.releasable else request.requested_at,
        }
    )  # fmt: skip
    if answer.answer != text:
        raise InvalidDecision(
            "corrected_answer",
            "the text begins with the reasoning of a model (<think>), which readers would see; remove it",
        )
    return answer


def doubted_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Return the statements that the sources do not support, the worst first; questions, code and remarks are left out."""
    doubted = [claim for claim in claims if claim.verdict in VERDICTS and _is_statement(claim)]
    return sorted(doubted, key=lambda claim: (VERDICTS.index(claim.verdict), claim.span.start))


def _is_statement(claim: Claim) -> bool:
    # A statement in other words than the sources has evidence that it could not be compared with.
    return claim.verdict != "not_checked" or claim.evidence is not None


def comparison_of(
    claims: Sequence[Claim], request: ReviewRequest, at: datetime, pipeline_version: str
) -> CorrectionComparison:
    """Return what an evaluation of a corrected text found.

    Args:
        claims: claims of the text with their verdicts.
        request: the review request.
        at: time of the comparison.
        pipeline_version: version that evaluated the text.
    """
    doubted = doubted_claims(claims)
    return CorrectionComparison(
        compared_at=at,
        pipeline_version=pipeline_version,
        sources=len(request.contexts),
        sources_total=max(request.contexts_total, len(request.contexts)),
        supported=sum(claim.verdict == "supported" for claim in claims),
        **{name: sum(claim.verdict == name for claim in doubted) for name in VERDICTS},
        doubted=[
            DoubtedStatement(
                verdict=claim.verdict, span=claim.span, mismatches=claim.mismatches,
                number=claim.evidence.number if claim.evidence else None,
            )
            for claim in doubted[:MAX_DOUBTED]
        ],
    )  # fmt: skip


class KeptComparisons:
    """Comparisons of texts that may be saved, by request and digest of the text.

    Args:
        shared: Redis, which all consoles read; without it this process knows the comparisons that it has made.
    """

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._ours: OrderedDict[str, CorrectionComparison] = OrderedDict()

    async def keep(self, place: QueueRow, text: str, comparison: CorrectionComparison) -> None:
        """Keep the comparison of a text, which replaces an earlier one of the same text."""
        key = self._key(place, text)
        self._ours[key] = comparison
        self._ours.move_to_end(key)
        while len(self._ours) > MOST_KEPT:
            self._ours.popitem(last=False)
        try:
            await self._shared.ask("set", key, comparison.model_dump_json(), ex=KEPT_SECONDS)
        except SharedStateAway:
            return

    async def find(self, place: QueueRow, text: str) -> CorrectionComparison | None:
        """Return the comparison of exactly this text with the sources of this request; ``None`` if there is none."""
        key = self._key(place, text)
        try:
            value = await self._shared.ask("get", key)
        except SharedStateAway:
            return self._ours.get(key)
        try:
            return CorrectionComparison.model_validate_json(value) if value is not None else None
        except ValidationError:
            return None  # a console of a later version wrote it

    def _key(self, place: QueueRow, text: str) -> str:
        # Another result under the same identifier may have other sources.
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return self._shared.key("compared", f"{place.review_id}:{place.version}:{digest}")
