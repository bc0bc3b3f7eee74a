"""Show what readers get from a decision before it is made, by the code that releases it."""

import unicodedata

from pydantic import BaseModel, Field

from schemas.enriched import ReleaseState
from schemas.review import ReviewDecision, ReviewRequest
from workers.decision.finality import released_by
from workers.privacy.record_masking import Privacy
from workers.review.decision_events import decided
from workers.review.review_errors import InvalidDecision

INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
"""Unicode categories of blanks and of characters without a picture of their own."""


class ReaderOutcome(BaseModel):
    """The state and the text that readers get from a decision."""

    state: ReleaseState
    content: str = Field(description="Text for readers, Markdown.")


def reader_outcome(decision: ReviewDecision) -> ReaderOutcome:
    """Return what readers get from a decision that approves, corrects or rejects."""
    released = released_by(decision)
    return ReaderOutcome(state=released.state, content=released.content or "")


def reader_outcomes(request: ReviewRequest, privacy: Privacy) -> dict[str, ReaderOutcome]:
    """Return what readers get from each decision that needs no text of the reviewer.

    Args:
        request: the review request.
        privacy: masks decisions as before they are sent.

    Returns:
        Outcomes of ``approve``, ``warn`` (approve with a warning) and ``reject``.
    """
    return {
        name: reader_outcome(
            privacy.event(
                decided(
                    request, by="reviewer", profile={}, at=request.requested_at,
                    action="reject" if name == "reject" else "approve", with_warning=name == "warn",
                )
            )
        )
        for name in ("approve", "warn", "reject")
    }  # fmt: skip


def is_blank(text: str) -> bool:
    """Return ``True`` if a text has nothing that a reader can see."""
    return all(unicodedata.category(character) in INVISIBLE for character in text)


def refuse_blank(decision: ReviewDecision) -> None:
    """Refuse a decision that would give readers an empty text.

    Raises:
        InvalidDecision: the approved answer, or the correction, is empty or of blanks only.
    """
    if decision.user_action == "approve" and is_blank(decision.original_answer):
        raise InvalidDecision(
            "user_action", "the answer is empty, so readers would get nothing; write a correction, or reject the answer"
        )
    if decision.user_action == "correct" and is_blank(decision.corrected_answer or ""):
        raise InvalidDecision(
            "corrected_answer", "the text is empty; write the text that readers get, or reject the answer"
        )
