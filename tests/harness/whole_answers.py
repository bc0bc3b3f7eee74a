"""Evaluate single answers in the test's process, as a gateway would send them."""

from collections.abc import Sequence
from functools import cache

from benchmarks.answer_cases import ANSWERED_AT, is_alarmed
from schemas.answers import ContextChunk, GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings


@cache
def _pipeline() -> LocalPipeline:
    return LocalPipeline(Settings(_env_file=None))


def is_warned_of(text: str, query: str, *contexts: str) -> bool:
    """Return true if readers or owners are warned of an answer over these contexts."""
    return is_alarmed(_pipeline().evaluate(answer_over(text, query, contexts)))


def verdicts_on(question: str, context: str, text: str) -> set[str]:
    """Return the verdicts on the claims of an answer over one context."""
    prepared = prepare_grounding(answer_over(text, question, (context,)))
    return {each.verdict for each in evaluate_grounding(prepared, GroundingThresholds()).claims}


def answer_over(text: str, query: str, contexts: Sequence[str]) -> GeneratedAnswer:
    """Return an answer over these contexts."""
    chunks = [ContextChunk(chunk_id=f"c{number}", content=context) for number, context in enumerate(contexts)]
    return GeneratedAnswer(answer_id="a", query=query, answer=text, contexts=chunks, completed_at=ANSWERED_AT)
