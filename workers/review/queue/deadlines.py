"""Choose what the policy does about the deadline of a review: one rule for its agent and for what reviewers are shown."""

from typing import Literal

from workers.decision.reader_text.shown_text import shows_nothing
from workers.review.decision_events import DeadlineAction
from workers.settings import ReviewSettings


def deadline_action(
    settings: ReviewSettings, queue: str, *, held: bool, answer: str
) -> DeadlineAction | Literal["escalate"]:
    """Return what the policy does about a passed deadline: reject, warn, keep or escalate.

    Args:
        settings: settings of reviews.
        queue: queue of the request.
        held: True if readers wait for the decision.
        answer: text of the model; an empty one is rejected instead of released, as people cannot approve it either.
    """
    if queue == settings.escalation_queue:
        return last_action(settings, held=held, answer=answer)
    action = settings.deadline_held if held else settings.deadline_shown
    return "reject" if action == "warn" and shows_nothing(answer) else action


def last_action(settings: ReviewSettings, *, held: bool, answer: str) -> DeadlineAction:
    """Return what the policy does about the passed deadline of an escalated request: reject, warn or keep."""
    action = settings.deadline_last if held else "keep"
    return "reject" if action == "warn" and shows_nothing(answer) else action
