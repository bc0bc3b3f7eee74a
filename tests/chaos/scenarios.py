"""The scenarios: each does its worst and returns when everything should be settled."""

import asyncio
import json
import os
import random
import signal

from schemas.topics import ANSWERS_CITATIONS, ANSWERS_ENRICHED, DEAD_LETTERS, REPORT_TOPICS
from tests.chaos.faults.sitecustomize import MARKER
from tests.chaos.proxy import Mode
from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.answers import answer
from tests.harness.deployment import EVALUATION, runs, until

JUDGES = ["citations", "grounding", "quality"]
REST = ["assembly", "release", "memory", "analytics"]


async def _with_poison(run: Run, values: list[bytes]) -> None:
    """Poison before, between and after answers."""
    await run.worker()
    third = len(values) // 3
    await run.send_poison(values[:third])
    await run.send(run.answers // 2)
    await run.send_poison(values[third : 2 * third])
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    await run.send_poison(values[2 * third :])
    await run.until_settled()


@scenario("poison_bytes", "records that are no JSON, no object, empty or lack fields")
async def poison_bytes(run: Run) -> None:
    kinds = [b"\x00\x01\x02", b"[]", b"{}", b"null", b'{"answer_id": "x"}', b"{", b'{"answer": 1}', b'"text"']
    await _with_poison(run, kinds * 3)


@scenario("poison_burst", "1,000 poison records in one burst")
async def poison_burst(run: Run) -> None:
    await _with_poison(run, [b"\xff poison %d" % number for number in range(1_000)])


@scenario("invalid_utf8", "JSON with bytes that are no UTF-8")
async def invalid_utf8(run: Run) -> None:
    values = [
        answer(number, "u").replace(b"pump", b"pu\xc3\x28mp").replace(b"host", b"\xff\xfe") for number in range(30)
    ]
    await _with_poison(run, [value for value in values if b"\xc3\x28" in value or b"\xff" in value])


@scenario("oversize", "records above the input limit, up to the broker's")
async def oversize(run: Run) -> None:
    sizes = [340_000, 500_000, 900_000, 990_000]
    values = [json.dumps({"answer_id": f"big-{size}", "answer": "x" * size}).encode() for size in sizes]
    await _with_poison(run, values)


@scenario("unknown_version", "records of a major version of the future")
async def unknown_version(run: Run) -> None:
    value = json.loads(answer(1))
    values = [json.dumps(value | {"answer_id": f"v-{n}", "schema_version": f"{n}.0"}).encode() for n in range(2, 14)]
    await _with_poison(run, values)


@scenario("duplicates", "every answer is sent three times")
async def duplicates(run: Run) -> None:
    await run.worker()
    for _ in range(3):
        await run.send()
        run.faults += run.answers
    await run.until_settled()


@scenario("out_of_order", "all reports are there before assembly sees one answer; then reports come twice")
async def out_of_order(run: Run) -> None:
    judges = await run.worker(JUDGES)
    await run.send()

    async def all_judged() -> bool:
        return len(await run.deployment.read(ANSWERS_CITATIONS)) >= run.answers

    await until(all_judged, "reports written", run.patience, interval=1.0)
    for topic in REPORT_TOPICS.values():
        reports = await run.deployment.read(topic)
        run.faults += len(reports)
    await judges.terminate()
    await run.worker()
    await run.until_settled()


@scenario("sigkill", "the worker is killed again and again at random moments of its work")
async def sigkill(run: Run) -> None:
    chance = random.Random(20261121)
    worker = await run.worker()
    await run.send()
    for _ in range(2 if run.answers < 1_000 else 6):
        await run.until_assembled(worker, max(1, run.answers // 10))
        await asyncio.sleep(chance.uniform(0, 0.3))
        run.observe()
        await worker.kill()
        run.faults += 1
        worker = await run.worker()
    await run.until_settled()


@scenario("evaluation_killed", "the process that evaluates is killed, then the worker to which it belongs")
async def evaluation_killed(run: Run) -> None:
    apart = {"TOUCHSTONE_EVALUATORS__PROCESSES": "1"}
    share, half = max(1, run.answers // 10), run.answers // 2
    worker = await run.worker(environment=apart)
    await run.send(half)
    await run.until_assembled(worker, share)
    run.observe()
    (evaluation,) = worker.evaluation_pids()
    os.kill(evaluation, signal.SIGKILL)
    run.faults += 1
    assert await worker.end() == 1, worker.tail()
    # The first worker may have assembled all that it got.
    await run.send(run.answers - half, start=half)
    worker = await run.worker(environment=apart)
    await run.until_assembled(worker, share)
    run.observe()
    (evaluation,) = worker.evaluation_pids()
    await worker.kill()
    run.faults += 1

    async def ended() -> bool:
        return not runs(evaluation, EVALUATION)

    await until(ended, "the evaluation process ended with its worker", run.patience)
    await run.worker(environment=apart)
    await run.until_settled()


@scenario("rebalance", "a second worker joins in mid-batch and is killed, a third joins and leaves by SIGTERM")
async def rebalance(run: Run) -> None:
    first = await run.worker()
    async with run.traffic(max(3, run.answers // 50), 1.0):
        await run.until_assembled(first, 1)
        second = await run.worker()
        run.faults += 1
        await run.until_assembled(second, 1)
        run.observe()
        await second.kill()
        run.faults += 1
        third = await run.worker()
        run.faults += 1
        await run.until_assembled(third, 1)
        assert await third.terminate() == 0, third.tail()
        run.faults += 1
    await run.until_settled()


@scenario("sigterm", "SIGTERM in mid-batch, then a restart")
async def sigterm(run: Run) -> None:
    worker = await run.worker()
    await run.send()
    for _ in range(2):
        await run.until_assembled(worker, max(1, run.answers // 10))
        run.observe()
        assert await worker.terminate() == 0, worker.tail()
        run.faults += 1
        worker = await run.worker()
    await run.until_settled()


@scenario("one_agent_down", "no quality agent until the deadline has passed; then it comes late")
async def one_agent_down(run: Run) -> None:
    run.expected_degraded = run.answers
    others = ["citations", "grounding", *REST]
    hasty = await run.worker(others, {"TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "15"})
    await run.send()
    run.faults = 1
    await run.until_settled()
    await run.worker(["quality"])
    # With its deadline, a slow machine would pass that of later answers, too.
    run.observe()
    assert await hasty.terminate() == 0, hasty.tail()
    await run.worker(others)
    await run.send(prefix="b")
    await run.until_settled()


@scenario("clickhouse_cut", "ClickHouse is out of reach while answers arrive")
async def clickhouse_cut(run: Run) -> None:
    proxy = await run.proxy_clickhouse()
    worker = await run.worker()
    proxy.cut()
    await run.send()
    await _until_enriched(run)
    assert worker.running, "a store that is away must not end the worker"
    proxy.mode = Mode.FORWARD
    await run.until_settled()
    run.faults = proxy.faults


@scenario("clickhouse_slow", "every reply of ClickHouse takes half a second longer")
async def clickhouse_slow(run: Run) -> None:
    proxy = await run.proxy_clickhouse()
    await run.worker()
    proxy.mode = Mode.SLOW
    await run.send()
    await run.until_settled()
    run.faults = proxy.faults


@scenario("clickhouse_reply_lost", "ClickHouse applies inserts whose replies are lost")
async def clickhouse_reply_lost(run: Run) -> None:
    proxy = await run.proxy_clickhouse()
    await run.worker()
    proxy.mode = Mode.DROP_REPLY
    sending = asyncio.create_task(run.send())

    async def some_lost() -> bool:
        return proxy.faults >= 5

    await until(some_lost, "replies lost", run.patience)
    proxy.mode = Mode.FORWARD
    await sending
    await run.until_settled()
    run.faults = proxy.faults


async def _model_fault(run: Run, fault: str, environment: dict[str, str]) -> None:
    """Half of the answers meet the fault and end degraded; the other half must not."""
    run.expected_degraded = half = run.answers // 2
    switch = run.deployment.directory / fault
    await run.worker(environment=run.faulty(fault, switch) | environment)
    switch.touch()
    await run.send(half)
    await run.until_settled()
    switch.unlink()
    run.faults = 1
    await run.send(run.answers - half, start=half)
    await run.until_settled()


@scenario("model_hang", "the model hangs, then comes back")
async def model_hang(run: Run) -> None:
    await _model_fault(run, "model_hang", {"TOUCHSTONE_INFERENCE__TIMEOUT_SECONDS": "2"})


@scenario("model_error", "the model raises, then works")
async def model_error(run: Run) -> None:
    await _model_fault(run, "model_error", {})


@scenario("killer_record", "one record kills every process that embeds it")
async def killer_record(run: Run) -> None:
    run.expected_degraded = 1
    killer = json.loads(answer(1)) | {"answer_id": "killer", "answer": f"The {MARKER} is 3 m deep [1]."}
    environment = run.faulty("kill") | {"TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "30"}
    half = run.answers // 2
    await run.send(half)
    await run.deployment.send([(b"killer", json.dumps(killer).encode())])
    run.sent.add("killer")
    await run.send(run.answers - half, start=half)

    async def everything() -> bool:
        return await run.settled() >= len(run.sent)

    for _ in range(8):
        worker = await run.deployment.start_worker(environment=environment, ready=False)
        settled = asyncio.create_task(until(everything, "everything settled", run.patience, interval=0.5))
        died = asyncio.create_task(worker.process.wait())
        done, _ = await asyncio.wait([settled, died], return_when=asyncio.FIRST_COMPLETED)
        run.observe()
        if settled in done:
            died.cancel()
            run.recovered_seconds = settled.result()
            return
        settled.cancel()
        run.faults += 1
    raise AssertionError("the record went on killing")


@scenario("dead_letters_refused", "the broker refuses dead letters: the worker must stop and acknowledge nothing")
async def dead_letters_refused(run: Run) -> None:
    proxy = await run.broker_behind_proxy()
    worker = await run.worker()
    proxy.refuse_topic = run.deployment.settings.topic_name(DEAD_LETTERS.name)
    await run.send(run.answers // 2)
    await run.send_poison([b"nobody can read this"] * 3)
    await run.send(run.answers - run.answers // 2, start=run.answers // 2)
    code = await asyncio.wait_for(worker.process.wait(), run.patience)
    assert code == 1, f"the worker ended with {code}"
    run.faults = proxy.faults
    assert await run.deployment.read(DEAD_LETTERS) == []
    proxy.refuse_topic = None
    await run.worker()
    await run.until_settled()


@scenario("broker_cut", "every connection to the broker breaks and none comes about for ten seconds")
async def broker_cut(run: Run) -> None:
    proxy = await run.broker_behind_proxy()
    worker = await run.worker()
    await run.send()
    await run.until_assembled(worker, max(1, run.answers // 10))
    proxy.cut()
    await asyncio.sleep(10)
    proxy.mend()
    run.faults = proxy.faults

    async def everything() -> bool:
        nonlocal worker
        if not worker.running:
            # A supervisor would start it again; that it may have to is part of the promise.
            worker = await run.worker()
        return await run.settled() >= len(run.sent)

    run.recovered_seconds = await until(everything, "everything settled", run.patience, interval=0.5)


@scenario("valkey_away", "Valkey is not there at the start, comes back and goes away again")
async def valkey_away(run: Run) -> None:
    proxy = await run.proxy_valkey()
    proxy.cut()
    await run.worker()
    third = run.answers // 3
    await run.send(third)
    await run.until_settled()
    proxy.mode = Mode.FORWARD
    await run.send(third, start=third)
    await run.until_settled()
    proxy.cut()
    await run.send(run.answers - 2 * third, start=2 * third)
    await run.until_settled()
    run.faults = 2


async def _until_enriched(run: Run) -> None:
    """Until assembly is through, seen on its topic, since the store cannot be asked."""

    async def enriched() -> bool:
        found = {record.key for record in await run.deployment.read(ANSWERS_ENRICHED)}
        return len(found) >= run.answers

    await until(enriched, "answers enriched while the store is away", run.patience, interval=1.0)
