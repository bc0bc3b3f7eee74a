"""What was made of a foreign record, as records of ours: the same by topic and by HTTP."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from workers.delivery.errors import PoisonError
from workers.delivery.records import Output
from workers.gateways.adapted import Adapted, fitting
from workers.privacy import Privacy


@dataclass(frozen=True, slots=True)
class Taken:
    """What is sent of one foreign record.

    Attributes:
        answers: that can be taken.
        outputs: the records of all of them.
        refused: how many of its calls could not be taken.
    """

    answers: tuple[Adapted, ...]
    outputs: tuple[Output, ...]
    refused: int


def taken_of(found: Sequence[Adapted], outputs: Callable[[Adapted], Sequence[Output]], *, in_part: bool) -> Taken:
    """What is sent of the answers of one record.

    Args:
        found: the answers.
        outputs: makes the records of one of them.
        in_part: leave out those that cannot be taken, as long as there are others.

    Raises:
        PoisonError: one cannot be taken and the record is not taken in part, or none can.
        UnreadableEvent: likewise.
    """
    made: list[tuple[Adapted, Sequence[Output]]] = []
    refusals: list[PoisonError | UnreadableEvent] = []
    for each in found:
        try:
            made.append((each, outputs(each)))
        except (PoisonError, UnreadableEvent) as refusal:
            if not in_part:
                raise
            refusals.append(refusal)
    if refusals and not made:
        raise refusals[0]
    return Taken(
        tuple(each for each, _ in made),
        tuple(output for _, records in made for output in records),
        len(refusals) + sum(each.refused for each in found),
    )


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
