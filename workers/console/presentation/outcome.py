"""Derive the state of an answer after its review, the texts that its readers were shown, and a sentence about both."""

from collections.abc import Mapping
from datetime import datetime

import orjson
from pydantic import BaseModel, Field

from schemas.enriched import ReleaseState
from schemas.review import POLICY, ReleasableAnswer, ReviewDecision
from workers.decision.explanation import DecisionView
from workers.decision.finality import released_by
from workers.stores.queries.answer_queries import StoredAnswer

PIPELINE = "pipeline"
"""Author of what is shown without a decision."""

SEEN_AS: Mapping[str, str] = {
    "released": "readers saw it without a warning",
    "warned": "readers saw it with a warning",
    "replaced": "readers saw the corrected text",
    "rejected": "readers saw a notice in its place",
    "fallback": "readers saw a notice that the sources do not support an answer",
    "held": "readers saw nothing yet",
}
"""Words for what readers saw of an answer, by its state."""
UNCHANGED = "nothing changed for readers"
_DONE = {
    "approve": "Approved", "reject": "Rejected", "correct": "Corrected", "upvote": "Voted up", "downvote": "Voted down",
}  # fmt: skip


def outcome_words(ruling: str, action: str, state: str, by: str) -> str:
    """Return a sentence about a decision: what was decided by whom, and what readers saw.

    Args:
        ruling: final, second, vote, late or undone.
        action: what was decided; empty for undone.
        state: state to which the decision led; empty if it changed nothing.
        by: name of the person; the policy decides what has passed its deadline.
    """
    who = "the policy at the deadline" if by == POLICY else by
    done = f"{_DONE.get(action, action)} by {who}"
    match ruling:
        case "undone":
            return f"Decided and undone by {who} before it took effect; {UNCHANGED}."
        case "second":
            return f"{who} would {action} it (second opinion); {UNCHANGED}."
        case "late":
            return f"{done} too late, after another decision; {UNCHANGED}."
    return f"{done}; {SEEN_AS.get(state, UNCHANGED)}."


class ShownText(BaseModel):
    """A text that readers were shown from a point in time."""

    since: datetime
    by: str = Field(description="The pipeline, or the name of the reviewer.")
    state: ReleaseState
    content: str | None = Field(description="Markdown; null if readers were shown nothing.")


class Outcome(BaseModel):
    """The state of an answer after its review."""

    state: ReleaseState
    decision: DecisionView | None
    shown: list[ShownText]


def outcome_of(stored: StoredAnswer) -> Outcome:
    """Return the outcome of an answer from its rows.

    The pipeline's text comes first, then that of the final decision. A held answer was not shown.
    """
    row = stored.answer
    content = None if row["state"] == "held" else row["content"]
    shown = [ShownText(since=row["enriched_at"], by=PIPELINE, state=row["state"], content=content)]
    final = next((decision for decision in stored.decisions if decision["ruling"] == "final"), None)
    if final is None:
        return Outcome(state=row["state"], decision=None, shown=shown)
    decision = ReviewDecision.model_validate(
        {"original_answer": row["answer"]} | orjson.loads(final["decision"]) | {"releasable": _releasable(stored)}
    )
    released = released_by(decision)
    view = DecisionView(
        action=decision.user_action, state=released.state, with_warning=decision.with_warning,
        decided_by=decision.decided_by, decided_at=decision.timestamp, reason=decision.reason or "",
        comment=decision.user_comment or "", corrected_answer=decision.corrected_answer,
        review_duration=decision.review_duration,
        verdicts={each.claim_id: each.verdict for each in decision.claim_verdicts},
    )  # fmt: skip
    shown.append(
        ShownText(since=released.released_at, by=decision.decided_by, state=released.state, content=released.content)
    )
    return Outcome(state=released.state, decision=view, shown=shown)


def _releasable(stored: StoredAnswer) -> ReleasableAnswer | None:
    """Return what the request held for a release: the row of a decision does not repeat it."""
    for request in stored.requests:
        if request["request"] and (found := orjson.loads(request["request"]).get("releasable")):
            return ReleasableAnswer.model_validate(found)
    return None
