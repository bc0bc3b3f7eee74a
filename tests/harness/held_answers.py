"""Answers that wait for a reviewer."""

from datetime import UTC, datetime, timedelta

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread


def risky(number: int, tenant: str, between: str = " ") -> GeneratedAnswer:
    """An answer that is held for review: its number contradicts its source."""
    return GeneratedAnswer(
        answer_id=f"{tenant}-{number}",
        tenant=tenant,
        query=f"How much memory does ingester {number} need?",
        answer=f"Ingester {number} needs 16 GiB of memory [1].{between}It restarts by itself after a crash [1].",
        contexts=[
            ContextChunk(
                chunk_id="c1",
                content=f"Sizing. Ingester {number} needs 2 GiB of memory. After a crash it is restarted by the operator.",
                source_name="Sizing guide",
            )
        ],
        risk_mode="gatekeeper",
        # Lately: the policy decides what has waited past its deadline.
        completed_at=datetime.now(UTC) - timedelta(hours=1) + timedelta(minutes=number),
    )


def held(console: ConsoleThread, tenant: str, count: int) -> list[EnrichedAnswer]:
    answers = console.store(risky(number, tenant) for number in range(count))
    assert all(answer.decision.state == "held" for answer in answers)
    return answers


def review_of(answer: EnrichedAnswer) -> str:
    """Return the identifier of an answer's review."""
    return fact_id(answer.tenant, answer.answer_id, "review")
