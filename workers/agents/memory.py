"""memory: memory.turns → embed → LanceDB; feedback.rewards → what people thought of a turn."""

from collections.abc import Sequence

from schemas.feedback import Reward
from schemas.identifiers import fact_id
from schemas.memory import ConversationTurn
from schemas.topics import FEEDBACK_REWARDS, MEMORY_TURNS
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import JudgementError, TransientError
from workers.delivery.records import Record, Result, Work
from workers.stores.memory import TurnFeedback


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
                    feedback += _feedback(work.record)
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
    texts = [f"{turn.query} {turn.response}" for turn in turns]
    try:
        vectors = await resources.embedding.embed(texts)
    except JudgementError as error:
        raise TransientError(f"turns could not be embedded: {error}") from error
    await resources.memory.remember([(turn, vectors[text]) for turn, text in zip(turns, texts, strict=True)])


def _feedback(record: Record) -> list[TurnFeedback]:
    """What a reward says to a turn: nothing while no person has said or done anything."""
    if record.value is None:
        return []  # a tombstone: whoever is erased from the rewards is erased here as well
    reward = Reward.from_bytes(record.value)
    turn_id = "turn_" + fact_id(reward.answer_id, "turn")
    return [TurnFeedback(turn_id, reward.reward, reward.revision)] if reward.is_personal else []


MEMORY = AgentDefinition("memory", (MEMORY_TURNS, FEEDBACK_REWARDS), _handler, needs=("embedding", "memory"), sink=True)
