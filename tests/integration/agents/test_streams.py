"""Answers in chunks on a topic: whatever order, repetition, gap or restart, one answer and one finding a sentence."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from schemas.answers import GeneratedAnswer
from schemas.dead_letters import read_dead_letter
from schemas.streams import AnswerChunk, CheckedSentences
from schemas.topics import ANSWERS_CHUNKS, ANSWERS_GENERATED, ANSWERS_SENTENCES, DEAD_LETTERS
from tests.harness.deployment import Deployment, until
from workers.runtime.worker import Worker
from workers.settings import CheckSettings, StreamSettings
from workers.settings.addresses import Addresses
from workers.stores.redis.chunk_store import ChunkStore
from workers.stores.redis.client import open_redis

FIELDS = {
    "query": "Tell me about the rotor.",
    "contexts": [{"chunk_id": "c-1", "content": "The rotor turns at 47 rpm. It weighs 12 kg. It is made of steel."}],
    "completed_at": "2026-11-02T08:00:00Z",
}
TEXTS = ["The rotor turns at 4", "70 rpm. It wei", "ghs 12 kg. It is", "", " made of steel."]
WHOLE = "".join(TEXTS)


def chunks(answer_id: str, last: bool = True) -> list[dict[str, Any]]:
    """Return the chunks of an answer; the first one has its other fields."""
    found: list[dict[str, Any]] = [
        {"answer_id": answer_id, "index": place, "text": text} for place, text in enumerate(TEXTS)
    ]
    found[0]["answer"] = FIELDS
    found[-1]["last"] = last
    return found


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def started(deployment: Deployment, idle_seconds: float = 60) -> Worker:
    settings = deployment.settings
    settings.streams = StreamSettings(enabled=True, idle_seconds=idle_seconds)
    settings.check = CheckSettings(stop_on="contradicted_figure")
    worker = Worker(settings, deployment.addresses, ["streams"])
    await worker.start()
    return worker


async def send(deployment: Deployment, *values: dict[str, Any] | bytes, key: str = "a") -> None:
    contents = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    await deployment.send([(key.encode(), content) for content in contents], ANSWERS_CHUNKS)


async def handled(deployment: Deployment, worker: Worker) -> None:
    """Wait until the agent has committed all that is on the topic; the ends that it knows may be older."""
    (agent,) = worker._running
    ledger = agent.application.consumer.ledger

    async def caught_up() -> bool:
        committed = sum(ledger.committed(partition) or 0 for partition in ledger.partitions())
        return committed == len(await deployment.read(ANSWERS_CHUNKS))

    await until(caught_up, "all chunks are handled", 60)


async def answers(deployment: Deployment, count: int) -> list[GeneratedAnswer]:
    async def there() -> bool:
        return len(await deployment.read(ANSWERS_GENERATED)) >= count

    await until(there, f"{count} answers", 60)
    return [GeneratedAnswer.from_bytes(each.value) for each in await deployment.read(ANSWERS_GENERATED)]


async def sentences(deployment: Deployment) -> list[CheckedSentences]:
    return [CheckedSentences.from_bytes(each.value) for each in await deployment.read(ANSWERS_SENTENCES)]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 0, 4, 2, 1, 3], [0, 1, 2, 3, 4, 4, 0, 2]])
async def test_chunks_in_any_order_make_one_answer(deployment: Deployment, order: list[int]) -> None:
    worker = await started(deployment)
    try:
        made = chunks("a")
        await send(deployment, *(made[place] for place in order))
        await handled(deployment, worker)
        (answer,) = await answers(deployment, 1)
        found = await sentences(deployment)
    finally:
        await worker.stop()
    assert (answer.answer, answer.answer_id, answer.finish_reason) == (WHOLE, "a", None)
    assert answer.model_dump(include=set(FIELDS), mode="json", exclude_unset=True)["query"] == FIELDS["query"]
    assert [(WHOLE[each.start : each.end].strip(), each.stop) for each in found] == [
        ("The rotor turns at 470 rpm.", "contradicted_figure"),
        ("It weighs 12 kg.", None),
    ]
    assert found[0].claims[0].verdict == "contradicted"


async def test_chunks_of_two_tenants_with_one_identifier_stay_apart(deployment: Deployment) -> None:
    worker = await started(deployment)
    try:
        await send(deployment, *({**each, "tenant": tenant} for each in chunks("a") for tenant in ("acme", "keys")))
        await handled(deployment, worker)
        found = await answers(deployment, 2)
        records = await deployment.read(ANSWERS_SENTENCES)
    finally:
        await worker.stop()
    assert {(each.tenant, each.answer) for each in found} == {("acme", WHOLE), ("keys", WHOLE)}
    own = {
        tenant: [each for each in records if CheckedSentences.from_bytes(each.value).tenant == tenant]
        for tenant in ("acme", "keys")
    }
    identifiers = [{dict(each.headers)["ce_id"] for each in mine} for mine in own.values()]
    keys = [{each.key for each in mine} for mine in own.values()]
    assert all(identifiers) and not identifiers[0] & identifiers[1]
    assert not keys[0] & keys[1]


async def test_a_restart_in_the_middle_loses_and_doubles_nothing(deployment: Deployment) -> None:
    made = chunks("a")
    killed = await deployment.start_worker(["streams"], environment={"TOUCHSTONE_STREAMS__ENABLED": "true"})
    await send(deployment, *made[:2])

    async def is_told() -> bool:
        return len(await sentences(deployment)) == 1

    await until(is_told, "the first finding", 60)
    await killed.kill()
    await send(deployment, made[1], made[2])
    worker = await started(deployment)
    try:
        await handled(deployment, worker)
        await send(deployment, *made[3:])
        await handled(deployment, worker)
        await send(deployment, made[0], made[4])
        await handled(deployment, worker)
    finally:
        await worker.stop()
    worker = await started(deployment)
    try:
        await send(deployment, *made)
        await handled(deployment, worker)
        (answer,) = await answers(deployment, 1)
        found = await deployment.read(ANSWERS_SENTENCES)
    finally:
        await worker.stop()
    assert answer.answer == WHOLE
    assert len({dict(each.headers)["ce_id"] for each in found}) == 2, "a repeated finding has the same identifier"
    assert len(found) <= 3, "only findings of the last batch are sent again"


async def test_a_stream_that_stops_is_an_answer_that_is_marked_as_cut(deployment: Deployment) -> None:
    worker = await started(deployment, idle_seconds=1)
    try:
        first = chunks("a")
        with capture_logs() as logs:
            await send(deployment, *first[:2], *first[3:])
            await send(deployment, {"answer_id": "b", "index": 1, "text": "x"}, key="b")
            found = {answer.answer_id: answer for answer in await answers(deployment, 2)}
            await send(deployment, first[2])
            await handled(deployment, worker)
        assert len(await answers(deployment, 2)) == 2, "a chunk after the end has no effect"
    finally:
        await worker.stop()
    cut = [line for line in logs if line["event"] == "stream_truncated"]
    assert {(line["tenant"], line["answer_id"]) for line in cut} == {("default", "a"), ("default", "b")}
    assert all(isinstance(line["partition"], int) for line in cut)
    assert (found["a"].answer, found["a"].finish_reason) == ("".join(TEXTS[:2]), "length")
    assert found["a"].metadata["cut"] == {"missing_chunk": 2, "received_chunks": 4}
    assert (found["b"].answer, found["b"].query) == ("", "")


async def test_a_kept_chunk_that_is_unreadable_ends_its_answer_alone(deployment: Deployment) -> None:
    redis = open_redis(deployment.addresses.redis, deployment.settings.redis)
    prefix = deployment.settings.redis.key_prefix
    store = ChunkStore(redis, prefix, 60)
    unreadable = AnswerChunk(answer_id="a", index=0, text="x")
    try:
        for partition in range(deployment.settings.kafka.partitions):
            await store.save([(unreadable, partition, 0)], [], 1.0, 1.0)
        await redis.hset(store._name((unreadable.tenant, "a")), "chunk:0", b"of a newer version")
        worker = await started(deployment, idle_seconds=1)
        try:
            await send(deployment, *chunks("b", last=False), key="b")
            (answer,) = await answers(deployment, 1)
            assert answer.answer_id == "b"
            for partition in range(deployment.settings.kafka.partitions):
                assert await store.due(partition, 2.0, 1) == [], "it is not tried again"
        finally:
            await worker.stop()
    finally:
        await redis.aclose()


async def test_a_stream_without_an_end_ends_at_the_longest_answer(deployment: Deployment) -> None:
    worker = await started(deployment)
    try:
        await send(deployment, *({"answer_id": "a", "index": place, "text": "x " * 9_000} for place in range(8)))
        await handled(deployment, worker)
        (answer,) = await answers(deployment, 1)
    finally:
        await worker.stop()
    assert (len(answer.answer), answer.finish_reason) == (60_000, "length")


async def test_what_is_no_chunk_is_a_dead_letter(deployment: Deployment) -> None:
    worker = await started(deployment)
    bad = [b"x", {"answer_id": "a", "index": -1}, {"answer_id": "a", "index": 0, "answer": {"contexts": "none"}}]
    try:
        await send(deployment, *bad, *chunks("a"))
        await handled(deployment, worker)
        (answer,) = await answers(deployment, 1)
        letters = await deployment.read(DEAD_LETTERS)
    finally:
        await worker.stop()
    assert answer.answer == WHOLE
    assert len(letters) == len(bad)


async def test_an_answer_that_stops_and_is_too_large_is_a_dead_letter(deployment: Deployment) -> None:
    worker = await started(deployment, idle_seconds=1)
    context = {"chunk_id": "c", "content": "x" * 99_000}
    largest = deployment.settings.kafka.max_input_bytes // 100_000
    try:
        # Each chunk fits into a record, and both together do not.
        await send(
            deployment,
            {"answer_id": "a", "index": 0, "answer": {**FIELDS, "contexts": [context] * largest}},
            {"answer_id": "a", "index": 1, "text": "y" * 59_000},
        )

        async def is_lettered() -> bool:
            return len(await deployment.read(DEAD_LETTERS)) == 1

        await until(is_lettered, "a dead letter", 60)
        (letter,) = await deployment.read(DEAD_LETTERS)
        assert await deployment.read(ANSWERS_GENERATED) == []
    finally:
        await worker.stop()
    reason = read_dead_letter(letter.key, letter.value, letter.headers)
    assert (reason.topic, reason.offset, reason.agent) == ("answers.chunks", 1, "streams")
    assert json.loads(letter.value)["index"] == 1


def test_a_chunk_has_the_fields_of_an_answer_beside_its_text() -> None:
    chunk = AnswerChunk.model_validate(chunks("a")[0])
    assert chunk.answer == FIELDS
