"""Show what readers get from a decision before it is made, by the code that releases it."""

import re
from typing import Literal

from pydantic import BaseModel, Field

from schemas.enriched import ReleaseState
from schemas.review import ReviewDecision, ReviewRequest
from workers.decision.finality import released_by
from workers.decision.reader_text.correction_references import dangling_references
from workers.decision.reader_text.reference_list import HEADING
from workers.decision.reader_text.shown_text import shows_nothing
from workers.privacy.record_masking import Privacy
from workers.review.decision_events import DeadlineAction, decided, decided_by_deadline
from workers.review.review_errors import InvalidDecision

MOST_NAMED = 5
"""Maximum number of references that a refusal names."""
_LINK = re.compile(r"\[(\[[^\[\]\n]*\])\]\((?:<[^<>\n]*>|[^()\s]*)\)")
"""A citation with a link, as the formatting writes it."""
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)")


class ReaderOutcome(BaseModel):
    """The state and the text that readers get from a decision."""

    state: ReleaseState
    content: str = Field(description="Text for readers, Markdown.")


def reader_outcome(decision: ReviewDecision) -> ReaderOutcome:
    """Return what readers get from a decision that approves, corrects or rejects."""
    released = released_by(decision)
    return ReaderOutcome(state=released.state, content=released.content or "")


def reader_outcomes(
    request: ReviewRequest, privacy: Privacy, at_deadline: DeadlineAction | None = None
) -> dict[str, ReaderOutcome]:
    """Return what readers get from each decision that needs no text of the reviewer.

    Args:
        request: the review request.
        privacy: masks decisions as before they are sent.
        at_deadline: decision of the policy if no person decides; ``None`` without a deadline.

    Returns:
        Outcomes of ``approve``, ``warn`` (approve with a warning), ``reject`` and, with a deadline, ``deadline``.
    """
    decisions = {
        name: decided(
            request, by="reviewer", profile={}, at=request.requested_at,
            action="reject" if name == "reject" else "approve", with_warning=name == "warn",
        )
        for name in ("approve", "warn", "reject")
    }  # fmt: skip
    if at_deadline is not None:
        decisions["deadline"] = decided_by_deadline(request, at_deadline, request.requested_at)
    return {name: reader_outcome(privacy.event(decision)) for name, decision in decisions.items()}


def change_of(answer: str, content: str) -> Literal["none", "references", "formatting", "text"]:
    """Return what differs between an answer and the text that readers get from it.

    Links on citations and the list below the answer are ``references``, emphasis and blanks beside these are
    ``formatting``; all other differences are ``text``.
    """
    if content.strip() == answer.strip():
        return "none"
    body, heading, _ = content.rpartition(HEADING)
    body = body if heading else content
    before, after = (_LINK.sub(r"\1", text).strip() for text in (answer, body))
    if before == after:
        return "references"
    return "formatting" if _words(before) == _words(after) else "text"


def _words(text: str) -> list[str]:
    """Return the words of Markdown without marks of emphasis."""
    return _EMPHASIS.sub("", text).split()


def refuse_blank(decision: ReviewDecision) -> None:
    """Refuse a decision that would give readers an empty text.

    Raises:
        InvalidDecision: readers would see nothing of the approved answer, or of the correction.
    """
    if decision.user_action == "approve" and shows_nothing(decision.original_answer):
        raise InvalidDecision(
            "user_action", "the answer is empty, so readers would get nothing; write a correction, or reject the answer"
        )
    if decision.user_action == "correct" and shows_nothing(decision.corrected_answer or ""):
        raise InvalidDecision(
            "corrected_answer", "the text is empty; write the text that readers get, or reject the answer"
        )


def refuse_dangling(request: ReviewRequest, text: str) -> None:
    """Refuse a correction with a reference that leads to no source: it holds an answer of a model.

    Args:
        request: the review request.
        text: the corrected answer.

    Raises:
        InvalidDecision: a reference leads nowhere.
    """
    dangling = dangling_references(request, text)
    if dangling:
        total = max(request.contexts_total, len(request.contexts))
        one = len(dangling) == 1
        raise InvalidDecision(
            "corrected_answer",
            f"{', '.join(dangling[:MOST_NAMED])} {'leads' if one else 'lead'} to no source: the answer has"
            f" {total or 'no'} source{'' if total == 1 else 's'}; correct or remove {'it' if one else 'them'}, or write"
            " what is no reference as `code`",
        )
