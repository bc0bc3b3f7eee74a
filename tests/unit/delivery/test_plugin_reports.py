"""Assembly and the reports of evaluator plug-ins, which share one topic."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.evaluations import EvaluationReport
from schemas.export import example
from schemas.reports import Report
from schemas.topics import ANSWERS_EVALUATIONS, ANSWERS_GENERATED, JOINED_REPORTS, REPORT_TOPICS, Topic
from workers.delivery.consumption.ledger import Partition
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.join import assembler as assembler_module
from workers.delivery.join.assembler import Assembler, ExpectedEvaluators
from workers.delivery.records import Record, WorkItem
from workers.settings import DeliverySettings

EVALUATORS = ExpectedEvaluators(optional=("tone", "length"), wait_seconds=20.0)


class Surroundings:
    """Application, ledger and processor of an assembly with one partition of each topic."""

    topics = (ANSWERS_GENERATED, *JOINED_REPORTS)
    in_flight = in_flight_bytes = 0
    on_epoch: Callable[[], None]

    def __init__(self) -> None:
        self.works: list[WorkItem] = []
        self.acknowledged: list[tuple[str, int]] = []
        self.paused: list[str] = []
        self.consumer = self.ledger = self
        self.read = 0
        self.done = 0
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

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

    def resume(self, partitions: list[Partition]) -> None:
        self.paused = [topic for topic in self.paused if topic not in {each.topic for each in partitions}]

    def assigned(self) -> set[Partition]:
        return {Partition(topic.name, 0) for topic in self.topics}

    def listen(self, *, on_epoch: Callable[[], None], on_commit: Any) -> None:
        self.on_epoch = on_epoch

    def submit_now(self, work: WorkItem) -> None:
        self.works.append(work)


@pytest.fixture
async def around() -> Surroundings:
    return Surroundings()


def assembler(around: Any, limit: int = 10, clock: Callable[[], float] = lambda: 0.0) -> Assembler:
    delivery = DeliverySettings(join_limit=limit)
    return Assembler(
        around, around, delivery, lambda record: GeneratedAnswer.from_bytes(record.value), ErasureRegister(), EVALUATORS,
        clock=clock,
    )  # fmt: skip


async def send_answer(assembly: Assembler, around: Surroundings, offset: int) -> None:
    answer = GeneratedAnswer(answer_id=f"a{offset}", answer="text", completed_at=datetime(2026, 11, 2, tzinfo=UTC))
    around.read = max(around.read, offset + 1)
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


async def test_reports_that_overtake_answers_in_the_queue_of_delivery_are_joined(around: Surroundings) -> None:
    """With masking an answer takes longer to receive than its reports, and the ledger knows it before the join does."""
    assembly = assembler(around)
    around.read = 2
    for agent in (*REPORT_TOPICS, "tone", "length"):
        await send_report(assembly, agent, 1)
    await send_answer(assembly, around, 0)
    await send_answer(assembly, around, 1)
    assert [agents(work) for work in around.works] == [{*REPORT_TOPICS, "tone", "length"}]


@pytest.mark.parametrize("value", [b"no answer", None])
async def test_a_report_on_an_answer_that_was_received_unreadable_waits_for_no_join(
    around: Surroundings, value: bytes | None
) -> None:
    assembly = assembler(around, limit=1)
    around.read = 1
    await assembly.receive(Record(ANSWERS_GENERATED.name, 0, 0, None, value))
    await send_report(assembly, "quality", 0)
    assert "answers.quality" not in around.paused, "no early report is counted"


async def test_a_new_assignment_reads_answers_again(around: Surroundings) -> None:
    assembly = assembler(around)
    assembly.start()
    await send_answer(assembly, around, 0)
    around.on_epoch()
    for agent in (*REPORT_TOPICS, "tone", "length"):
        await send_report(assembly, agent, 0)
    await send_answer(assembly, around, 0)
    await assembly.stop()
    assert [agents(work) for work in around.works] == [{*REPORT_TOPICS, "tone", "length"}]


async def test_a_process_that_stood_still_gives_up_no_answer_whose_report_waits_for_it(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembler_module, "TICK_SECONDS", 0.0)
    now = [0.0]
    assembly = assembler(around, clock=lambda: now[0])
    assembly.start()
    for offset in range(2):
        await send_answer(assembly, around, offset)
        for agent in ("citations", "grounding", "tone", "length"):
            await send_report(assembly, agent, offset)
    for seconds in (0.2, 3_600.0, 0.2):
        now[0] += seconds
        for _ in range(10):
            await asyncio.sleep(0)
    assert around.works == []
    await send_report(assembly, "quality", 0)
    assert [agents(work) for work in around.works] == [{*REPORT_TOPICS, "tone", "length"}]
    for _ in range(70):
        now[0] += 1.0
        for _ in range(10):
            await asyncio.sleep(0)
    await assembly.stop()
    assert [agents(work) for work in around.works[1:]] == [{"citations", "grounding", "tone", "length"}], (
        "an agent that is silent while the process runs is not waited for without end"
    )
