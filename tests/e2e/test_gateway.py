"""From a call of the real gateway to the figures: litellm, its callback, the broker, the agents, ClickHouse, receivers."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import litellm
import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.topics import ANSWERS_GENERATED, DEAD_LETTERS, FEEDBACK_EVENTS
from tests.harness.deployment import Deployment, until
from tests.harness.receivers import Langfuse, OtlpCollector, serving
from workers.exporters import langfuse_scores as langfuse
from workers.gateways.callback import TouchstoneCallback
from workers.runtime.agent_choice import AGENTS, EXPORTERS

pytestmark = [
    pytest.mark.timeout(900),  # the waits within end before
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*:UserWarning"),
]

QUESTION = "What is the memory limit of the ingester?"
SOURCE = "The memory limit of the ingester is 2 GiB. It is set in the runbook of operations."
GROUNDED = "The memory limit of the ingester is 2 GiB [1]."
INVENTED = "The memory limit of the ingester is 64 GiB [1]."
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
EXPORTERS_OF_TRACES = (EXPORTERS["otel"], EXPORTERS["langfuse"])


async def call(says: str, contexts: list[Any] | None = None) -> Any:
    metadata = {
        "contexts": contexts,
        "tenant": "acme",
        "session_id": "session-4711",
        "traceparent": f"00-{TRACE}-{SPAN}-01",
    }
    return await litellm.acompletion(
        model="gpt-4o-mini",
        messages=[{"role": "user", "content": QUESTION}],
        mock_response=says,
        metadata={"requester_metadata": {name: value for name, value in metadata.items() if value is not None}},
    )


@pytest.fixture
async def collector() -> AsyncIterator[OtlpCollector]:
    taking = OtlpCollector()
    async with serving(taking, "/v1/logs"):
        yield taking


@pytest.fixture
async def scores() -> AsyncIterator[Langfuse]:
    taking = Langfuse()
    async with serving(taking, langfuse.PATH):
        yield taking


async def test_calls_of_the_gateway_are_judged_stored_and_told_with_their_trace_once(
    deployment: Deployment,
    collector: OtlpCollector,
    scores: Langfuse,
    monkeypatch: pytest.MonkeyPatch,
    int8_folder: Path,
) -> None:
    deployment.int8 = int8_folder
    topic = f"{deployment.name}-litellm"
    admin = AIOKafkaAdminClient(bootstrap_servers=deployment.addresses.kafka)
    await admin.start()
    await admin.create_topics([NewTopic(name=topic, num_partitions=2, replication_factor=1)])
    await admin.close()
    callback = TouchstoneCallback(deployment.addresses.kafka, topic)
    monkeypatch.setattr(litellm, "callbacks", [callback])
    client = await deployment.client()
    try:
        settings = {
            "TOUCHSTONE_GATEWAYS__TOPICS": json.dumps({topic: {"format": "litellm"}}),
            "TOUCHSTONE_OTEL__ENDPOINT": f"{collector.url}/v1/logs",
            "TOUCHSTONE_LANGFUSE__URL": scores.url,
            "TOUCHSTONE_LANGFUSE__PUBLIC_KEY": scores.keys[0],
            "TOUCHSTONE_LANGFUSE__SECRET_KEY": scores.keys[1],
        }
        worker = await deployment.start_worker(environment=settings)
        contexts = [{"id": "runbook", "text": SOURCE}]
        grounded = await call(GROUNDED, contexts)
        invented = await call(INVENTED, contexts)
        bare = await call(GROUNDED)
        with pytest.raises(litellm.RateLimitError):
            await call("litellm.RateLimitError")

        async def stored() -> bool:
            answers = await deployment.query(client, "SELECT count() FROM {db}.answers FINAL")
            rewards = await deployment.query(client, "SELECT count() FROM {db}.rewards FINAL")
            return answers == (4,) and rewards == (4,)

        await until(stored, "four answers and what they earned are stored", 300)
        vote = {"answer_id": grounded.id, "tenant": "acme", "kind": "explicit", "explicit": {"vote": "up"}}
        vote |= {"feedback_id": "v-1", "occurred_at": datetime.now(UTC).isoformat()}
        await deployment.send([(grounded.id.encode(), json.dumps(vote).encode())], FEEDBACK_EVENTS)

        async def told() -> bool:
            answers = {event["gen_ai.response.id"] for event in collector.events}
            released = [score for score in scores.scores if score["name"] == "release"]
            return len(answers) == len(released) == 4 and "user_satisfaction" in scores.of(grounded.id)

        await until(told, "both receivers know the four answers and the vote", 120)
        # The gateway's log is read once more, as after a group that was reset: nothing is added.
        answers = await deployment.read(ANSWERS_GENERATED)
        await deployment.send((record.key, record.value) for record in answers)
        count = len(scores.scores)
        await deployment.all_caught_up([*AGENTS.values(), *EXPORTERS_OF_TRACES])
        assert await worker.terminate() == 0
        assert len(scores.scores) == count
        assert await stored()
        found = await client.query(
            f"SELECT answer_id, tenant, session_id, trace_id, model_id, status, grounding_score "
            f"FROM {deployment.name}.answers FINAL"
        )
        rows = {row[0]: row[1:] for row in found.result_rows}
        errors = await deployment.query(client, "SELECT countIf(error_occurred), count() FROM {db}.rewards FINAL")
    finally:
        await asyncio.to_thread(callback.close)
        await client.close()
    assert {grounded.id, invented.id, bare.id} < set(rows)
    assert all(row[:4] == ("acme", "session-4711", TRACE, "gpt-4o-mini") for row in rows.values())
    (failed,) = (row for name, row in rows.items() if name not in (grounded.id, invented.id, bare.id))
    assert failed[4] == "error"
    assert errors == (1, 4), "a router learns of the failed call, and of no other"
    assert rows[grounded.id][5] > rows[invented.id][5]
    assert rows[bare.id][5] is None, "nothing was there to check it against"
    assert await deployment.read(DEAD_LETTERS) == []
    assert {(event["trace_id"], event["span_id"]) for event in collector.events} == {(TRACE, SPAN)}
    assert {score["traceId"] for score in scores.scores} == {TRACE}
    of = {name: scores.of(name) for name in rows}
    assert of[grounded.id]["grounding_score"]["value"] == rows[grounded.id][5]
    assert "grounding_score" not in of[bare.id]
    assert of[grounded.id]["user_satisfaction"]["value"] == 1
