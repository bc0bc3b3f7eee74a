"""Evaluate single answers in the test's process, as a gateway would send them."""

from functools import cache

from benchmarks.answer_cases import ANSWERED_AT, is_alarmed
from schemas.answers import ContextChunk, GeneratedAnswer
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings


@cache
def _pipeline() -> LocalPipeline:
    return LocalPipeline(Settings(_env_file=None))


def is_warned_of(text: str, query: str, *contexts: str) -> bool:
    """Return true if readers or owners are warned of an answer over these contexts."""
    chunks = [ContextChunk(chunk_id=f"c{number}", content=context) for number, context in enumerate(contexts)]
    answer = GeneratedAnswer(answer_id="a", query=query, answer=text, contexts=chunks, completed_at=ANSWERED_AT)
    return is_alarmed(_pipeline().evaluate(answer))
