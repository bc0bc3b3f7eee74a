"""Thousands of bad inputs on a running console and worker: no internal error, no crash, nothing unevaluated goes out."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from aiokafka import AIOKafkaProducer

from schemas.answers import GeneratedAnswer
from schemas.dead_letters import read_dead_letter
from schemas.enriched import EnrichedAnswer
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, DEAD_LETTERS, FEEDBACK_EVENTS
from tests.harness.attacks import Attacks, BadRequest
from tests.harness.console import EVERYTHING, ConsoleThread, secret
from tests.harness.tenants import AGENTS, TwoTenants, answer, until
from workers.inference.backends import SentenceTransformerBackend
from workers.settings.addresses import Addresses

ADDITIONS = 5_000_000
"""Additions of the yardstick, which take 0.2 to 0.7 s of CPU."""
MOST_CPU = 120
"""CPU that the evaluation of one hostile answer of 8,000 code points with four contexts may take, the model included, and
one request, since /v1/check evaluates an answer: in multiples of the yardstick before and after it, since machines
differ. The most expensive of the first five takes about 90.
"""
SHORTER, MOST_CPU_OF_SHORTER = 2_500, 70
"""Code points of the answers of every run, with contexts as long, and the same bound for them: the worst takes about 52."""
DEADLINE = (504, "/v1/check")
"""The only status of the server that may come: a check of a very long answer has a documented deadline."""
MEMORY_BYTES = 1_500_000_000
"""Memory by which all attacks together may raise the peak of the process: console, worker and clients in one."""
PATIENCE = 900.0
LONG_SECONDS = 3_600
"""Time for a long form: 3,000 requests take some ten minutes on two idle cores."""


@pytest.fixture(scope="module")
def attacked(
    addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, backend: SentenceTransformerBackend
) -> Iterator[ConsoleThread]:
    """A console and a worker of their own: what is sent here is in nobody's way."""
    console = ConsoleThread(addresses, tmp_path_factory.mktemp("attacked"), backend)
    console.start()
    try:
        with console.worker(AGENTS):
            yield console
    finally:
        console.stop()


def peak_growth(action: Callable[[], None]) -> int:
    """Bytes by which the peak of this process exceeds what it held before."""

    def resident(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))

    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    action()
    return resident("VmHWM") - before


def attack_over_http(console: ConsoleThread, seed: int, count: int) -> None:
    statuses: Counter[int] = Counter()
    slowest, refused_by_client = 0.0, 0
    headers = {"Authorization": f"Bearer {secret(EVERYTHING)}"}

    def attack() -> None:
        nonlocal slowest, refused_by_client
        with httpx.Client(base_url=console.url, headers=headers, timeout=120) as client:
            for each in Attacks(seed).requests(count):
                began = time.process_time()
                try:
                    status = ask(client, each)
                except (httpx.InvalidURL, httpx.LocalProtocolError):
                    refused_by_client += 1
                    continue
                statuses[status] += 1
                spent = time.process_time() - began
                assert status < 500 or (status, each.path.partition("?")[0]) == DEADLINE, (
                    status,
                    each.method,
                    each.path,
                    each.headers,
                    (each.content or b"")[:300],
                )
                # Most requests take less than the yardstick does, which is asked only after expensive ones.
                assert spent < 1 or spent / yardstick() < MOST_CPU, (spent, each.method, each.path)
                slowest = max(slowest, spent)
            assert client.get("/healthz").status_code == 200

    growth = peak_growth(attack)
    print(
        f"statuses {dict(statuses)}, slowest {slowest:.2f} s of CPU, peak {growth / 1e6:.0f} MB, {refused_by_client} unsent"
    )
    assert growth < MEMORY_BYTES
    assert refused_by_client < count / 10
    assert statuses[429] == 0, "a limit would have hidden what is behind it"
    assert len(statuses) >= 8, "the requests get no further than the first check"


def ask(client: httpx.Client, each: BadRequest) -> int:
    request = client.build_request(each.method, each.path, content=each.content, headers=list(each.headers.items()))
    return client.send(request).status_code


def attack_over_topics(console: ConsoleThread, addresses: Addresses, seed: int, count: int) -> None:
    two = TwoTenants(console, addresses)
    answers, events = 0, 0
    # Answers of the attack over HTTP may still be evaluated.
    until(lambda: settled(two) >= len(two.records(ANSWERS_GENERATED)), "what was sent before is settled", PATIENCE)
    known = {record.offset for record in two.records(ANSWERS_ENRICHED)}
    settled_before = settled(two)

    async def send() -> tuple[int, int]:
        producer = AIOKafkaProducer(
            bootstrap_servers=addresses.kafka, enable_idempotence=False, max_request_size=2_000_000
        )
        await producer.start()
        sent: Counter[str] = Counter()
        try:
            for number, (key, value, headers) in enumerate(Attacks(seed).records(count)):
                topic = FEEDBACK_EVENTS if number % 5 == 4 else ANSWERS_GENERATED
                name = console.settings.topic_name(topic.name)
                await producer.send(name, value, key=key, headers=headers)
                sent[topic.name] += 1
            await producer.flush()
        finally:
            await producer.stop()
        return sent[ANSWERS_GENERATED.name], sent[FEEDBACK_EVENTS.name]

    def attack() -> None:
        nonlocal answers, events
        answers, events = asyncio.run(send())
        until(lambda: settled(two) - settled_before >= answers, "every record is enriched or a dead letter", PATIENCE)

    growth = peak_growth(attack)
    assert settled(two) - settled_before == answers
    found = [EnrichedAnswer.model_validate(value) for _, value in two.events(ANSWERS_ENRICHED)]
    print(f"{answers} answers, {events} events, {len(found) - len(known)} enriched, peak {growth / 1e6:.0f} MB")
    for enriched in found:
        evaluated = enriched.grounding is not None and enriched.grounding.status != "failed"
        assert evaluated or enriched.decision.state != "released", enriched.answer_id
    assert growth < MEMORY_BYTES
    assert console.client().get("/readyz").status_code == 200
    # The worker goes on: an ordinary answer comes through.
    two.clients["acme"].post("/api/answers", json={"answers": [ordinary(seed)]}).raise_for_status()
    until(
        lambda: two.clients["acme"].get(f"/api/answers/ordinary-{seed}").status_code == 200,
        "an ordinary answer",
        PATIENCE,
    )


def settled(two: TwoTenants) -> int:
    """Answers that were enriched or dead-lettered."""
    letters = [read_dead_letter(each.key, each.value, each.headers) for each in two.records(DEAD_LETTERS)]
    of_answers = {(each.partition, each.offset) for each in letters if each.topic == ANSWERS_GENERATED.name}
    enriched = {(value["answer_partition"], value["answer_offset"]) for _, value in two.events(ANSWERS_ENRICHED)}
    return len(of_answers | enriched)


def ordinary(seed: int) -> dict[str, object]:
    return {
        "answer_id": f"ordinary-{seed}", "tenant": "acme", "query": "How long?", "answer": "24 months [1].",
        "contexts": [{"chunk_id": "c", "content": "The warranty is 24 months."}], "completed_at": "2026-11-02T08:00:00Z",
    }  # fmt: skip


def yardstick() -> float:
    """Return the CPU of a loop on this machine at this moment, seconds."""
    began = time.process_time()
    total = 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - began


def attack_evaluation(
    console: ConsoleThread, seed: int, count: int, length: int = 8_000, most_cpu: float = MOST_CPU
) -> None:
    worst = 0.0
    for each in Attacks(seed).hostile_answers(count, length):
        hostile = GeneratedAnswer.model_validate(each)
        before, began = yardstick(), time.process_time()
        console.judge(hostile)
        spent = time.process_time() - began
        spent /= (before + yardstick()) / 2
        assert spent < most_cpu, (spent, hostile.answer[:100])
        worst = max(worst, spent)
    print(f"worst CPU of {count} hostile answers: {worst:.0f} times the yardstick")


def test_300_bad_requests_meet_no_internal_error(attacked: ConsoleThread) -> None:
    attack_over_http(attacked, 1, 300)


def test_100_bad_records_are_settled_and_nothing_unevaluated_is_released(
    attacked: ConsoleThread, addresses: Addresses
) -> None:
    attack_over_topics(attacked, addresses, 2, 100)


def test_3_hostile_answers_stay_within_their_budget(attacked: ConsoleThread) -> None:
    """The first has plain contexts, the second results of tools, and the third a long conversation."""
    attack_evaluation(attacked, 3, 3, SHORTER, MOST_CPU_OF_SHORTER)


def test_ordinary_answers_behind_slow_ones_are_evaluated_before_their_deadline(
    attacked: ConsoleThread, addresses: Addresses
) -> None:
    """Three such answers took a minute of CPU each once, so that others were released without their reports."""
    two = TwoTenants(attacked, addresses)
    names = {f"behind-{number}" for number in range(8)}
    slow = [answer("acme", f"slow-{number}", answer="1+1=" * 8_000) for number in range(3)]
    two.send(*slow, *(answer("acme", name) for name in sorted(names)))

    def found() -> list[EnrichedAnswer]:
        events = [EnrichedAnswer.model_validate(value) for _, value in two.events(ANSWERS_ENRICHED)]
        enriched = [event for event in events if event.answer_id in names]
        return enriched if len(enriched) >= len(names) else []

    for enriched in until(found, "the answers behind the slow ones", PATIENCE):
        assert enriched.missing == []
        reports = (enriched.citations, enriched.grounding, enriched.quality)
        assert {report.status for report in reports if report is not None} == {"ok"}
        assert None not in reports


@pytest.mark.long
@pytest.mark.timeout(LONG_SECONDS)
def test_3000_bad_requests_meet_no_internal_error(attacked: ConsoleThread) -> None:
    attack_over_http(attacked, 4, 3_000)


@pytest.mark.long
@pytest.mark.timeout(LONG_SECONDS)
def test_1000_bad_records_are_settled_and_nothing_unevaluated_is_released(
    attacked: ConsoleThread, addresses: Addresses
) -> None:
    attack_over_topics(attacked, addresses, 5, 1_250)


@pytest.mark.long
@pytest.mark.timeout(LONG_SECONDS)
def test_100_hostile_answers_stay_within_their_budget(attacked: ConsoleThread) -> None:
    attack_evaluation(attacked, 6, 100)
