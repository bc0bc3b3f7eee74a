"""Alerts of waiting, loss and load, raised on real processes as in test_alerts.py, and resolved."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete

from schemas.topics import FEEDBACK_EVENTS, REVIEW_REQUESTS
from tests.chaos.kafka_admin import admin
from tests.chaos.run import Run
from tests.chaos.test_alerts import PAUSE, send_feedback, watched
from tests.harness.answers import answer, records
from tests.harness.deployment import Deployment, until
from tests.harness.receivers import WebhookReceiver, serving
from tests.harness.reviews import review_request, store_decision, store_requests
from workers.local.ports import free_port
from workers.runtime.agent_choice import AGENTS
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore

pytestmark = pytest.mark.timeout(3_000)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@asynccontextmanager
async def repeated(act: Callable[[int], Awaitable[object]]) -> AsyncIterator[None]:
    """Do something again and again, with its number, as long as the block lasts."""

    async def repeat() -> None:
        number = 0
        while True:
            await act(number)
            number += 1
            await asyncio.sleep(PAUSE)

    repeating = asyncio.create_task(repeat())
    try:
        yield
    finally:
        repeating.cancel()
        await asyncio.wait([repeating])
        if not repeating.cancelled():
            repeating.result()  # it ended by an error


@pytest.mark.long
async def test_an_unreachable_receiver_and_an_overdue_review_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    request = review_request(
        1, requested_at=(now - timedelta(days=2)).isoformat(), deadline_at=(now - timedelta(days=1)).isoformat()
    )
    store = AnalyticsStore(run.client, run.deployment.name)
    async with serving(WebhookReceiver(away=503, secret=SECRET), "/reviews") as receiver:
        environment = {
            "TOUCHSTONE_REVIEW_WEBHOOK__URL": f"{receiver.url}/reviews",
            "TOUCHSTONE_REVIEW_WEBHOOK__SECRET": SECRET,
        }
        # Without analytics no row says that the policy has decided.
        agents = [*(name for name in AGENTS if name != "analytics"), "review-webhook"]
        worker = await run.worker(agents, environment)
        async with watched(tmp_path, worker.metrics_port) as shipped:
            await store_requests(store, [request])
            await run.deployment.send([(request.answer_id.encode(), request.to_bytes())], REVIEW_REQUESTS)
            for alert in ("TouchstoneReviewOverdue", "TouchstoneReceiverAway"):
                await shipped.alerts.until_state(alert, "firing")
            receiver.away = None
            await store_decision(store, request, at=now)
            for alert in ("TouchstoneReviewOverdue", "TouchstoneReceiverAway"):
                await shipped.alerts.until_state(alert, "resolved")


@pytest.mark.long
async def test_answers_that_waited_and_a_process_that_grows_raise_their_alerts(run: Run, tmp_path: Path) -> None:
    switch = tmp_path / "grows"
    switch.touch()
    worker = await run.worker(environment=run.faulty("memory", switch))

    async def send_old(number: int) -> None:
        await run.deployment.send(records(4, "old", 4 * number), age_seconds=300.0)

    async with watched(tmp_path, worker.metrics_port) as shipped:
        async with repeated(send_old):
            for alert in ("TouchstoneSlow", "TouchstoneMemoryHigh"):
                await shipped.alerts.until_state(alert, "firing")
        switch.unlink()
        async with run.traffic(4, PAUSE):
            for alert in ("TouchstoneSlow", "TouchstoneMemoryHigh"):
                await shipped.alerts.until_state(alert, "resolved")


@pytest.mark.long
async def test_checks_that_a_hung_model_delays_raise_their_alert(run: Run, tmp_path: Path) -> None:
    switch, port = tmp_path / "hangs", free_port()
    tokens = [{"name": "gateway", "token": "gateway-0123456789", "scopes": ["ingest"]}]
    console = {"TOUCHSTONE_CONSOLE__TOKENS": json.dumps(tokens), "TOUCHSTONE_CONSOLE__PORT": str(port)}
    environment = run.faulty("model_hang", switch) | console
    process = await run.deployment.start_worker(command="console", environment=environment)
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer gateway-0123456789"}) as session:

        async def check(number: int) -> int:
            url, body = f"http://127.0.0.1:{port}/v1/check", json.loads(answer(number))
            async with session.post(url, params={"deadline_ms": 900}, json=body) as response:
                return response.status

        async def serves() -> bool:
            try:
                return await check(0) == 200
            except aiohttp.ClientConnectionError:
                return False

        await until(serves, "a check is answered")
        switch.touch()
        async with watched(tmp_path, process.metrics_port) as shipped, repeated(check):
            await shipped.alerts.until_state("TouchstoneChecksLate", "firing")
            switch.unlink()
            await shipped.alerts.until_state("TouchstoneChecksLate", "resolved")


@pytest.mark.long
async def test_records_that_retention_deletes_raise_their_alert(kafka_addresses: Addresses, tmp_path: Path) -> None:
    deployment = Deployment(kafka_addresses, tmp_path)
    await deployment.prepare()
    lossy = Run(deployment, 10, await deployment.client())
    try:
        worker = await lossy.worker(["feedback"])
        topic = deployment.settings.topic_name(FEEDBACK_EVENTS.name)
        everything = {TopicPartition(topic, number): RecordsToDelete(-1) for number in range(deployment.partitions)}
        async with watched(tmp_path, worker.metrics_port) as shipped:
            worker.pause()
            await send_feedback(lossy, 0, 100)
            async with admin(lossy) as client:
                await client.delete_records(everything)
            worker.resume()
            await shipped.alerts.until_state("TouchstoneRecordsLost", "firing")
            await shipped.alerts.until_state("TouchstoneRecordsLost", "resolved")
    finally:
        await lossy.close()
