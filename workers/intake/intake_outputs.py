"""Build input records from adapted foreign records; intake by topic and by HTTP share this module."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS
from workers.delivery.records import Output
from workers.errors import PoisonError
from workers.gateways.adapted import Adapted, fitting
from workers.observability import metrics
from workers.privacy.record_masking import Privacy


@dataclass(frozen=True, slots=True)
class Taken:
    """Output records of one foreign record.

    Attributes:
        answers: the accepted answers.
        outputs: the output records of all accepted answers.
        refused: number of calls that were refused.
        unread: number of spans that were not recognised, by reason.
    """

    answers: tuple[Adapted, ...]
    outputs: tuple[Output, ...]
    refused: int
    unread: Mapping[str, int] = field(default_factory=dict)


def taken_of(found: Sequence[Adapted], outputs: Callable[[Adapted], Sequence[Output]], *, in_part: bool) -> Taken:
    """Build the output records for the answers of one foreign record.

    Args:
        found: the adapted answers.
        outputs: builds the output records of one answer.
        in_part: skip refused answers if at least one answer is accepted.

    Raises:
        PoisonError: an answer is refused and ``in_part`` is false, or all answers are refused.
        UnreadableEvent: as for ``PoisonError``.
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
        sum_counts(each.unread for each in found),
    )


def sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of several counts by name."""
    found: Counter[str] = Counter()
    for each in counts:
        found.update(each)
    return dict(found)


def count_unread(agent: str, unread: Mapping[str, int]) -> None:
    """Count the spans that made no evaluable answer, by reason."""
    for reason, number in unread.items():
        metrics.SPANS_UNREAD.labels(agent, reason).inc(number)


def outputs_of(
    adapted: Adapted, privacy: Privacy, max_bytes: int, *, agent: str, pipeline_version: str
) -> list[Output]:
    """Build the output records of an answer and its feedback, masked by the tenant's policy.

    Args:
        adapted: the answer.
        privacy: masks the records.
        max_bytes: maximum size of an answer, bytes.
        agent: name of the sending agent.
        pipeline_version: pipeline version of this process.

    Raises:
        UnadaptableRecord: the answer is too large.
        UnreadableEvent: the answer is nested too deeply, or has an unsupported schema version.
    """
    answer, value = fitting(adapted.answer, max_bytes)
    key = record_key(answer.tenant, answer.answer_id).encode()
    context = answer.trace.traceparent if answer.trace else None
    events = [(ANSWERS_GENERATED, answer.answer_id, answer.completed_at, value)]
    events += [(FEEDBACK_EVENTS, event.feedback_id, event.occurred_at, event.to_bytes()) for event in adapted.feedback]
    return [
        Output(
            topic,
            key,
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
