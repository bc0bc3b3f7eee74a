"""memory: memory.turns → embed → LanceDB."""

from collections.abc import Sequence

from schemas.memory import ConversationTurn
from schemas.topics import MEMORY_TURNS
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import JudgementError, TransientError
from workers.delivery.records import Result, Work


def _handler(resources: Resources) -> Handler:
    async def handle(works: Sequence[Work]) -> Sequence[Result]:
        assert resources.memory is not None and resources.embedding is not None
        results: list[Result] = []
        turns = []
        for work in works:
            try:
                turns.append(ConversationTurn.from_bytes(work.record.value))
                results.append([])
            except ValueError as error:
                results.append(error)
        texts = [f"{turn.query} {turn.response}" for turn in turns]
        try:
            vectors = await resources.embedding.embed(texts)
        except JudgementError as error:
            raise TransientError(f"turns could not be embedded: {error}") from error
        await resources.memory.remember([(turn, vectors[text]) for turn, text in zip(turns, texts, strict=True)])
        return results

    return handle


MEMORY = AgentDefinition("memory", (MEMORY_TURNS,), _handler, needs=("embedding", "memory"), sink=True)
