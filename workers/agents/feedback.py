"""feedback: feedback.events, review.decisions → feedback.rewards, feedback.analytics.

Events are noted in ClickHouse first, and what an answer earned is folded from all that is
noted of it. So nothing is counted up: a repeat, a late rating or a revision gives the same
reward under the same identifier, with a revision that only grows.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.feedback import FeedbackEvent
from schemas.topics import FEEDBACK_ANALYTICS, FEEDBACK_EVENTS, FEEDBACK_REWARDS, REVIEW_DECISIONS
from workers import metrics
from workers.agents.base import AgentDefinition, Handler, Resources, event_output
from workers.delivery.records import Output, Result, Work
from workers.steps.rewards import combine, reward_of
from workers.steps.rows import implicit_feedback_row, reward_row
from workers.stores.feedback import ANSWERS_AT_ONCE, KnownFeedback
from workers.stores.recorded import feedback_of

AGENT = "feedback"


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.feedback is not None
        results: list[Result] = [[] for _ in works]
        events: dict[str, list[FeedbackEvent]] = defaultdict(list)
        last: dict[str, int] = {}
        for number, work in enumerate(works):
            try:
                event = feedback_of(work.record)
            except ValueError as error:
                results[number] = error
                continue
            if event is not None:
                events[event.answer_id].append(event)
                last[event.answer_id] = number
        with metrics.SINK_FLUSH_SECONDS.labels("feedback").time():
            await resources.feedback.note([event for noted in events.values() for event in noted])
        for answer_ids in _chunks(list(events)):
            known = await resources.feedback.known(answer_ids)
            loop = asyncio.get_running_loop()
            told = await loop.run_in_executor(resources.steps_pool, _judge_all, answer_ids, events, known, resources)
            for answer_id, outputs in zip(answer_ids, told, strict=True):
                results[last[answer_id]] = outputs
        return results

    return handle


def _chunks(answer_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(answer_ids), ANSWERS_AT_ONCE):
        yield answer_ids[start : start + ANSWERS_AT_ONCE]


def _judge_all(
    answer_ids: Sequence[str],
    events: Mapping[str, Sequence[FeedbackEvent]],
    known: Mapping[str, KnownFeedback],
    resources: Resources,
) -> list[list[Output]]:
    return [_outputs(events[answer_id], known.get(answer_id), resources) for answer_id in answer_ids]


def _outputs(events: Sequence[FeedbackEvent], known: KnownFeedback | None, resources: Resources) -> list[Output]:
    now = resources.now()
    rules = resources.settings.feedback
    # What came now is added, in case a replica of ClickHouse has not seen it yet.
    feedback = combine(events) if known is None else combine([*known.events, *events], known.noted)
    common: Mapping[str, Any] = {
        "key": feedback.answer_id, "agent": AGENT, "time": now, "pipeline_version": resources.pipeline_version,
    }  # fmt: skip
    outputs = []
    reward = reward_of(feedback, rules, now)
    if reward is not None:
        metrics.REWARDS.observe(reward.reward)
        outputs.append(event_output(FEEDBACK_REWARDS, reward, event_id=reward.reward_id, **common))
        row = reward_row(reward, feedback.elsewhere)
        outputs.append(event_output(FEEDBACK_ANALYTICS, row, event_id=f"{reward.reward_id}-row", **common))
    implicit = implicit_feedback_row(feedback, rules)
    if implicit is not None:
        outputs.append(event_output(FEEDBACK_ANALYTICS, implicit, event_id=implicit.columns["id"], **common))
    return outputs


FEEDBACK = AgentDefinition(AGENT, (FEEDBACK_EVENTS, REVIEW_DECISIONS), _handler, needs=("feedback",), sink=True)
