"""Attribute a fault to the step of a run that stated it first: the call that brought an unsupported figure.

The figures and names of a claim that no source has decide; a claim without any is looked for by its words. What no
step states comes from the call that wrote the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.answers import Step
from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.sources.earlier_turns import pinned_words
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.wording import plain_text
from workers.evaluation.text.words import content_words

MAX_READ = 5_000
"""Most code points of a step's output that are read."""
MIN_PINNED = 0.3
"""Least share of a claim's words in the sentence of a step that has its figures and names."""
MIN_WORDS = 0.7
"""The same for a claim without figures and names."""


@dataclass(frozen=True, slots=True)
class StepWords:
    """Hold the words of each sentence of a step's output."""

    number: int
    sentences: tuple[frozenset[str], ...]


def words_of_steps(steps: Sequence[Step]) -> tuple[StepWords, ...]:
    """Return the words of the steps, numbered from 1."""
    found = []
    for number, step in enumerate(steps, 1):
        text = step.output[:MAX_READ]
        spend(len(text))
        sentences = tuple(content_words(plain_text(sentence.text)) for sentence in segment(text))
        found.append(StepWords(number, sentences))
    return tuple(found)


def first_step(claim: ExtractedClaim, units: Sequence[EvidenceUnit], steps: Sequence[StepWords]) -> int | None:
    """Return the number of the first step that states a claim; ``None`` if none does.

    Args:
        claim: an unsupported or contradicted claim.
        units: the evidence; its figures are no fault of a step.
        steps: the words of the steps.
    """
    words = content_words(claim.plain)
    pinned = pinned_words(claim.plain)
    lacking = pinned - frozenset[str]().union(*(unit.words for unit in units)) or pinned
    spend(len(words) + sum(len(step.sentences) for step in steps))
    least = MIN_PINNED if lacking else MIN_WORDS
    for step in steps:
        for sentence in step.sentences:
            if words and lacking <= sentence and len(words & sentence) >= least * len(words):
                return step.number
    return None
