"""Define every topic with its model, key, partitions, retention and cleanup policy.

Creation, checks, the AsyncAPI document and the topic table of the documentation use this registry.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from schemas.answers import GeneratedAnswer
from schemas.base import Event
from schemas.citations import CitationReport
from schemas.dead_letters import DeadLetter
from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.feedback import AnalyticsRow, FeedbackEvent, FeedbackMessage, ModelPosterior, Reward
from schemas.grounding import GroundingReport
from schemas.memory import ConversationTurn
from schemas.privacy import Erasure
from schemas.quality import QualityReport
from schemas.release import Alert, ReleasedAnswer
from schemas.review import ReviewDecision, ReviewEvent, ReviewRequest
from schemas.streams import AnswerChunk, CheckedSentences

DEFAULT_PARTITIONS = 4
"""Default number of partitions of every topic; joined topics must have the same number."""

KEEP = timedelta(days=30)
KEEP_SHORT = timedelta(days=7)
KEEP_FOREVER = None

Cleanup = Literal["delete", "compact"]
Direction = Literal["in", "internal", "out"]


@dataclass(frozen=True, slots=True)
class Topic:
    """Describe one topic.

    Attributes:
        name: name without the configurable prefix.
        model: the model of its values.
        key: description of the key.
        direction: in from others, internal between agents, out to others.
        purpose: readers and use.
        retention: retention of records; ``None`` keeps them for ever.
        cleanup: delete by age, or compact by key.
        joined: True if it must have as many partitions as answers.generated.
        foreign: True for topics of other systems: they have no prefix and are created only in local mode.
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
ANSWERS_CHUNKS = Topic(
    "answers.chunks", AnswerChunk, "answer_id", "in", "answers that still arrive, in pieces", KEEP_SHORT
)
ANSWERS_SENTENCES = Topic(
    "answers.sentences", CheckedSentences, "answer_id", "out",
    "findings on the sentences of answers that still arrive", KEEP_SHORT,
)  # fmt: skip
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
ANSWERS_EVALUATIONS = Topic(
    "answers.evaluations", EvaluationReport, "answer_id", "internal",
    "reports of evaluator plug-ins, on the answer's partition number", KEEP_SHORT, joined=True,
)  # fmt: skip
ANSWERS_ENRICHED = Topic("answers.enriched", EnrichedAnswer, "answer_id", "out", "dashboards and exporters")
ANSWERS_RELEASED = Topic(
    "answers.released", ReleasedAnswer, "answer_id", "out",
    "the gateway; readers use what is final, of two final releases and else the highest revision", KEEP_FOREVER, "compact", joined=True,
)  # fmt: skip
MEMORY_TURNS = Topic("memory.turns", ConversationTurn, "session_id", "out", "conversational memory")
REVIEW_REQUESTS = Topic("review.requests", ReviewRequest, "answer_id", "out", "the review queue")
REVIEW_DECISIONS = Topic(
    "review.decisions", ReviewDecision, "answer_id", "in", "decisions of people and of deadlines", joined=True
)
REVIEW_EVENTS = Topic(
    "review.events", ReviewEvent, "answer_id", "in", "assignment, skip, escalation, undo, asked opinions"
)
FEEDBACK_EVENTS = Topic("feedback.events", FeedbackEvent, "answer_id", "in", "explicit, behaviour, execution")
FEEDBACK_REWARDS = Topic("feedback.rewards", Reward, "answer_id", "out", "routers and memory", KEEP_FOREVER, "compact")
FEEDBACK_ANALYTICS = Topic(
    "feedback.analytics", AnalyticsRow, "answer_id", "out", "rows for ClickHouse, those of one answer together"
)
FEEDBACK_INSIGHTS = Topic(
    "feedback.insights",
    FeedbackMessage,
    "pattern, or answer_id",
    "out",
    "patterns and reviewers' statements, for prompt engineers",
)
ROUTING_POSTERIORS = Topic(
    "routing.posteriors", ModelPosterior, "tenant/model/query type", "out", "routers", KEEP_FOREVER, "compact"
)
ALERTS_RAISED = Topic("alerts.raised", Alert, "answer_id", "out", "alert receivers")
PRIVACY_ERASURES = Topic(
    "privacy.erasures", Erasure, "digest, or digest:part", "in", "erased persons", KEEP_FOREVER, "compact"
)
DEAD_LETTERS = Topic(
    "dead-letters", DeadLetter, "as the original", "out", "original bytes and headers, the reason in dlq_* headers"
)

TOPICS: tuple[Topic, ...] = (
    ANSWERS_GENERATED,
    ANSWERS_CHUNKS,
    ANSWERS_SENTENCES,
    ANSWERS_CITATIONS,
    ANSWERS_GROUNDING,
    ANSWERS_QUALITY,
    ANSWERS_EVALUATIONS,
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
"""The report topic of each built-in evaluator."""

JOINED_REPORTS: tuple[Topic, ...] = (*REPORT_TOPICS.values(), ANSWERS_EVALUATIONS)
"""Topics whose reports are joined with their answer, and stand on its partition number."""

SHADOWED: tuple[Topic, ...] = (*JOINED_REPORTS, ANSWERS_ENRICHED)
"""Topics that a replay writes its own kind of."""

SHADOW = ".shadow."
"""Part of the name of a replay's topic, between the name of the live topic and that of the replay."""


def shadow(topic: Topic, run: str) -> Topic:
    """Return the topic of a replay for a live topic."""
    return replace(topic, name=f"{topic.name}{SHADOW}{run}", joined=False)


def topic_named(name: str) -> Topic:
    """Return the topic of that name, without prefix.

    Raises:
        KeyError: the name is unknown; the message lists the topics.
    """
    for topic in TOPICS:
        if topic.name == name:
            return topic
    raise KeyError(f"unknown topic {name!r}; choose one of {', '.join(topic.name for topic in TOPICS)}")


def foreign_topic(name: str) -> Topic:
    """Return a topic in a gateway's own format by its name at the broker."""
    return Topic(name, Event, "defined by the gateway", "in", "records of a gateway", foreign=True)
