"""The callback in the real gateway: a mock completion becomes an answer, and nothing that goes wrong reaches a call."""

import asyncio
import json
import logging
import subprocess
import sys
import time
from typing import Any

import litellm
import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import (
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
    UnknownError,
)

from tests.harness.deployment import until
from tests.harness.paths import ROOT
from workers.gateways import callback as module
from workers.gateways.adapted import Received
from workers.gateways.callback import TouchstoneCallback
from workers.gateways.formats import format_named
from workers.gateways.reading.lenient_reading import time as read_time
from workers.settings import Settings
from workers.settings.addresses import Addresses

QUESTION = "How much memory has the ingester?"
SAID = "The ingester has 4 GiB [1]."
NOW = read_time("2026-11-03T00:00:00Z")


@pytest.fixture
async def topic(settings: Settings, addresses: Addresses) -> str:
    """A topic of the gateway's own."""
    name = f"{settings.kafka.topic_prefix}litellm"
    admin = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name=name, num_partitions=1, replication_factor=1)])
    finally:
        await admin.close()
    return name


async def records(addresses: Addresses, topic: str, count: int) -> list[Any]:
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=addresses.kafka, auto_offset_reset="earliest")
    await consumer.start()
    try:
        async with asyncio.timeout(60):
            return [await consumer.getone() for _ in range(count)]
    finally:
        await consumer.stop()


async def complete(**changes: Any) -> Any:
    return await litellm.acompletion(
        model="gpt-4o-mini",
        messages=[{"role": "user", "content": QUESTION}],
        **({"mock_response": SAID} | changes),
    )


@pytest.fixture
def callbacks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The gateway's callbacks, as they were afterwards."""
    fresh: list[Any] = []
    for name in (
        "callbacks",
        "success_callback",
        "failure_callback",
        "_async_success_callback",
        "_async_failure_callback",
    ):
        monkeypatch.setattr(litellm, name, fresh if name == "callbacks" else [])
    return fresh


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pydantic.warnings.PydanticDeprecationWarning", "ignore:.*:UserWarning"
)
async def test_what_the_gateway_logs_of_its_calls_becomes_answers(
    addresses: Addresses, topic: str, callbacks: list[Any]
) -> None:
    callback = TouchstoneCallback(addresses.kafka, topic)
    callbacks.append(callback)
    contexts = [{"id": "loki", "text": "The ingester has 4 GiB."}]
    response = await complete(
        metadata={"requester_metadata": {"contexts": contexts, "session_id": "s-1"}}, user="user-17"
    )
    with pytest.raises(litellm.RateLimitError):
        await complete(mock_response="litellm.RateLimitError")

    async def sent() -> bool:
        return callback.stats.sent >= 2

    await until(sent, "both calls are at the broker", 60)
    values = [record.value for record in await records(addresses, topic, 2)]
    answers = [found for value in values for found in format_named("litellm").answers(value, Received(NOW))]
    by_status = {found.answer.status: found for found in answers}
    good, bad = by_status["success"], by_status["error"]
    assert good.answer.answer_id == response.id
    assert (good.answer.query, good.answer.answer) == (QUESTION, SAID)
    assert good.answer.contexts is not None
    assert [(chunk.chunk_id, chunk.content) for chunk in good.answer.contexts] == [("loki", "The ingester has 4 GiB.")]
    assert (good.answer.session_id, good.answer.user_id) == ("s-1", "user-17")
    assert good.answer.model.id == "gpt-4o-mini"
    assert good.answer.requested_at is not None
    assert good.answer.requested_at <= good.answer.completed_at
    assert good.answer.usage is not None
    assert bad.answer.error
    (event,) = bad.feedback
    assert event.execution is not None
    assert event.execution.error_type == "RateLimitError"
    await asyncio.to_thread(callback.close)
    assert callback.stats.dropped == callback.stats.failed == 0


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pydantic.warnings.PydanticDeprecationWarning", "ignore:.*:UserWarning"
)
async def test_a_streamed_answer_is_whole_and_tells_its_first_token(
    addresses: Addresses, topic: str, callbacks: list[Any]
) -> None:
    callback = TouchstoneCallback(addresses.kafka, topic)
    callbacks.append(callback)
    async for _ in await complete(stream=True):
        pass
    (record,) = await records(addresses, topic, 1)
    (found,) = format_named("litellm").answers(record.value, Received(NOW))
    assert found.answer.answer == SAID
    (event,) = found.feedback
    assert event.execution is not None
    assert event.execution.first_token_seconds is not None
    await asyncio.to_thread(callback.close)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pydantic.warnings.PydanticDeprecationWarning", "ignore:.*:UserWarning"
)
async def test_a_text_that_the_gateway_does_not_log_is_withheld(
    addresses: Addresses, topic: str, callbacks: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litellm, "turn_off_message_logging", True)
    callback = TouchstoneCallback(addresses.kafka, topic)
    callbacks.append(callback)
    await complete()
    (record,) = await records(addresses, topic, 1)
    (found,) = format_named("litellm").answers(record.value, Received(NOW))
    assert set(found.answer.withheld) == {"answer", "query"}
    assert SAID.encode() not in record.value
    await asyncio.to_thread(callback.close)


def test_with_the_broker_down_calls_go_on_and_what_is_dropped_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere", queue_records=5)
    with caplog.at_level(logging.WARNING, "touchstone.callback"):
        for number in range(1_000):
            callback.log_success_event({"standard_logging_object": {"id": str(number)}}, None, None, None)
        callback.close(10)
    stats = callback.stats
    assert stats.offered == stats.dropped == 1_000, "what waited is dropped at the end, and counted"
    assert stats.sent == stats.failed == 0
    assert 1 <= len(caplog.records) <= 2, "told, and not for each call"


@pytest.mark.parametrize(
    "kwargs", [None, {}, {"standard_logging_object": None}, "x", {"standard_logging_object": object()}]
)
def test_nothing_that_a_gateway_hands_over_is_raised_back(kwargs: Any) -> None:
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere")
    callback.log_failure_event(kwargs, None, None, None)
    asyncio.run(callback.async_log_success_event(kwargs, None, None, None))
    callback.close(10)
    assert callback.stats.sent == 0


def test_what_waits_is_bounded_by_its_size_as_well() -> None:
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere", queue_bytes=10_000_000)
    waiting = callback._waiting
    assert waiting.offer({"id": "1", "total_tokens": 2_000_000}), "one always fits"
    assert not waiting.offer({"id": "2", "total_tokens": 1})
    assert waiting.take() == {"id": "1", "total_tokens": 2_000_000}
    assert [waiting.offer({"id": str(n), "total_tokens": 600_000}) for n in range(4)] == [True, True, False, False]
    callback.close()
    assert callback.stats.dropped == 2


@pytest.mark.parametrize(
    "messages",
    [
        "x" * 6_000_000,
        [{"role": "user", "content": "x" * 6_000_000}],
        [{"role": "user", "content": [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": "x" * 6_000_000}}]}],
        [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "x" * 6_000_000}}]}],
    ],
    ids=["text", "message", "image", "image of Anthropic"],
)  # fmt: skip
def test_what_was_asked_counts_for_what_waits_although_its_tokens_are_unknown(messages: Any) -> None:
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere", queue_bytes=10_000_000)
    failed = {"id": "1", "status": "failure", "total_tokens": 0, "messages": messages}
    assert [callback._waiting.offer(failed) for _ in range(2)] == [True, False]
    callback.close()


class PickyBroker:
    """A producer whose broker refuses some records by what they hold; others come back once."""

    def __init__(self, refusals: dict[bytes, Exception], once: dict[bytes, Exception]) -> None:
        self.refusals = refusals
        self.once = once
        self.taken: list[bytes] = []

    async def send(self, topic: str, value: bytes, key: bytes | None) -> asyncio.Future[None]:
        confirmed = asyncio.get_running_loop().create_future()
        identifier = key or b""
        error = self.refusals.get(identifier) or self.once.pop(identifier, None)
        if error is None:
            self.taken.append(identifier)
            confirmed.set_result(None)
        else:
            confirmed.set_exception(error)
        return confirmed

    async def stop(self) -> None:
        """Nothing is held."""


def test_a_record_that_the_broker_refuses_for_good_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    broker = PickyBroker(
        {b"1": MessageSizeTooLargeError(), b"2": UnknownError()},
        {b"3": NotLeaderForPartitionError(), b"4": KafkaTimeoutError(), b"5": TopicAuthorizationFailedError()},
    )

    async def connected(_: TouchstoneCallback) -> PickyBroker:
        return broker

    monkeypatch.setattr(TouchstoneCallback, "_connected", connected)
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere")
    for number in range(6):
        callback.log_success_event({"standard_logging_object": {"id": str(number)}}, None, None, None)
    until_true(lambda: callback.stats.sent == 4)
    callback.close(10)
    assert sorted(broker.taken) == [b"0", b"3", b"4", b"5"], "each once: what was confirmed is not sent again"
    stats = callback.stats
    assert (stats.too_large, stats.refused, stats.dropped, stats.failed) == (1, 1, 0, 0)


def test_a_record_that_is_too_large_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 2_000)
    callback = TouchstoneCallback("127.0.0.1:1", "nowhere")
    callback.log_success_event({"standard_logging_object": {"id": "1", "messages": "x" * 3_000}}, None, None, None)
    until_true(lambda: callback.stats.too_large == 1)
    callback.close(10)
    assert callback.stats.dropped == 0


def until_true(condition: Any, seconds: float = 30.0) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


async def test_what_waited_for_the_broker_is_sent_when_it_is_there(
    addresses: Addresses, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    callback = TouchstoneCallback("127.0.0.1:1", topic)
    for number in range(3):
        callback.log_success_event({"standard_logging_object": {"id": str(number)}}, None, None, None)
    callback._servers = addresses.kafka  # as a name that resolves again
    found = await records(addresses, topic, 3)
    assert {json.loads(record.value)["id"] for record in found} == {"0", "1", "2"}
    assert [record.key for record in found] == [json.loads(record.value)["id"].encode() for record in found]
    await asyncio.to_thread(callback.close)
    assert callback.stats.sent == 3


def test_a_gateway_that_ends_is_not_held_up_by_a_broker_that_is_away() -> None:
    code = (
        "from workers.gateways.callback import TouchstoneCallback\n"
        "callback = TouchstoneCallback('127.0.0.1:1')\n"
        "callback.log_success_event({'standard_logging_object': {'id': '1'}}, None, None, None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-1_000:]
    assert "Traceback" not in done.stderr


def test_the_callback_needs_nothing_of_the_worker_in_the_gateway() -> None:
    """It is loaded as a file by itself: neither the worker's packages nor its libraries come with it."""
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('callback', {str(ROOT / 'workers/gateways/callback.py')!r})\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "heavy = {name.partition('.')[0] for name in sys.modules} & {'faust', 'torch', 'schemas', 'workers', 'lancedb'}\n"
        "assert not heavy, heavy\n"
        "assert module.touchstone.stats.offered == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-1_000:]
