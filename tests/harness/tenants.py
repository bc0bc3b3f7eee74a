"""Two tenants that share a console and a worker, and an ``answer_id``."""

import json
import time
from collections.abc import Callable
from typing import Any

from schemas.topics import ANSWERS_RELEASED, FEEDBACK_REWARDS, Topic
from tests.harness.console import ConsoleThread
from workers.delivery.records import Record
from workers.delivery.topics.topic_reading import BoundedReader
from workers.privacy.erasure import forget
from workers.settings.addresses import Addresses

OURS, THEIRS = "acme", "keys"
"""Two tenants, each with a token of its own of the same name."""
BOTH = (OURS, THEIRS)
SHARED = "shared"
"""The answer that both tenants have."""
AGENTS = (
    "citations", "grounding", "quality", "signals", "assembly", "release", "decisions", "analytics", "feedback", "memory",
)  # fmt: skip
NEEDS = {OURS: "8 GiB", THEIRS: "16 GiB"}
CORRECTED = {OURS: "Loki needs 2 GiB of memory, says acme.", THEIRS: "Loki needs 2 GiB of memory, says keys."}


def answer(tenant: str, answer_id: str = SHARED, **fields: Any) -> dict[str, Any]:
    """An answer that its source contradicts, so that a person must decide; only the figure is the tenant's own."""
    return {
        "answer_id": answer_id, "tenant": tenant, "session_id": "session-1", "user_id": "user-17",
        "query": f"How much memory does Loki of {tenant} need?", "answer": f"Loki needs {NEEDS[tenant]} of memory [1].",
        "contexts": [{"chunk_id": "c1", "content": f"Loki needs 2 GiB of memory. Only {tenant} may read this."}],
        "conversation": [
            {"role": "user", "content": f"Does {tenant} run Loki?"},
            {"role": "assistant", "content": f"Yes, {tenant} runs Loki, and only {tenant} knows why."},
        ],
        "steps": [{"kind": "tool", "name": f"search of {tenant}", "output": f"Only {tenant} may read this step."}],
        "risk_mode": "gatekeeper", "model": {"id": "m"}, "requested_at": "2026-11-02T07:59:58Z", "completed_at": "2026-11-02T08:00:00Z",
    } | fields  # fmt: skip


def until(found: Callable[[], Any], what: str, seconds: float = 200.0) -> Any:
    """Wait for something and return it."""
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, what
        time.sleep(0.2)
    return value


class TwoTenants:
    """Both tenants have sent, corrected and rated an answer of the same identifier."""

    def __init__(self, console: ConsoleThread, addresses: Addresses) -> None:
        self.console, self.addresses = console, addresses
        self.clients = {tenant: console.client(tenant) for tenant in BOTH}
        self.reviews: dict[str, dict[str, Any]] = {}
        self.released_meanwhile: list[dict[str, Any]] = []

    def send(self, *answers: dict[str, Any]) -> None:
        for each in answers:
            sent = self.clients[each["tenant"]].post("/api/answers", json={"answers": [each]})
            assert sent.status_code == 202, sent.text

    def queue(self, tenant: str) -> list[dict[str, Any]]:
        listed = self.clients[tenant].get("/api/reviews")
        assert listed.status_code == 200, listed.text
        return [item for item in listed.json()["items"] if item["answer_id"] == SHARED]

    def decide(self, tenant: str) -> None:
        review_id = self.reviews[tenant]["review_id"]
        assert self.clients[tenant].post(f"/api/reviews/{review_id}/lock").status_code == 200
        body = {"user_action": "correct", "corrected_answer": CORRECTED[tenant]}
        decided = self.clients[tenant].post(f"/api/reviews/{review_id}/decision", json=body)
        assert decided.status_code == 202, decided.text

    def rate(self, tenant: str, rating: int) -> None:
        event = {
            "feedback_id": "f-1", "answer_id": SHARED, "tenant": tenant, "kind": "explicit", "user_id": "user-17",
            "explicit": {"rating": rating, "comment": f"of {tenant}"}, "occurred_at": "2026-11-02T09:00:00Z",
        }  # fmt: skip
        sent = self.clients[tenant].post("/api/feedback", json={"events": [event]})
        assert sent.status_code == 202, sent.text

    def final(self, tenant: str) -> list[dict[str, Any]]:
        """The final releases of the shared answer of a tenant."""
        return [each for each in self.values(ANSWERS_RELEASED, tenant) if each["final"] and each["answer_id"] == SHARED]

    def remembered(self, tenant: str) -> list[dict[str, Any]]:
        found = self.clients[tenant].get("/api/memory", params={"q": "memory of Loki", "limit": 50})
        assert found.status_code == 200, found.text
        return [item for item in found.json()["items"] if item["answer_id"] == SHARED]

    def rewarded(self, tenant: str) -> list[dict[str, Any]]:
        """Rewards of the tenant that contain a rating and a decision."""
        rewards = [each for each in self.values(FEEDBACK_REWARDS, tenant) if each["answer_id"] == SHARED]
        return [each for each in rewards if each["revision"] >= 3]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        async def ask() -> list[tuple[Any, ...]]:
            client = self.console.resources.analytics.client
            result = await client.query(sql.format(db=self.console.settings.clickhouse.database))
            return [tuple(row) for row in result.result_rows]

        return self.console.call(ask())

    def records(self, topic: Topic) -> list[Record]:
        async def read() -> list[Record]:
            reader = BoundedReader(self.console.settings, self.addresses.kafka, [topic])
            return [record async for batch in reader.batches() for record in batch]

        return self.console.call(read())

    def values(self, topic: Topic, tenant: str) -> list[dict[str, Any]]:
        return [value for _, value in self.events(topic) if owner(value) == tenant]

    def events(self, topic: Topic) -> list[tuple[Record, dict[str, Any]]]:
        return [(record, json.loads(record.value)) for record in self.records(topic) if record.value]

    def forget(self, tenant: str, user: str) -> None:
        resources = self.console.resources
        self.console.call(forget(self.console.settings, self.addresses, tenant, user, resources.now))


def owner(value: dict[str, Any]) -> str:
    """The tenant that an event names, also within a row."""
    return str(value.get("columns", value).get("tenant", "default"))
