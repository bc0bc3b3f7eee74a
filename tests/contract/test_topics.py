"""The registry of topics, the agents and the contracts fit together."""

import pytest

from schemas.export import example
from schemas.reports import Report
from schemas.topics import ANSWERS_GENERATED, JOINED_REPORTS, REPORT_TOPICS, TOPICS, Topic, topic_named
from workers.decision.enrichment import JUDGES
from workers.delivery.topics.topic_findings import topic_configuration
from workers.runtime.agent_choice import AGENTS, EXPORTERS
from workers.settings import KafkaSettings

DESIGN = {
    "answers.generated", "answers.chunks", "answers.sentences", "answers.citations", "answers.grounding", "answers.quality", "answers.evaluations",
    "answers.enriched", "answers.released", "memory.turns", "review.requests", "review.decisions", "review.events", "feedback.events",
    "feedback.rewards", "feedback.analytics", "feedback.insights", "routing.posteriors", "alerts.raised",
    "privacy.erasures", "dead-letters",
}  # fmt: skip
"""The topics of the design; a name that changes here breaks whoever consumes it."""


def test_the_topics_are_those_of_the_design() -> None:
    assert {topic.name for topic in TOPICS} == DESIGN
    assert len(TOPICS) == len(DESIGN)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_says_what_it_carries_and_for_whom(topic: Topic) -> None:
    assert topic_named(topic.name) is topic
    assert topic.key
    assert topic.purpose
    assert topic.model.__doc__
    configuration = topic_configuration(topic, KafkaSettings())
    assert configuration["cleanup.policy"] == topic.cleanup
    assert int(configuration["retention.ms"]) == -1 or int(configuration["retention.ms"]) >= 7 * 86_400_000


def test_what_holds_a_state_is_compacted_and_kept() -> None:
    compacted = {topic.name for topic in TOPICS if topic.cleanup == "compact"}
    assert compacted == {"answers.released", "feedback.rewards", "routing.posteriors", "privacy.erasures"}
    assert all(topic.retention is None for topic in TOPICS if topic.cleanup == "compact")


def test_every_judge_has_its_report_topic() -> None:
    assert tuple(REPORT_TOPICS) == JUDGES
    for agent, topic in REPORT_TOPICS.items():
        assert issubclass(topic.model, Report)
        assert topic.name == f"answers.{agent}"
        assert topic.model.model_validate(example(topic.model)).agent == agent  # type: ignore[attr-defined]


def test_joined_topics_are_those_of_assembly_and_of_final_states() -> None:
    joined = {topic.name for topic in TOPICS if topic.joined}
    reports = {ANSWERS_GENERATED.name, *(topic.name for topic in JOINED_REPORTS)}
    assert {topic.name for topic in AGENTS["assembly"].reads} == reports
    # A decision finds what is final already on the partition of its own number.
    assert joined == reports | {"review.decisions", "answers.released"}


@pytest.mark.parametrize("agent", AGENTS | EXPORTERS)
def test_an_agent_reads_topics_of_the_registry(agent: str) -> None:
    definition = (AGENTS | EXPORTERS)[agent]
    assert definition.name == agent
    assert definition.reads
    assert all(any(topic is registered for registered in TOPICS) for topic in definition.reads)


def test_what_is_written_between_agents_is_read_by_one() -> None:
    read = {topic.name for agent in AGENTS.values() for topic in agent.reads}
    assert {topic.name for topic in TOPICS if topic.direction == "internal"} <= read


def test_keys_are_the_answer_unless_the_registry_says_otherwise() -> None:
    other = {topic.name: topic.key for topic in TOPICS if topic.key != "answer_id"}
    assert set(other) == {
        "memory.turns", "feedback.insights", "routing.posteriors", "privacy.erasures", "dead-letters",
    }  # fmt: skip
    for topic in TOPICS:
        if topic.key in ("answer_id", "session_id", "digest") and topic.name != "feedback.analytics":
            assert topic.key in topic.model.model_fields


def test_an_unknown_topic_is_told_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"answers\.generated"):
        topic_named("answers.generate")
