"""Every topic: its model, key, partitions, retention and cleanup policy stand here and only here.

Creation, checks, the AsyncAPI document and the topic table of the docs are made from it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.citations import CitationReport
from schemas.dead_letters import DeadLetter
from schemas.enriched import EnrichedAnswer
from schemas.feedback import AnalyticsRow, FeedbackEvent, FeedbackMessage, ModelPosterior, Reward
from schemas.grounding import GroundingReport
from schemas.memory import ConversationTurn
from schemas.privacy import Erasure
from schemas.quality import QualityReport
from schemas.release import Alert, ReleasedAnswer
from schemas.review import ReviewDecision, ReviewEvent, ReviewRequest

DEFAULT_PARTITIONS = 4
"""Partitions of every topic unless the setting says otherwise; joined topics must agree."""

KEEP = timedelta(days=30)
KEEP_SHORT = timedelta(days=7)
KEEP_FOREVER = None

Cleanup = Literal["delete", "compact"]
Direction = Literal["in", "internal", "out"]


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic.

    Attributes:
        name: without the configurable prefix.
        model: the model of its values.
        key: what the key holds, in words.
        direction: in from others, internal between agents, out to others.
        purpose: who reads it and what for.
        retention: how long records are kept; ``None`` keeps them.
        cleanup: delete by age, or compact by key.
        joined: must have as many partitions as answers.generated.
        foreign: of others, under its own name: no prefix is put before it and nobody here creates it.
    """

    name: str
    model: type[Event]
    key: str
    direction: Direction
    purpose: str
    retention: timedelta | None = KEEP
    cleanup: Cleanup = "delete"
    joined: bool = False
    foreign: bool = False


ANSWERS_GENERATED = Topic(
    "answers.generated", GeneratedAnswer, "answer_id", "in", "answers from the gateway", joined=True
)
ANSWERS_CITATIONS = Topic(
    "answers.citations", CitationReport, "answer_id", "internal",
    "citation reports, on the answer's partition number", KEEP_SHORT, joined=True,
)  # fmt: skip
ANSWERS_GROUNDING = Topic(
    "answers.grounding", GroundingReport, "answer_id", "internal",
    "grounding reports, on the answer's partition number", KEEP_SHORT, joined=True,
)  # fmt: skip
ANSWERS_QUALITY = Topic(
    "answers.quality", QualityReport, "answer_id", "internal",
    "quality reports, on the answer's partition number", KEEP_SHORT, joined=True,
)  # fmt: skip
ANSWERS_ENRICHED = Topic("answers.enriched", EnrichedAnswer, "answer_id", "out", "dashboards and exporters")
ANSWERS_RELEASED = Topic(
    "answers.released", ReleasedAnswer, "answer_id", "out",
    "the gateway; readers take what is final, else the highest revision", KEEP_FOREVER, "compact", joined=True,
)  # fmt: skip
MEMORY_TURNS = Topic("memory.turns", ConversationTurn, "session_id", "out", "conversational memory")
REVIEW_REQUESTS = Topic("review.requests", ReviewRequest, "answer_id", "out", "the review queue")
REVIEW_DECISIONS = Topic(
    "review.decisions", ReviewDecision, "answer_id", "in", "decisions of people and of deadlines", joined=True
)
REVIEW_EVENTS = Topic("review.events", ReviewEvent, "answer_id", "in", "assignment, skip, escalation, undo")
FEEDBACK_EVENTS = Topic("feedback.events", FeedbackEvent, "answer_id", "in", "explicit, behaviour, execution")
FEEDBACK_REWARDS = Topic("feedback.rewards", Reward, "answer_id", "out", "routers and memory", KEEP_FOREVER, "compact")
FEEDBACK_ANALYTICS = Topic(
    "feedback.analytics", AnalyticsRow, "answer_id", "out", "rows for ClickHouse: our sink or its Kafka engine"
)
FEEDBACK_INSIGHTS = Topic(
    "feedback.insights",
    FeedbackMessage,
    "pattern, or answer_id",
    "out",
    "patterns, and what reviewers say, for those who improve prompts",
)
ROUTING_POSTERIORS = Topic(
    "routing.posteriors", ModelPosterior, "tenant/model/query type", "out", "routers", KEEP_FOREVER, "compact"
)
ALERTS_RAISED = Topic("alerts.raised", Alert, "answer_id", "out", "whoever is to be told")
PRIVACY_ERASURES = Topic(
    "privacy.erasures", Erasure, "digest, or digest:part", "in", "persons to be forgotten", KEEP_FOREVER, "compact"
)
DEAD_LETTERS = Topic(
    "dead-letters", DeadLetter, "as the original", "out", "original bytes and headers, the reason in dlq_* headers"
)

TOPICS: tuple[Topic, ...] = (
    ANSWERS_GENERATED,
    ANSWERS_CITATIONS,
    ANSWERS_GROUNDING,
    ANSWERS_QUALITY,
    ANSWERS_ENRICHED,
    ANSWERS_RELEASED,
    MEMORY_TURNS,
    REVIEW_REQUESTS,
    REVIEW_DECISIONS,
    REVIEW_EVENTS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_INSIGHTS,
    ROUTING_POSTERIORS,
    ALERTS_RAISED,
    PRIVACY_ERASURES,
    DEAD_LETTERS,
)

REPORT_TOPICS: dict[str, Topic] = {
    "citations": ANSWERS_CITATIONS,
    "grounding": ANSWERS_GROUNDING,
    "quality": ANSWERS_QUALITY,
}
"""The report topic of each judging agent."""


def topic_named(name: str) -> Topic:
    """The topic of that name, without prefix.

    Raises:
        KeyError: naming the topics there are.
    """
    for topic in TOPICS:
        if topic.name == name:
            return topic
    raise KeyError(f"no topic {name!r}; there are {', '.join(topic.name for topic in TOPICS)}")


def foreign_topic(name: str) -> Topic:
    """A topic that a gateway writes in a format of its own, by its name at the broker."""
    return Topic(name, Event, "as the gateway has it", "in", "records of a gateway", foreign=True)
