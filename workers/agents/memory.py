"""Run the agent memory: embed memory.turns and store them in LanceDB; add the reward of each answer to its turn."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from schemas.memory import ConversationTurn
from schemas.topics import FEEDBACK_REWARDS, MEMORY_TURNS
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.agents.tasks.memory_keeper import MemoryKeeper
from workers.delivery.records import Result, WorkItem
from workers.errors import JudgementError, TransientError
from workers.inference.embedding import EmbeddingService, Vector
from workers.observability import metrics
from workers.stores.clickhouse.rows.recorded_rows import turn_feedback_of
from workers.stores.lancedb.memory_store import TurnFeedback, turn_text


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    embedder = await stack.enter_async_context(context.services.embedder())
    memory = await stack.enter_async_context(context.services.memory())
    context.run_beside("upkeep", MemoryKeeper(context, memory).run)

    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        results: list[Result] = []
        turns: list[ConversationTurn] = []
        feedback: list[TurnFeedback] = []
        for work in works:
            try:
                if work.record.topic == MEMORY_TURNS.name:
                    turns.append(ConversationTurn.from_bytes(work.record.value))
                else:
                    feedback += turn_feedback_of(work.record)
                results.append([])
            except ValueError as error:
                results.append(error)
        embedded = await _with_vectors(turns, embedder)
        with metrics.SINK_FLUSH_SECONDS.labels("memory").time():
            await memory.remember(embedded, feedback)
        metrics.SINK_ROWS.labels("memory", "turns").inc(len(turns))
        return results

    return handle


async def _with_vectors(
    turns: Sequence[ConversationTurn], embedder: EmbeddingService
) -> list[tuple[ConversationTurn, Vector]]:
    texts = [turn_text(turn) for turn in turns]
    try:
        vectors = await embedder.embed(texts)
    except JudgementError as error:
        raise TransientError(f"turns could not be embedded: {error}") from error
    return [(turn, vectors[text]) for turn, text in zip(turns, texts, strict=True)]


MEMORY = AgentDefinition("memory", (MEMORY_TURNS, FEEDBACK_REWARDS), _open, sink=True, stores=frozenset({"memory"}))
