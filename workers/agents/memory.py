"""memory: memory.turns → embed → LanceDB; feedback.rewards → what people thought of a turn."""

from collections.abc import Sequence

from schemas.memory import ConversationTurn
from schemas.topics import FEEDBACK_REWARDS, MEMORY_TURNS
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import JudgementError, TransientError
from workers.delivery.records import Result, Work
from workers.stores.memory import TurnFeedback, turn_text
from workers.stores.recorded import turn_feedback_of


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.memory is not None
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
        if turns:
            await _remember(turns, resources)
        await resources.memory.rate(feedback)
        return results

    return handle


async def _remember(turns: Sequence[ConversationTurn], resources: Resources) -> None:
    assert resources.memory is not None and resources.embedding is not None
    texts = [turn_text(turn) for turn in turns]
    try:
        vectors = await resources.embedding.embed(texts)
    except JudgementError as error:
        raise TransientError(f"turns could not be embedded: {error}") from error
    await resources.memory.remember([(turn, vectors[text]) for turn, text in zip(turns, texts, strict=True)])


MEMORY = AgentDefinition("memory", (MEMORY_TURNS, FEEDBACK_REWARDS), _handler, needs=("embedding", "memory"), sink=True)
