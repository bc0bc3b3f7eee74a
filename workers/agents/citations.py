"""citations: answers.generated → find citations → answers.citations."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationFindings, CitationReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, judging_handler
from workers.inference.embedding import Vector
from workers.steps.citations import find_citations


@dataclass(frozen=True, slots=True)
class _Answer:
    answer: GeneratedAnswer
    texts: tuple[str, ...] = ()


def _judge(prepared: _Answer, _: Mapping[str, Vector]) -> CitationFindings:
    return find_citations(prepared.answer)


CITATIONS_JUDGE = Judge("citations", CitationReport, CitationFindings, _Answer, _judge, embeds=False)
"""The step, which knows no thresholds."""


def _handler(resources: Resources) -> Handler:
    return judging_handler(CITATIONS_JUDGE, resources)


CITATIONS = AgentDefinition("citations", (ANSWERS_GENERATED,), _handler)
