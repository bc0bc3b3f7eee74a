"""What was made of a foreign record, as records of ours: the same by topic and by HTTP."""

from schemas.headers import event_headers
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from workers.delivery.records import Output
from workers.gateways.adapted import Adapted, fitting
from workers.privacy import Privacy


def outputs_of(
    adapted: Adapted, privacy: Privacy, max_bytes: int, *, agent: str, pipeline_version: str
) -> list[Output]:
    """The records of an answer and of its feedback, masked where settings ask for it.

    Args:
        adapted: the answer.
        privacy: what is masked.
        max_bytes: largest answer.
        agent: who sends it.
        pipeline_version: of this process.

    Raises:
        UnadaptableRecord: the answer is too large.
        UnreadableEvent: the answer is too deep, or of another version.
    """
    answer, value = fitting(adapted.answer, max_bytes)
    context = answer.trace.traceparent if answer.trace else None
    events = [(ANSWERS_GENERATED, answer.answer_id, answer.completed_at, value)]
    events += [(FEEDBACK_EVENTS, event.feedback_id, event.occurred_at, event.to_bytes()) for event in adapted.feedback]
    return [
        Output(
            topic,
            answer.answer_id.encode(),
            privacy.value(content),
            event_headers(
                event_id=identifier,
                event_type=topic.model.__name__,
                time=time,
                pipeline_version=pipeline_version,
                traceparent=context,
                agent=agent,
            ),
        )
        for topic, identifier, time, content in events
    ]
