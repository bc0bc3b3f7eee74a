"""Run ``touchstone worker`` with constant evaluations; the rest is broker, join, event models and stores.

    python -m benchmarks.stubbed_worker

Started by ``benchmarks.pipeline``. The judges give the findings of the examples in ``schemas/examples``
for every answer, so that reports have the size that they have; the model gives a random vector for each text.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.quality import EarlierAnswer
from schemas.reports import Findings
from workers.agents import evaluation
from workers.agents.base import AgentContext, Handler
from workers.cli import main as cli
from workers.inference import opening
from workers.inference.backends import EmbeddingBackend, Vectors
from workers.pipeline.evaluator import AnyEvaluator, EvaluationContext, Evaluator
from workers.pipeline.models import ServiceModels
from workers.settings import Settings
from workers.stores.lancedb.memory_store import MemoryStore

DIMENSIONS = 384


class RandomVectors:
    """Return a random vector for each text: an index of equal vectors costs more than that of real answers."""

    name = "random vectors"
    dimensions = DIMENSIONS

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = [
            np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS, np.float32) for text in texts
        ]
        return np.stack([vector / np.linalg.norm(vector) for vector in vectors])


def constant(evaluator: AnyEvaluator) -> Evaluator[None, Findings]:
    """Return an evaluator that finds the same in every answer."""
    report = evaluator.report.model_validate(example(evaluator.report))

    def prepare(_: GeneratedAnswer, __: Sequence[EarlierAnswer]) -> None:
        return None

    def evaluate(_: None, __: EvaluationContext) -> Findings:
        return report

    return Evaluator(evaluator.name, Findings, evaluator.report, prepare, evaluate)


_real_handler = evaluation.evaluation_handler


def _handler(
    evaluator: AnyEvaluator, context: AgentContext, models: ServiceModels, memory: MemoryStore | None = None
) -> Handler:
    return _real_handler(constant(evaluator), context, models, memory)


def _backend(settings: Settings) -> EmbeddingBackend:
    del settings
    return RandomVectors()


def main() -> None:
    """Replace what judges, then run the command."""
    evaluation.evaluation_handler = _handler
    opening.open_backend = _backend
    cli.main()


if __name__ == "__main__":
    main()
