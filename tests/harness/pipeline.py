"""The examples through one real worker, with what people say of them: what ClickHouse holds then."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.review import ReviewDecision
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS, REVIEW_DECISIONS
from tests.harness.deployment import Deployment, until
from tests.harness.named_queries import ask_named
from tests.harness.paths import ROOT
from workers.stores.clickhouse.rollups import refresh_rollups

EXAMPLES: list[dict[str, Any]] = [
    json.loads(line) for line in (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
]
TIMES = [datetime.fromisoformat(answer["completed_at"]) for answer in EXAMPLES]
WHEN = {
    "from": min(TIMES).astimezone(UTC).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0),
    "to": max(TIMES).astimezone(UTC).replace(tzinfo=None) + timedelta(days=1),
}
"""The time that all examples, and what people say of them, lie in."""
UNHURRIED = {
    # A machine that is starved of CPU may let an agent be silent for a minute; that is not the matter here.
    "TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "600",
    # Which earlier answers are remembered by then is a matter of time.
    "TOUCHSTONE_MEMORY__EARLIER_ANSWERS": "0",
}


def feedback(answers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A rating for every third answer, what the person did for every fifth."""
    said = []
    for number, answer in enumerate(answers):
        common = {"answer_id": answer["answer_id"], "tenant": answer.get("tenant", "default")}
        at = (datetime.fromisoformat(answer["completed_at"]) + timedelta(minutes=5)).isoformat()
        if number % 3 == 0:
            rated = {"kind": "explicit", "explicit": {"rating": 1 + number % 5}}
            said.append(common | rated | {"feedback_id": f"rated-{number}", "occurred_at": at})
        if number % 5 == 0:
            did = {"kind": "behaviour", "behaviour": {"time_spent_seconds": 40.0, "response_copied": True}}
            said.append(common | did | {"feedback_id": f"did-{number}", "occurred_at": at})
    return said


def decisions(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Two reviewers look at every request, and agree on most."""
    made = []
    for number, request in enumerate(requests):
        for place, reviewer in enumerate(("reviewer-a", "reviewer-b")):
            at = request["completed_at"].replace(tzinfo=UTC) + timedelta(hours=1 + place + number % 7)
            made.append(
                example(ReviewDecision)
                | {
                    "feedback_id": f"decided-{number}-{reviewer}", "review_id": request["review_id"],
                    "answer_id": request["answer_id"], "tenant": request["tenant"], "decided_by": reviewer,
                    "timestamp": at.isoformat(), "review_duration": 40.0 + 5 * (number % 11), "model_id": request["model_id"],
                    "user_action": "reject" if number % 4 == 0 or number % 9 == place * 5 else "approve",
                }
            )  # fmt: skip
    return made


def records(events: Sequence[Mapping[str, Any]]) -> list[tuple[bytes, bytes]]:
    return [(event["answer_id"].encode(), json.dumps(event).encode()) for event in events]


class Pipeline:
    """One worker that has judged the examples, and what its ClickHouse says."""

    def __init__(
        self, deployment: Deployment, runner: asyncio.Runner, answers: Sequence[Mapping[str, Any]] = EXAMPLES
    ) -> None:
        self.deployment, self.runner, self.answers = deployment, runner, answers
        self.made: list[dict[str, Any]] = []

    async def fill(self) -> None:
        await self.deployment.prepare()
        await self.deployment.start_worker()
        await self.deployment.send(records(self.answers), ANSWERS_GENERATED)
        client = await self.client()
        try:
            await self.rows(client, "answers", len(self.answers))
            await self.rows(client, "rewards", 1)
            await self.settled(client)
            found = await client.query("SELECT review_id, answer_id, tenant, model_id, completed_at FROM reviews FINAL")
            self.made = decisions(sorted(found.named_results(), key=lambda request: str(request["review_id"])))
            await self.deployment.send(records(feedback(self.answers)), FEEDBACK_EVENTS)
            await self.deployment.send(records(self.made), REVIEW_DECISIONS)
            await self.rows(client, "review_decisions", len(self.made))
            await self.settled(client)
        finally:
            await client.close()

    async def redeliver(self) -> None:
        """The same records once more, as after a lost commit."""
        client = await self.client()
        try:
            before = await self.marks(client)
            await self.deployment.send(records(self.answers), ANSWERS_GENERATED)
            await self.deployment.send(records(feedback(self.answers)), FEEDBACK_EVENTS)
            await self.deployment.send(records(self.made), REVIEW_DECISIONS)

            async def arrived() -> bool:
                return all(now > then for now, then in zip(await self.marks(client), before, strict=True))

            await until(arrived, "the repeated rows", 300)
            await self.settled(client)
        finally:
            await client.close()

    async def marks(self, client: AsyncClient) -> list[datetime]:
        """When each answer's and each reward's facts were written last."""
        sql = """
            SELECT answer_id, max(inserted_at) FROM answer_facts GROUP BY answer_id ORDER BY answer_id
            UNION ALL SELECT answer_id, max(inserted_at) FROM reward_facts GROUP BY answer_id ORDER BY answer_id
        """
        return [at for _, at in (await client.query(sql)).result_rows]

    async def rows(self, client: AsyncClient, table: str, least: int) -> None:
        async def there() -> bool:
            return int(await client.command(f"SELECT count() FROM {table} FINAL")) >= least

        await until(there, f"{least} rows of {table}", 300)

    async def settled(self, client: AsyncClient) -> None:
        """No agent is behind, and the figures are those of now."""
        await self.deployment.all_caught_up()
        await refresh_rollups(client, self.deployment.name)

    async def client(self) -> AsyncClient:
        client = await self.deployment.client()
        client.database = self.deployment.name
        return client

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        async def run() -> list[tuple[Any, ...]]:
            client = await self.client()
            try:
                return [tuple(row) for row in (await client.query(sql)).result_rows]
            finally:
                await client.close()

        return self.runner.run(run())

    def answered(self, name: str) -> list[dict[str, Any]]:
        async def run() -> list[dict[str, Any]]:
            client = await self.client()
            try:
                return await ask_named(client, self.deployment.name, name, WHEN)
            finally:
                await client.close()

        return self.runner.run(run())
