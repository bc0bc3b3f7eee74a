"""``touchstone worker`` with judgement stubbed to constants: what is left is broker, joining, models of events and stores.

    python -m benchmarks.stubbed_worker

Started by ``benchmarks.pipeline``. The judges give the findings of the examples in ``schemas/examples``
for every answer, so that reports have the size that they have; the model gives one vector for all texts.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from schemas.export import example
from schemas.reports import Report
from workers import cli
from workers.agents import citations, grounding, judging, quality
from workers.agents.base import Handler, Resources
from workers.agents.judging import Judge
from workers.inference import opening
from workers.inference.backends import EmbeddingBackend, Vectors
from workers.settings import Settings

DIMENSIONS = 384


class Textless:
    """A prepared answer that needs no vectors."""

    texts: tuple[str, ...] = ()


class OneVector:
    """A model that knows one vector."""

    name = "one vector"
    dimensions = DIMENSIONS

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.float32(DIMENSIONS**-0.5), (len(texts), DIMENSIONS))


def constant(judge: Judge) -> Judge:
    """A judge that finds the same in every answer."""
    report: Report = judge.report.model_validate(example(judge.report))
    found = judge.findings(**{name: getattr(report, name) for name in judge.findings.model_fields})
    return replace(judge, prepare=lambda *_: Textless(), judge=lambda *_: found, fetch=None)


def _handler(judge: Judge, resources: Resources) -> Handler:
    return judging.judging_handler(constant(judge), resources)


def _backend(settings: Settings) -> EmbeddingBackend:
    del settings
    return OneVector()


def main() -> None:
    """Replace what judges, then run the command."""
    for module in (citations, grounding, quality):
        module.judging_handler = _handler  # type: ignore[attr-defined]
    opening.open_backend = _backend
    cli.main()


if __name__ == "__main__":
    main()
