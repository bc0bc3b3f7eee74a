"""Exporters as real workers between a real broker and receivers that come and go: nothing lost, nothing committed early."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.answers import TraceReference
from schemas.dead_letters import read_dead_letter
from schemas.enriched import EnrichedAnswer
from schemas.export import example
from schemas.feedback import FeedbackEvent
from schemas.release import Alert
from schemas.review import ReviewRequest
from schemas.topics import ALERTS_RAISED, ANSWERS_ENRICHED, DEAD_LETTERS, FEEDBACK_EVENTS, REVIEW_REQUESTS
from tests.harness.deployment import Deployment, until
from tests.harness.distributions import write_distribution
from tests.harness.paths import ROOT
from tests.harness.receivers import Langfuse, OtlpCollector, WebhookReceiver, serving
from workers.exporters import langfuse_scores as langfuse
from workers.replay.throttle import GroupLag
from workers.runtime.agent_choice import EXPORTERS
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ANSWERS = 40
TRACES = {f"a-{number}": f"{number + 1:032x}" for number in range(ANSWERS)}
SPAN = "00f067aa0ba902b7"


def enriched(name: str) -> EnrichedAnswer:
    made = EnrichedAnswer.model_validate(example(EnrichedAnswer) | {"answer_id": name})
    made.answer.answer_id = name
    made.answer.trace = TraceReference(traceparent=f"00-{TRACES[name]}-{SPAN}-01")
    return made


def vote(name: str) -> tuple[bytes, bytes]:
    said = example(FeedbackEvent) | {"answer_id": name, "feedback_id": f"f-{name}", "explicit": {"vote": "down"}}
    return name.encode(), FeedbackEvent.model_validate(said).to_bytes()


class Receivers:
    """All that is exported to."""

    def __init__(self) -> None:
        self.otel = OtlpCollector()
        self.langfuse = Langfuse()
        self.alerts = WebhookReceiver(secret=SECRET)
        self.reviews = WebhookReceiver()

    def environment(self) -> dict[str, str]:
        return {
            "TOUCHSTONE_OTEL__ENDPOINT": f"{self.otel.url}/v1/logs",
            "TOUCHSTONE_LANGFUSE__URL": self.langfuse.url,
            "TOUCHSTONE_LANGFUSE__PUBLIC_KEY": self.langfuse.keys[0],
            "TOUCHSTONE_LANGFUSE__SECRET_KEY": self.langfuse.keys[1],
            "TOUCHSTONE_ALERT_WEBHOOK__URL": f"{self.alerts.url}/hook",
            "TOUCHSTONE_ALERT_WEBHOOK__SECRET": SECRET,
            "TOUCHSTONE_REVIEW_WEBHOOK__URL": f"{self.reviews.url}/hook",
            "TOUCHSTONE_REVIEW_WEBHOOK__FORMAT": "slack",
        }


@pytest.fixture
async def receivers() -> AsyncIterator[Receivers]:
    made = Receivers()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving(made.otel, "/v1/logs"))
        await stack.enter_async_context(serving(made.langfuse, langfuse.PATH))
        await stack.enter_async_context(serving(made.alerts, "/hook"))
        await stack.enter_async_context(serving(made.reviews, "/hook"))
        yield made


@pytest.fixture
async def deployment(
    addresses: Addresses, tmp_path: Path, receivers: Receivers, int8_folder: Path
) -> AsyncIterator[Deployment]:
    made = Deployment(addresses, tmp_path, environment=receivers.environment(), int8=int8_folder)
    await made.prepare()
    yield made
    await made.close()


async def uncommitted(deployment: Deployment, agent: str, topic: Any) -> int:
    group = deployment.settings.group_name(agent)
    lag = GroupLag(deployment.settings, deployment.addresses.kafka, topic, [group], new_ones_count=True)
    await lag.start()
    try:
        return await lag.records()
    finally:
        await lag.stop()


async def test_everything_is_told_once_confirmed_whoever_is_away_or_killed_meanwhile(
    deployment: Deployment, client: AsyncClient, receivers: Receivers
) -> None:
    answers = [enriched(name) for name in TRACES]
    store = AnalyticsStore(client, deployment.name)
    for row in (row for answer in answers for row in enriched_rows(answer) if row.table == "answers"):
        await store.insert(row.table, [row.columns])
    alert = Alert.model_validate(example(Alert) | {"raised_at": datetime.now(UTC).isoformat()})
    request = ReviewRequest.model_validate(example(ReviewRequest))
    await deployment.send([(a.answer_id.encode(), a.to_bytes()) for a in answers], ANSWERS_ENRICHED)
    await deployment.send([vote(name) for name in TRACES], FEEDBACK_EVENTS)
    await deployment.send([(b"k", alert.to_bytes())], ALERTS_RAISED)
    await deployment.send([(b"k", request.to_bytes())], REVIEW_REQUESTS)
    receivers.otel.away = 503
    receivers.langfuse.away = 401

    first = await deployment.start_worker(list(EXPORTERS))
    await until(lambda: _true(receivers.otel.requests > 1 and receivers.langfuse.requests > 1), "both were asked")
    await until(lambda: _true(bool(receivers.alerts.messages and receivers.reviews.messages)), "webhooks are told")
    assert "status 503" in (told := await first.readiness())
    assert "status 401" in told
    assert await uncommitted(deployment, "otel", ANSWERS_ENRICHED) == ANSWERS
    assert await uncommitted(deployment, "langfuse", FEEDBACK_EVENTS) == ANSWERS
    await first.kill()
    assert receivers.otel.events == receivers.langfuse.scores == []

    receivers.otel.away = receivers.langfuse.away = None
    second = await deployment.start_worker()
    await until(lambda: _true({e["gen_ai.response.id"] for e in receivers.otel.events} == set(TRACES)), "events")
    await until(lambda: _true(len(receivers.langfuse.scores) == 14 * ANSWERS), "scores")
    await deployment.all_caught_up(list(EXPORTERS.values()))
    assert await second.terminate() == 0

    for event in receivers.otel.events:
        assert (event["trace_id"], event["span_id"]) == (TRACES[event["gen_ai.response.id"]], SPAN)
    for name in TRACES:
        scores = receivers.langfuse.of(name)
        assert {score["traceId"] for score in scores.values()} == {TRACES[name]}
        assert scores["user_satisfaction"]["value"] == 0
        assert scores["faithfulness"]["observationId"] == SPAN
    # A kill between confirmation and commit tells again what was told, under the same identifier.
    assert set(receivers.alerts.identifiers) == {alert.alert_id}
    assert {message["data"]["alert_id"] for message in receivers.alerts.messages} == {alert.alert_id}
    assert request.answer_id in str(receivers.reviews.messages[0])
    assert request.answer not in str(receivers.reviews.messages)
    assert await deployment.read(DEAD_LETTERS) == []


async def _true(condition: bool) -> bool:
    await asyncio.sleep(0)
    return condition


OUTBOX = """
import os
import time
from pathlib import Path

from schemas.enriched import EnrichedAnswer
from workers.agents.export.event_exporter import event_exporter
from workers.errors import RefusedByReceiver

# In two parts, since a traceback in the log quotes the line of the source.
PRIVATE = "unmistakable" + " words"


def open_folder(settings):
    folder = Path(os.environ["OUTBOX"])

    def write(answer):
        kind, first = answer.answer_id.partition("-")[0], folder / f"first-{answer.answer_id}"
        came_before = first.exists()
        first.touch()
        if kind == "refused":
            raise RefusedByReceiver("the folder takes no such answer")
        if kind == "broken":
            raise KeyError(PRIVATE)
        if kind == "leaving":
            raise SystemExit(3)
        if kind == "away" and not came_before:
            raise ConnectionError(PRIVATE)
        if kind == "slow" and not came_before:
            time.sleep(60)
        (folder / answer.answer_id).touch()

    return write


OUTBOX = event_exporter("outbox", EnrichedAnswer, open_folder)
"""


async def test_an_exporter_of_a_plugin_waits_retries_and_gives_up_as_built_in_ones_and_harms_none(
    deployment: Deployment, receivers: Receivers, tmp_path: Path
) -> None:
    points = {"touchstone.exporters": {"outbox": "outbox_plugin:OUTBOX"}}
    write_distribution(tmp_path / "plugins", "outbox-plugin", points, {"outbox_plugin.py": OUTBOX})
    outbox = tmp_path / "outbox"
    outbox.mkdir()
    kinds = ("sent", "refused", "broken", "leaving", "away", "slow")
    names = {f"{kind}-{number}" for kind in kinds for number in range(2)}
    for number, name in enumerate(sorted(names)):
        TRACES[name] = f"{number + 100:032x}"
    await deployment.send([(name.encode(), enriched(name).to_bytes()) for name in names], ANSWERS_ENRICHED)
    environment = {
        "OUTBOX": str(outbox),
        "PYTHONPATH": f"{ROOT}:{tmp_path / 'plugins'}",
        "TOUCHSTONE_EXPORTS__PLUGINS": '["outbox"]',
        "TOUCHSTONE_EXPORTS__TIMEOUT_SECONDS": "1",
        "TOUCHSTONE_DELIVERY__MAX_ATTEMPTS": "2",
        "TOUCHSTONE_DELIVERY__RETRY_INITIAL_SECONDS": "0.1",
    }
    worker = await deployment.start_worker(["outbox", "otel"], environment=environment)
    dead: dict[str, tuple[str, str]] = {}

    async def settled() -> bool:
        letters = [read_dead_letter(each.key, each.value, each.headers) for each in await deployment.read(DEAD_LETTERS)]
        dead.update({(letter.key or b"").decode(): (letter.agent, letter.error_class) for letter in letters})
        return {*dead, *(path.name for path in outbox.iterdir())} >= names

    await until(settled, "every answer is written or given up", 120)
    await until(lambda: _true({e["gen_ai.response.id"] for e in receivers.otel.events} >= names), "the other exporter")
    assert dead == {
        f"{kind}-{number}": ("outbox", error)
        for kind, error in {"refused": "RefusedByReceiver", "broken": "KeyError", "leaving": "RuntimeError"}.items()
        for number in range(2)
    }
    assert await worker.metric("touchstone_exports_total", agent="outbox", result="sent") == 6
    assert "unmistakable words" not in worker.log.read_text()
    assert await worker.terminate() == 0
