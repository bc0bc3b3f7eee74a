"""feedback: feedback.events, review.decisions → feedback.rewards, feedback.analytics.

Events are noted in ClickHouse first, and what an answer earned is folded from all that is
noted of it. So nothing is counted up: a repeat, a late rating or a revision gives the same
reward under the same identifier, with a revision that only grows.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.feedback import FeedbackEvent
from schemas.review import ReviewDecision
from schemas.topics import FEEDBACK_ANALYTICS, FEEDBACK_EVENTS, FEEDBACK_REWARDS, REVIEW_DECISIONS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources, event_output
from workers.delivery.records import Output, Record, Result, Work
from workers.steps.observations import review_event
from workers.steps.rewards import combine, reward_of
from workers.steps.rows import decision_row, implicit_feedback_row, reward_row

AGENT = "feedback"


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.feedback is not None
        results: list[Result] = [[] for _ in works]
        decisions: dict[int, list[Output]] = {}
        events: dict[str, list[FeedbackEvent]] = defaultdict(list)
        last: dict[str, int] = {}
        for number, work in enumerate(works):
            try:
                event, decisions[number] = _read(work.record, resources)
                results[number] = decisions[number]
            except ValueError as error:
                results[number] = error
                continue
            if event is not None:
                events[event.answer_id].append(event)
                last[event.answer_id] = number
        with metrics.SINK_FLUSH_SECONDS.labels("feedback").time():
            await resources.feedback.note([event for noted in events.values() for event in noted])
        known = await resources.feedback.known(list(events))
        for answer_id, number in last.items():
            # What came now is added, in case a replica of ClickHouse has not seen it yet.
            rewards = _outputs([*known.get(answer_id, ()), *events[answer_id]], resources)
            results[number] = [*decisions[number], *rewards]
        return results

    return handle


def _read(record: Record, resources: Resources) -> tuple[FeedbackEvent | None, list[Output]]:
    """The feedback that a record brings, and for a reviewer's decision its row."""
    if record.topic != REVIEW_DECISIONS.name:
        return FeedbackEvent.from_bytes(record.value), []
    decision = ReviewDecision.from_bytes(record.value)
    row = event_output(
        FEEDBACK_ANALYTICS,
        decision_row(decision),
        key=decision.answer_id,
        agent=AGENT,
        event_id=f"{decision.feedback_id}-row",
        time=decision.timestamp,
        pipeline_version=resources.pipeline_version,
    )
    return review_event(decision), [row]


def _outputs(events: Sequence[FeedbackEvent], resources: Resources) -> list[Output]:
    now = resources.now()
    rules = resources.settings.feedback
    feedback = combine(events)
    common: Mapping[str, Any] = {
        "key": feedback.answer_id, "agent": AGENT, "time": now, "pipeline_version": resources.pipeline_version,
    }  # fmt: skip
    outputs = []
    reward = reward_of(feedback, rules, now)
    if reward is not None:
        metrics.REWARDS.observe(reward.reward)
        outputs.append(event_output(FEEDBACK_REWARDS, reward, event_id=reward.reward_id, **common))
        row = reward_row(reward, feedback)
        outputs.append(event_output(FEEDBACK_ANALYTICS, row, event_id=f"{reward.reward_id}-row", **common))
    implicit = implicit_feedback_row(feedback, rules)
    if implicit is not None:
        outputs.append(event_output(FEEDBACK_ANALYTICS, implicit, event_id=implicit.columns["id"], **common))
    return outputs


FEEDBACK = AgentDefinition(AGENT, (FEEDBACK_EVENTS, REVIEW_DECISIONS), _handler, needs=("feedback",), sink=True)
