"""The quality agent: what it asks memory for, and that it goes on without it."""

from datetime import UTC, datetime
from typing import Any

from schemas.answers import GeneratedAnswer
from workers.agents.evaluation import earlier_answers
from workers.delivery.records import CountedOutputs
from workers.errors import StoreUnavailable
from workers.stores.lancedb.memory_store import AskedBefore

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
ANSWER = GeneratedAnswer(answer_id="now", tenant="a", query="Why?", answer="So.", completed_at=COMPLETED)


class Memory:
    """Memory that answers with rows, or is away."""

    def __init__(self, rows: list[dict[str, Any]] | None) -> None:
        self.rows = rows
        self.asked: list[tuple[Any, ...]] = []

    async def same_questions(self, *arguments: Any) -> list[list[dict[str, Any]]]:
        self.asked.append(arguments)
        if self.rows is None:
            raise StoreUnavailable("away")
        return [self.rows for _ in arguments[0]]


def other(**values: Any) -> GeneratedAnswer:
    return ANSWER.model_copy(update=values)


async def test_earlier_answers_are_asked_for_by_tenant_question_and_time_without_the_answer_itself() -> None:
    rows = [{"answer_id": name, "timestamp": COMPLETED, "response": "x" * 3_000} for name in ("now", "before")]
    memory: Any = Memory(rows)
    skipped: Any = CountedOutputs([], lambda: None)
    found = await earlier_answers([other(query=" "), ANSWER, skipped, other(answer_id="then", tenant="b")], memory, 3)
    assert memory.asked == [([AskedBefore("a", "Why?", COMPLETED), AskedBefore("b", "Why?", COMPLETED)], 3)]
    lengths = [[(answer.answer_id, len(answer.response)) for answer in each] for each in found]
    assert lengths == [[], [("before", 2_000)], [], [("now", 2_000), ("before", 2_000)]]


async def test_without_memory_the_judgement_goes_on() -> None:
    away: Any = Memory(None)
    assert await earlier_answers([ANSWER, ANSWER], away, 3) == [[], []]


async def test_memory_is_not_asked_where_the_setting_or_the_query_says_no() -> None:
    memory: Any = Memory([{"answer_id": "before", "timestamp": COMPLETED, "response": "So."}])
    assert await earlier_answers([ANSWER], memory, 0) == [[]]
    assert await earlier_answers([other(query=" ")], memory, 3) == [[]]
    assert all(not asked for asked, _ in memory.asked)
