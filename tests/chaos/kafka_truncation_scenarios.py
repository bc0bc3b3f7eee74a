"""Scenarios on Apache Kafka in which a log loses its end or what compaction takes away."""

import asyncio
from collections import Counter
from pathlib import Path
from shutil import rmtree

from schemas.identifiers import record_key
from schemas.release import ReleasedAnswer
from schemas.review import ReviewRequest, UserAction
from schemas.topics import ANSWERS_RELEASED, REVIEW_DECISIONS, REVIEW_REQUESTS
from tests.chaos.kafka_admin import replicas_in_sync
from tests.chaos.registry import scenario
from tests.chaos.run import Run
from tests.harness.deployment import until
from tests.harness.kafka_cluster import KafkaNode
from workers.delivery.followers.released_answers import FOLDER
from workers.review.decision_events import decided

COMPACTS_SOON = {
    "log.roll.ms": "500",
    "log.cleaner.backoff.ms": "200",
    "log.cleaner.min.cleanable.ratio": "0.01",
}
"""Properties of a broker that closes segments and compacts them at once."""


@scenario("replica_truncated", "each of three brokers in turn is killed and has lost the second half of its log")
async def replica_truncated(run: Run) -> None:
    cluster = await run.own_kafka(3)
    worker = await run.worker()

    async def whole() -> bool:
        return await replicas_in_sync(run) == 3

    async with run.traffic(max(10, run.answers // 50), 1.0):
        await run.until_assembled(worker, 1)
        for node in cluster.nodes:
            await node.kill()
            assert _truncate(node, "", 0.5)
            await node.start()
            await until(whole, "all replicas in sync", run.patience, interval=1.0)
            run.faults += 1
    await run.send(run.answers, "b")
    await run.until_settled()
    assert worker.running, "the worker recovers without a restart"


@scenario(
    "released_compacted", "answers.released is compacted while it is read, decided on, and read again from nothing"
)
async def released_compacted(run: Run) -> None:
    await run.own_kafka(properties=COMPACTS_SOON)
    worker = await run.worker()
    await run.send()
    await run.until_settled()
    await run.until_quiet()
    async with run.traffic(5, 0.5):
        requests = await _requests(run)
        await _decide(run, requests, "first", "approve")
        await until(lambda: _all_final(run, requests), "all decisions released", run.patience, interval=1.0)
        await until(lambda: _compacted(run, requests), "held states compacted", run.patience, interval=1.0)
        first = await _final_records(run, requests)
        await worker.terminate()
        # The next worker has no file of final states, and reads what compaction has left.
        await asyncio.to_thread(rmtree, run.deployment.directory / "state" / FOLDER)
        worker = await run.worker()
        await _decide(run, requests, "second", "reject")
    await run.until_settled()
    await run.until_quiet()
    assert await _final_records(run, requests) == first, "the first decision stays"
    run.faults = await _removed(run)


async def _requests(run: Run) -> list[ReviewRequest]:
    found = {}
    for record in await run.deployment.read(REVIEW_REQUESTS):
        request = ReviewRequest.from_bytes(record.value)
        if request.held:
            found[request.answer_id] = request
    assert found, "no answer is held"
    return list(found.values())


async def _decide(run: Run, requests: list[ReviewRequest], by: str, action: UserAction) -> None:
    decisions = [decided(each, by=by, profile={}, at=each.requested_at, action=action) for each in requests]
    await run.deployment.send(
        ((record_key(each.tenant, each.answer_id).encode(), each.to_bytes()) for each in decisions), REVIEW_DECISIONS
    )


async def _final_records(run: Run, requests: list[ReviewRequest]) -> dict[str, bytes]:
    """Return the last record of each answer that was decided on."""
    wanted = {request.answer_id for request in requests}
    found = {}
    for record in await run.deployment.read(ANSWERS_RELEASED):
        released = ReleasedAnswer.from_bytes(record.value)
        if released.answer_id in wanted:
            found[released.answer_id] = record.value if released.final else b""
    return found


async def _all_final(run: Run, requests: list[ReviewRequest]) -> bool:
    return all((await _final_records(run, requests)).values())


async def _compacted(run: Run, requests: list[ReviewRequest]) -> bool:
    """Return true if one record is left of each answer that was decided on."""
    wanted = {record_key(each.tenant, each.answer_id).encode() for each in requests}
    counts = Counter(record.key for record in await run.deployment.read(ANSWERS_RELEASED) if record.key in wanted)
    return set(counts.values()) == {1}


async def _removed(run: Run) -> int:
    """Return the number of records that compaction has removed below the last one of each partition."""
    records = await run.deployment.read(ANSWERS_RELEASED)
    ends: dict[int, int] = {}
    for record in records:
        ends[record.partition] = max(ends.get(record.partition, 0), record.offset + 1)
    return sum(ends.values()) - len(records)


def _truncate(node: KafkaNode, prefix: str, share: float) -> int:
    """Cut off the end of each log; return the number of files that have become shorter.

    The metadata log is left alone: Kafka writes it through to the disk.
    """
    files = [
        file
        for file in (node.node.directory / "data").glob(f"{prefix}*/*.log")
        if not file.parent.name.startswith("__cluster_metadata") and file.stat().st_size
    ]
    for file in files:
        _shorten(file, share)
    return len(files)


def _shorten(file: Path, share: float) -> None:
    with file.open("r+b") as opened:
        opened.truncate(int(file.stat().st_size * share))
