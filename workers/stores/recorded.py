"""What stores keep of a record: read by the agents that store it, and again by a rebuild."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.dead_letters import HEADER_FIELDS, read_dead_letter
from schemas.feedback import AnalyticsRow, FeedbackEvent, Reward
from schemas.identifiers import fact_id
from schemas.review import ReviewDecision
from schemas.topics import DEAD_LETTERS, REVIEW_DECISIONS
from workers.delivery.errors import UnreadableRecord
from workers.delivery.records import Record
from workers.steps.observations import review_event
from workers.stores.memory import TurnFeedback


def stored_row(record: Record) -> tuple[str, dict[str, Any]]:
    """The table and the columns of a record of feedback.analytics or dead-letters.

    Raises:
        UnreadableEvent: it is no row.
        UnreadableRecord: it is a dead letter without its reason.
    """
    if record.topic != DEAD_LETTERS.name:
        row = AnalyticsRow.from_bytes(record.value)
        return row.table, row.columns
    try:
        letter = read_dead_letter(record.key, record.value, record.headers)
    except ValidationError as error:
        raise UnreadableRecord(f"a dead letter lacks its reason ({error.error_count()} fields)") from None
    columns = letter.model_dump(mode="json", include={*HEADER_FIELDS, "key_base64", "value_base64"})
    # Revision 0: a letter that comes again never undoes the mark of its requeueing.
    return "dead_letters", columns | {"headers": to_json(letter.headers_base64).decode(), "revision": 0}


def feedback_of(record: Record) -> FeedbackEvent | None:
    """The feedback in a record of feedback.events or review.decisions; of some decisions there is none.

    Raises:
        UnreadableEvent: it is no such event.
    """
    if record.topic == REVIEW_DECISIONS.name:
        return review_event(ReviewDecision.from_bytes(record.value))
    return FeedbackEvent.from_bytes(record.value)


def turn_feedback_of(record: Record) -> list[TurnFeedback]:
    """What a reward says to a turn: nothing while no person has said or done anything.

    Raises:
        UnreadableEvent: it is no reward.
    """
    if record.value is None:
        return []  # a tombstone: whoever is erased from the rewards is erased from memory as well
    reward = Reward.from_bytes(record.value)
    turn_id = "turn_" + fact_id(reward.answer_id, "turn")
    return [TurnFeedback(turn_id, reward.reward, reward.revision)] if reward.is_personal else []
