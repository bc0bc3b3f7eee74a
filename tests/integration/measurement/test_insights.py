"""Seed 002, test 11.3: 1,000 feedback events, in every run 500, through the agents; the insights find what was planted and nothing else."""

import json
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.export import example
from schemas.feedback import AnalyticsRow, FeedbackAggregation, FeedbackMessage
from schemas.topics import FEEDBACK_EVENTS, FEEDBACK_INSIGHTS
from tests.harness.deployment import Deployment, until
from tests.harness.migrated import return_tables
from tests.harness.variants import variants
from workers.feedback.insight_events import Period
from workers.feedback.patterns import Judges, RatedAnswer
from workers.measurement.insight_search import find_insights, look
from workers.runtime.worker import Worker
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore

ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TOPICS = {
    "invoices": "Open billing, choose the invoice and print it; the tax line is computed anew.",
    "backups": "The nightly backup of the database can be restored from the archive.",
    "holidays": "Employees see how many holidays are left in the leave calendar.",
}


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


def planted(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Answers, citations and votes: prompt p7 and the source handbook-2 are bad, everything else is not."""
    rng = random.Random(11)
    answers, citations, votes = [], [], []
    for number in range(count):
        name, at = f"a-{number}", NOW - timedelta(minutes=5 + number * 9)
        prompt, source, topic = rng.choice(["p6", "p7", "p8"]), f"handbook-{rng.randrange(6)}", rng.choice(list(TOPICS))
        chance = max(0.1, 0.5 * (prompt == "p7"), 0.6 * (source == "handbook-2"))
        shared = {"answer_id": name, "tenant": "acme", "completed_at": at.isoformat()}
        answers.append(
            ROW | shared | {
                "prompt_version": prompt, "query": f"What about {topic}?", "answer": TOPICS[topic], "signals": [],
                "trace_id": f"{number:032x}", "model_id": rng.choice(["llama", "qwen"]),
                "grounding_score": 0.9, "relevance": 0.9, "quality_score": 0.9,
            }
        )  # fmt: skip
        citations.append(shared | {
            "run": "live", "citation_id": f"c-{number}", "pipeline_version": "v", "rank": 4, "valid": True,
            "source_name": source, "forms": [],
        })  # fmt: skip
        votes.append({
            "answer_id": name, "tenant": "acme", "kind": "explicit", "model_id": answers[-1]["model_id"],
            "explicit": {"vote": "down" if rng.random() < chance else "up"}, "occurred_at": at.isoformat(),
        })  # fmt: skip
    return answers, citations, votes


@pytest.mark.parametrize("count", variants([500, 1_000], in_every_run=[500]))
async def test_planted_patterns_come_out_of_many_events_and_no_others(deployment: Deployment, count: int) -> None:
    settings, database = deployment.settings, deployment.name
    answers, citations, votes = planted(count)
    client = await deployment.client()
    worker = Worker(settings, deployment.addresses, ["feedback", "analytics"])
    try:
        await worker.start()
        store = AnalyticsStore(client, database)
        await store.insert("answers", answers)
        await store.insert("citations", citations)
        values = [(vote["answer_id"].encode(), json.dumps(vote).encode()) for vote in votes]
        assert await deployment.send(values, FEEDBACK_EVENTS) == count

        async def rewarded() -> bool:
            return (await deployment.query(client, "SELECT count() FROM {db}.rewards FINAL"))[0] == count

        await until(rewarded, "every answer has its reward", 90)
        linked = await deployment.query(
            client,
            "SELECT count(), countIf(f.vote = 'down' AND r.reward = 0 OR f.vote = 'up' AND r.reward = 1) "
            "FROM {db}.feedback AS f FINAL INNER JOIN (SELECT * FROM {db}.answers FINAL) AS a ON a.answer_id = f.answer_id "
            "INNER JOIN (SELECT * FROM {db}.rewards FINAL) AS r ON r.answer_id = f.answer_id WHERE a.trace_id != ''",
        )
        assert linked == (count, count), "every vote leads to its answer's trace"
        period = Period("", NOW - timedelta(days=7), NOW)
        first = await find_insights(settings, deployment.addresses, period, write=True)
        assert (first.rated, first.bad) == (count, sum(vote["explicit"]["vote"] == "down" for vote in votes))
        patterns = [message.payload for message in first.messages]
        told = sorted(payload.pattern.split(":")[0] for payload in patterns if isinstance(payload, FeedbackAggregation))
        assert told == ["prompt version p7", "source handbook-2"]
        # Looked at again, the same insights are told under the same identifiers.
        again = await find_insights(settings, deployment.addresses, period, write=True)
        assert [message.message_id for message in again.messages] == [message.message_id for message in first.messages]

        async def stored() -> bool:
            return (await deployment.query(client, "SELECT count() FROM {db}.insights FINAL"))[0] == 2

        await until(stored, "the insights are rows", 60)
        other = await find_insights(settings, deployment.addresses, Period("other", period.since, NOW), write=False)
        assert (other.rated, other.messages) == (0, [])
    finally:
        await worker.stop()
        await return_tables(client, database)
        await client.close()
    events = [FeedbackMessage.from_bytes(record.value) for record in await deployment.read(FEEDBACK_INSIGHTS)]
    assert len(events) == 4
    assert len({event.message_id for event in events}) == 2


def test_what_reviewers_found_bad_is_no_rating_of_readers() -> None:
    period = Period("acme", NOW - timedelta(days=7), NOW)

    def answers(by: Judges, bad_model: str) -> list[RatedAnswer]:
        return [
            RatedAnswer(
                f"{by}-{number}", 0.0 if model == bad_model and number % 8 < 7 else 1.0, TOPICS[topic],
                {"model": (model,)}, by=by,
            )
            for number in range(200)
            for model, topic in ((("llama", "qwen")[number % 2], list(TOPICS)[number % 3]),)
        ]  # fmt: skip

    found = look([*answers("readers", "llama"), *answers("reviewers", "qwen")], [], period, Settings(_env_file=None))
    assert (found.rated, found.reviewed) == (200, 200)
    assert found.bad == sum(answer.is_bad for answer in answers("readers", "llama"))
    assert found.reviewed_bad == sum(answer.is_bad for answer in answers("reviewers", "qwen"))
    texts = [message.payload.pattern for message in found.messages if isinstance(message.payload, FeedbackAggregation)]
    assert [text.split(" (")[0] for text in texts] == [
        f"model llama: {found.bad} of 100 answers that readers rated are bad",
        f"model qwen: {found.reviewed_bad} of 100 answers that reviewers decided were found bad",
    ]
    both = look([*answers("readers", "llama"), *answers("reviewers", "llama")], [], period, Settings(_env_file=None))
    assert len({message.message_id for message in both.messages}) == len(both.messages) == 2
