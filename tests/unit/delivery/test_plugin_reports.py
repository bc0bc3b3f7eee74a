"""Assembly and the reports of evaluator plug-ins, which share one topic."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.reports import Report
from schemas.topics import ANSWERS_EVALUATIONS, ANSWERS_GENERATED, JOINED_REPORTS, REPORT_TOPICS, Topic
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.join.assembler import Assembler, ExpectedEvaluators
from workers.delivery.ledger import Partition
from workers.delivery.records import Record, WorkItem
from workers.settings import DeliverySettings

EVALUATORS = ExpectedEvaluators(optional=("tone", "length"), wait_seconds=20.0)


class Surroundings:
    """Application, ledger and processor of an assembly with one partition of each topic."""

    topics = (ANSWERS_GENERATED, *JOINED_REPORTS)
    in_flight = in_flight_bytes = 0

    def __init__(self) -> None:
        self.works: list[WorkItem] = []
        self.acknowledged: list[tuple[str, int]] = []
        self.paused: list[str] = []
        self.consumer = self.ledger = self
        self.read = 0
        self.done = 0

    def is_current(self, epoch: int) -> bool:
        return True

    def partition(self, topic: Topic, number: int) -> Partition:
        return Partition(topic.name, number)

    def position(self, partition: Partition) -> int:
        return self.read

    def committed(self, partition: Partition) -> int:
        return self.done

    def committable(self, partition: Partition) -> int:
        return self.done

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> None:
        self.acknowledged.append((topic, offset))

    def pause(self, partitions: list[Partition]) -> None:
        self.paused += [partition.topic for partition in partitions]

    def submit_now(self, work: WorkItem) -> None:
        self.works.append(work)


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


def assembler(around: Any, limit: int = 10) -> Assembler:
    delivery = DeliverySettings(join_limit=limit)
    return Assembler(
        around, around, delivery, lambda record: GeneratedAnswer.from_bytes(record.value), ErasureRegister(), EVALUATORS,
        clock=lambda: 0.0,
    )  # fmt: skip


async def send_answer(assembly: Assembler, around: Surroundings, offset: int) -> None:
    answer = GeneratedAnswer(answer_id=f"a{offset}", answer="text", completed_at=datetime(2026, 11, 2, tzinfo=UTC))
    around.read = offset + 1
    await assembly.receive(Record(ANSWERS_GENERATED.name, 0, offset, None, answer.to_bytes()))


async def send_report(assembly: Assembler, agent: str, answer: int, offset: int = 0) -> None:
    topic = REPORT_TOPICS.get(agent, ANSWERS_EVALUATIONS)
    content = example(topic.model) | {
        "agent": agent,
        "tenant": "default",
        "answer_id": f"a{answer}",
        "answer_offset": answer,
        "answer_partition": 0,
    }
    await assembly.receive(Record(topic.name, 0, offset, None, topic.model.model_validate(content).to_bytes()))


def agents(work: WorkItem) -> set[str]:
    return {part.agent for part in work.attachments if isinstance(part, Report)}


async def test_an_answer_is_joined_with_the_reports_of_all_enabled_plugins(around: Surroundings) -> None:
    assembly = assembler(around)
    await send_answer(assembly, around, 0)
    for agent in (*REPORT_TOPICS, "tone"):
        await send_report(assembly, agent, 0)
    assert around.works == []
    await send_report(assembly, "length", 0, 1)
    assert [agents(work) for work in around.works] == [{*REPORT_TOPICS, "tone", "length"}]


async def test_a_report_of_an_evaluator_that_is_not_enabled_completes_nothing_and_is_stored(
    around: Surroundings,
) -> None:
    assembly = assembler(around)
    await send_answer(assembly, around, 0)
    for agent in (*REPORT_TOPICS, "tone", "retired", "quality-2"):
        await send_report(assembly, agent, 0)
    assert [(work.record.topic, work.attachments) for work in around.works] == [(ANSWERS_EVALUATIONS.name, ())] * 2
    assert around.acknowledged == [], "the processor acknowledges what it has stored"


async def test_a_report_after_its_answer_is_committed_is_stored(around: Surroundings) -> None:
    assembly = assembler(around)
    around.read = around.done = 5
    await send_report(assembly, "tone", 4, 9)
    await send_report(assembly, "quality", 4, 3)
    (work,) = around.works
    assert EvaluationReport.from_bytes(work.record.value).agent == "tone"
    assert around.acknowledged == [("answers.quality", 3)], "a built-in report is an orphan then"


async def test_a_plugin_that_runs_ahead_pauses_the_topic_of_plugins_alone(around: Surroundings) -> None:
    assembly = assembler(around, limit=3)
    for offset in range(3):
        await send_report(assembly, "tone", offset, offset)
    assert around.paused == [ANSWERS_EVALUATIONS.name]
