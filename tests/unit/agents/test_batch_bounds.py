"""Bounds in bytes: what one agent reads at once and what it holds, whatever the records' size."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationFindings, CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.reports import Report
from workers.agents.evaluation import evaluation_handler
from workers.agents.release import RELEASE
from workers.delivery.failures.attempts import AttemptJournal
from workers.delivery.failures.breaker import DeadLetterBreaker
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.handler_calls import Handler
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.join.pending_answers import AnswerJoin
from workers.delivery.limits import BatchLimits
from workers.delivery.processing import BatchProcessor
from workers.delivery.records import CountedOutputs, Output, Record, Result, WorkItem
from workers.observability import metrics
from workers.pipeline.evaluator import Evaluator
from workers.pipeline.models import ServiceModels
from workers.runtime.agent_choice import AGENTS, EXPORTERS
from workers.settings import BreakerSettings, DeliverySettings, Settings

NOW = datetime(2026, 11, 2, tzinfo=UTC)


class Producer:
    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        await asyncio.sleep(0)


class Acknowledgements:
    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.epoch = 0

    def is_current(self, epoch: int) -> bool:
        return epoch == self.epoch

    def acknowledge(self, topic: str, partition: int, offset: int, epoch: int) -> bool:
        self.offsets.append(offset)
        return True


def work(offset: int, size: int, attached: int = 0) -> WorkItem:
    return WorkItem(Record("answers.generated", 0, offset, None, b"x" * size), attached_bytes=attached)


class Probe:
    """A processor whose handler notes its batches and waits until it is let go on."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        self.batches: list[list[int]] = []
        self.go_on = asyncio.Event()
        self.acknowledgements = Acknowledgements()
        handler: Handler = self._handle
        self.processor = BatchProcessor(
            "probe", handler, self.acknowledgements, Producer(), DeadLetterSender(Producer(), "test"),  # type: ignore[arg-type]
            DeliverySettings(), limits, AttemptJournal(path, "test"), DeadLetterBreaker("probe", BreakerSettings()),
            ErasureRegister(),
        )  # fmt: skip
        self.processor.start()

    async def _handle(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        self.batches.append([item.size for item in works])
        await self.go_on.wait()
        return [[] for _ in works]

    async def settle(self) -> None:
        self.go_on.set()
        assert await self.processor.drain(60)


@pytest.fixture
async def probes(tmp_path: Path) -> AsyncIterator[Any]:
    made: list[Probe] = []

    def make(**limits: Any) -> Probe:
        made.append(Probe(tmp_path, BatchLimits(**{"records": 32, "wait_seconds": 0.02} | limits)))
        return made[-1]

    yield make
    for probe in made:
        await probe.processor.stop()


async def test_a_batch_ends_before_it_exceeds_its_bytes_and_nothing_is_lost_or_reordered(probes: Any) -> None:
    probe = probes(batch_bytes=1_000, concurrent=1)
    sizes = [400, 400, 400, 1_000, 1, 5_000, 5_000, 10, 990, 1]
    for offset, size in enumerate(sizes):
        await probe.processor.submit(work(offset, size))
    await probe.settle()
    assert [size for batch in probe.batches for size in batch] == sizes
    assert all(sum(batch) <= 1_000 or len(batch) == 1 for batch in probe.batches)
    assert [5_000] in probe.batches
    assert probe.acknowledgements.offsets == list(range(len(sizes)))


async def test_small_records_still_fill_a_batch(probes: Any) -> None:
    probe = probes(batch_bytes=1_000, records=8, concurrent=1)
    for offset in range(32):
        await probe.processor.submit(work(offset, 10))
    await probe.settle()
    assert [len(batch) for batch in probe.batches] == [8, 8, 8, 8]


async def test_attachments_count(probes: Any) -> None:
    probe = probes(batch_bytes=1_000, concurrent=1)
    for offset in range(3):
        await probe.processor.submit(work(offset, 100, attached=500))
    await probe.settle()
    assert probe.batches == [[600], [600], [600]]


async def test_the_consumer_waits_while_too_many_bytes_are_in_flight(probes: Any) -> None:
    probe = probes(in_flight_bytes=1_000)
    await probe.processor.submit(work(0, 600))
    waiting = asyncio.create_task(probe.processor.submit(work(1, 600)))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    assert probe.processor.in_flight_bytes == 600
    await probe.settle()
    await asyncio.wait_for(waiting, 60)
    assert await probe.processor.drain(60)
    assert probe.acknowledgements.offsets == [0, 1]
    assert probe.processor.in_flight_bytes == 0


async def test_one_record_is_admitted_however_large(probes: Any) -> None:
    probe = probes(in_flight_bytes=1_000, batch_bytes=10)
    await asyncio.wait_for(probe.processor.submit(work(0, 50_000)), 60)
    await probe.settle()
    assert probe.acknowledgements.offsets == [0]


async def test_bytes_of_records_of_a_past_assignment_are_given_back(probes: Any) -> None:
    probe = probes(in_flight_bytes=1_000)
    await probe.processor.submit(work(0, 900))
    probe.acknowledgements.epoch += 1
    await probe.settle()
    assert probe.processor.in_flight_bytes == 0
    assert probe.acknowledgements.offsets == []


def test_every_agent_is_bounded_in_bytes() -> None:
    settings = Settings(_env_file=None)
    for agent in (AGENTS | EXPORTERS).values():
        limits = agent.limits(settings)
        assert limits.batch_bytes <= 4_000_000
        assert limits.in_flight_bytes == settings.delivery.in_flight_bytes


@pytest.mark.parametrize("agent", ["citations", "grounding", "quality"])
async def test_an_evaluating_agent_takes_long_answers_one_by_one(tmp_path: Path, agent: str) -> None:
    probe = Probe(tmp_path, AGENTS[agent].limits(Settings(_env_file=None)))
    probe.go_on.set()
    try:
        for offset, size in enumerate((60_000, 50_000, *[1_000] * 12)):
            await probe.processor.submit(work(offset, size))
        assert await probe.processor.drain(60)
    finally:
        await probe.processor.stop()
    assert probe.batches == [[60_000], [50_000, *[1_000] * 7], [1_000] * 5]


# ---- the join


def answer_record(offset: int, size: int) -> Record:
    return Record("answers.generated", 0, offset, None, b"x" * size)


def add(join: AnswerJoin, agent: str, offset: int, size: int) -> None:
    report = Report(
        judgement_id=f"{agent}-{offset}", answer_id=f"a{offset}", agent=agent, pipeline_version="1",
        answer_partition=0, answer_offset=offset, judged_at=NOW,
    )  # fmt: skip
    record = Record(f"answers.{agent}", 0, offset, None, b"x" * size)
    join.add_report(agent, report, record, now=0.0, committed=None, position=None)


def test_the_join_counts_bytes_of_answers_and_of_early_reports() -> None:
    join = AnswerJoin(("citations", "grounding"), 60.0)
    answer = GeneratedAnswer(answer_id="a0", answer="text", completed_at=NOW)
    add(join, "citations", 0, 100)
    add(join, "citations", 1, 50)
    assert (join.early_bytes("citations", 0), join.waiting_bytes(0)) == (150, 0)
    join.add_answer(answer_record(0, 1_000), answer, 0.0)
    assert (join.early_bytes("citations", 0), join.waiting_bytes(0)) == (50, 1_100)
    add(join, "grounding", 0, 10)
    assert (join.early_bytes("citations"), join.waiting_bytes()) == (50, 0)
    join.committed(0, 2)
    assert join.early_bytes("citations") == 0


def test_a_repeated_report_is_counted_once() -> None:
    join = AnswerJoin(("citations", "grounding"), 60.0)
    add(join, "citations", 0, 100)
    add(join, "citations", 0, 100)
    assert join.early_bytes("citations") == 100
    assert join.early_reports("citations") == 1


# ---- reading happens off the loop


def context(settings: Settings) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return SimpleNamespace(settings=settings, pipeline_version="1", now=lambda: NOW, steps_pool=ThreadPoolExecutor(2))


async def test_an_evaluation_agent_reads_and_writes_in_a_thread() -> None:
    threads: set[int] = set()

    class Noted(CitationReport):
        def to_bytes(self, *, all_fields: bool = True) -> bytes:
            threads.add(threading.get_ident())
            return super().to_bytes(all_fields=all_fields)

    def prepare(answer: GeneratedAnswer, earlier: Any) -> GeneratedAnswer:
        threads.add(threading.get_ident())
        return answer

    def evaluate(prepared: GeneratedAnswer, _: Any) -> CitationFindings:
        threads.add(threading.get_ident())
        return CitationFindings()

    evaluator = Evaluator("citations", CitationFindings, Noted, prepare, evaluate)
    handle = evaluation_handler(evaluator, context(Settings(_env_file=None)), ServiceModels(None, None))
    good = GeneratedAnswer.model_validate(example(GeneratedAnswer)).to_bytes()
    values = [good, b"{", good]
    works = [WorkItem(Record("answers.generated", 0, n, None, value)) for n, value in enumerate(values)]
    unread = metrics.RECORDS_SKIPPED.labels("citations", "not_json")
    before = unread._value.get()
    results = await handle(works)
    assert [len(result) for result in results if not isinstance(result, Exception)] == [1, 0, 1]
    assert unread._value.get() == before
    assert isinstance(results[1], CountedOutputs)
    results[1].raise_metrics()
    assert unread._value.get() == before + 1
    assert threads and threading.get_ident() not in threads


async def test_reports_do_not_wait_for_the_evaluations_of_later_batches() -> None:
    held = threading.Event()
    given = context(Settings(_env_file=None))

    def evaluate(prepared: GeneratedAnswer, _: Any) -> CitationFindings:
        for _ in range(2):  # both threads of the pool are busy from now on
            given.steps_pool.submit(held.wait)
        return CitationFindings()

    evaluator = Evaluator("citations", CitationFindings, CitationReport, lambda answer, _: answer, evaluate)
    handle = evaluation_handler(evaluator, given, ServiceModels(None, None))
    value = GeneratedAnswer.model_validate(example(GeneratedAnswer)).to_bytes()
    try:
        async with asyncio.timeout(60):
            results = await handle([WorkItem(Record("answers.generated", 0, 0, None, value))])
    finally:
        held.set()
    assert not isinstance(results[0], Exception)
    assert len(results[0]) == 1


async def test_release_reads_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    original = EnrichedAnswer.from_bytes.__func__  # type: ignore[attr-defined]

    def noted(cls: Any, value: bytes | None) -> Any:
        threads.add(threading.get_ident())
        return original(cls, value)

    monkeypatch.setattr(EnrichedAnswer, "from_bytes", classmethod(noted))
    value = EnrichedAnswer.model_validate(example(EnrichedAnswer)).to_bytes()
    handle = await RELEASE.open(context(Settings(_env_file=None)), AsyncExitStack())
    results = await handle(
        [
            WorkItem(Record("answers.enriched", 0, 0, None, value)),
            WorkItem(Record("answers.enriched", 0, 1, None, b"{")),
        ]
    )
    assert not isinstance(results[0], Exception)
    assert isinstance(results[1], Exception)
    assert threads and threading.get_ident() not in threads
