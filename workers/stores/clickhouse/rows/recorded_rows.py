"""Read the stored form of a record, for the agents that store it and for a rebuild."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from schemas.dead_letters import read_dead_letter
from schemas.feedback import AnalyticsRow, FeedbackEvent, Reward
from schemas.review import ReviewDecision
from schemas.topics import DEAD_LETTERS, REVIEW_DECISIONS
from workers.delivery.records import Record
from workers.errors import UnreadableRecord
from workers.feedback.observed_events import review_event
from workers.stores.lancedb.memory_store import TurnFeedback
from workers.stores.tables.operation_tables import DeadLetterRow
from workers.stores.tables.packed_rows import unpacked


def stored_rows(record: Record) -> list[tuple[str, dict[str, Any]]]:
    """Return table and columns of each row of a record of feedback.analytics or dead-letters.

    Raises:
        UnreadableEvent: the record is no row.
        UnreadableRecord: the record is a dead letter without a reason, or has rows of a later version.
    """
    if record.topic != DEAD_LETTERS.name:
        return unpacked(AnalyticsRow.from_bytes(record.value))
    try:
        letter = read_dead_letter(record.key, record.value, record.headers)
    except ValidationError as error:
        raise UnreadableRecord(f"a dead letter lacks its reason ({error.error_count()} fields)") from None
    headers = to_json(letter.headers_base64).decode()
    # Revision 0: a repeated dead letter never removes its requeueing mark.
    row = DeadLetterRow.read(letter.model_dump() | {"headers": headers, "revision": 0})
    return [(row.table, row.columns)]


def feedback_of(record: Record) -> FeedbackEvent | None:
    """Return the feedback in a record of feedback.events or review.decisions. Some decisions hold none.

    Raises:
        UnreadableEvent: the record is not an event of its topic.
    """
    if record.topic == REVIEW_DECISIONS.name:
        return review_event(ReviewDecision.from_bytes(record.value))
    return FeedbackEvent.from_bytes(record.value)


def turn_feedback_of(record: Record) -> list[TurnFeedback]:
    """Return the feedback of a reward on a turn; none as long as no person has given any.

    Raises:
        UnreadableEvent: the record is no reward.
    """
    if record.value is None:
        return []  # a tombstone: an erasure from the rewards applies to memory as well
    reward = Reward.from_bytes(record.value)
    if not reward.is_personal:
        return []
    return [TurnFeedback(reward.tenant, reward.answer_id, reward.reward, reward.revision)]
