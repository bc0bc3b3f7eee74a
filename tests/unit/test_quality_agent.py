"""The quality agent: what it asks memory for, and that it goes on without it."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from workers.agents.quality import _earlier
from workers.delivery.errors import StoreUnavailable
from workers.settings import Settings

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
ANSWER = GeneratedAnswer(answer_id="now", tenant="a", query="Why?", answer="So.", completed_at=COMPLETED)


class Memory:
    """Memory that answers with rows, or is away."""

    def __init__(self, rows: list[dict[str, Any]] | None) -> None:
        self.rows = rows
        self.asked: list[tuple[Any, ...]] = []

    async def same_question(self, *arguments: Any) -> list[dict[str, Any]]:
        self.asked.append(arguments)
        if self.rows is None:
            raise StoreUnavailable("away")
        return self.rows


def resources(memory: Memory | None, earlier_answers: int = 3) -> Any:
    settings = Settings(memory={"earlier_answers": earlier_answers})
    return SimpleNamespace(settings=settings, memory=memory)


async def test_earlier_answers_are_asked_for_by_tenant_question_and_time_without_the_answer_itself() -> None:
    rows = [{"answer_id": name, "timestamp": COMPLETED, "response": "x" * 3_000} for name in ("now", "before")]
    memory = Memory(rows)
    found = await _earlier(ANSWER, resources(memory))
    assert memory.asked == [("a", "Why?", COMPLETED, 3)]
    assert [(answer.answer_id, len(answer.response)) for answer in found] == [("before", 2_000)]


@pytest.mark.parametrize("memory", [None, Memory(None)])
async def test_without_memory_the_judgement_goes_on(memory: Memory | None) -> None:
    assert await _earlier(ANSWER, resources(memory)) == []


async def test_memory_is_not_asked_where_the_setting_or_the_query_says_no() -> None:
    memory = Memory([])
    assert await _earlier(ANSWER, resources(memory, earlier_answers=0)) == []
    assert await _earlier(ANSWER.model_copy(update={"query": " "}), resources(memory)) == []
    assert memory.asked == []
