"""Writes to every store are timed, and their rows counted."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from schemas.export import example
from schemas.memory import ConversationTurn
from schemas.topics import MEMORY_TURNS
from workers.agents.memory import MEMORY
from workers.delivery.records import Record, WorkItem
from workers.errors import StoreUnavailable


class Memory:
    """A store of memory that is there, or away."""

    def __init__(self, away: bool) -> None:
        self.away = away

    async def embed(self, texts: Sequence[str]) -> dict[str, list[float]]:
        return {text: [0.0] for text in texts}

    async def remember(self, turns: Sequence[Any], feedback: Sequence[Any]) -> None:
        if self.away:
            raise StoreUnavailable("memory does not respond")


def measured(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"sink": "memory", **labels}) or 0.0


@pytest.mark.parametrize("away", [False, True])
async def test_turns_are_counted_once_memory_has_them(away: bool) -> None:
    memory = Memory(away)

    @asynccontextmanager
    async def service() -> AsyncIterator[Memory]:
        yield memory

    context: Any = SimpleNamespace(
        services=SimpleNamespace(embedder=service, memory=service), run_beside=lambda *_: None
    )
    turn = ConversationTurn.model_validate(example(ConversationTurn))
    rows = measured("touchstone_sink_rows_total", table="turns")
    writes = measured("touchstone_sink_flush_duration_seconds_count")
    async with AsyncExitStack() as stack:
        handle = await MEMORY.open(context, stack)
        try:
            await handle([WorkItem(Record(MEMORY_TURNS.name, 0, 0, None, turn.to_bytes()))])
        except StoreUnavailable:
            assert away
    assert measured("touchstone_sink_rows_total", table="turns") - rows == (0 if away else 1)
    assert measured("touchstone_sink_flush_duration_seconds_count") - writes == 1
