"""Evaluate the consistency of an answer with itself and with earlier answers to the same question.

Method: similar sentences (cosine at least 0.8) on one subject (the same names and identifiers,
most words in common) are compared for numbers, dates and negation (`contradiction_checks`).
Sentences on different subjects are never inconsistent.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.quality import Consistency, Contradiction, EarlierAnswer
from workers.evaluation.facts.contradiction_checks import compare
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.grounding.evidence import cosines

SAME_MATTER = 0.8
"""Cosine from which two sentences may concern one subject (all-MiniLM-L6-v2; paraphrases are above)."""
WORD_OVERLAP = 0.7
"""Share of the shorter sentence's content words that the other sentence must contain."""
OPPOSED = frozenset(("number", "date", "negation"))
MAX_CONTRADICTIONS = 20
"""Maximum number of contradictions to list."""
MAX_SHOWN = 300
"""Maximum length of a shown sentence, code points."""

Vectors = Mapping[str, NDArray[np.float32]]


def evaluate_consistency(
    own: Sequence[str], earlier: Sequence[tuple[EarlierAnswer, Sequence[str]]], vectors: Vectors
) -> Consistency:
    """Compare the sentences of an answer with each other and with earlier answers.

    Args:
        own: plain sentences of the answer.
        earlier: earlier answers to the same question, with their sentences.
        vectors: an L2-normalised vector for each sentence.
    """
    matrix = _matrix(own, vectors)
    within = _within(own, matrix)
    temporal: list[Contradiction] = []
    compared = contradicted = 0
    for answer, sentences in earlier:
        pairs = _counterparts(matrix, _matrix(sentences, vectors))
        against = [(own[i], sentences[j]) for i, j in pairs if disagree(own[i], sentences[j])]
        compared += len(pairs)
        contradicted += len(against)
        temporal += [_contradiction(one, other, answer.answer_id) for one, other in against]
    involved = {sentence for pair in within for sentence in pair}
    return Consistency(
        within=1 - len(involved) / len(own) if own else None,
        temporal=1 - contradicted / compared if compared else None,
        contradictions=[*(_contradiction(*pair) for pair in within), *temporal][:MAX_CONTRADICTIONS],
        earlier=[answer for answer, _ in earlier],
    )


def disagree(one: str, other: str) -> bool:
    """Return true if two sentences make different statements on one subject."""
    first, second = read_details(one), read_details(other)
    shorter = min(len(first.words), len(second.words))
    if not shorter or len(first.words & second.words) < WORD_OVERLAP * shorter:
        return False
    if first.names != second.names or first.codes != second.codes:
        return False
    return bool(OPPOSED & set(compare(one, other)))


def _within(own: Sequence[str], matrix: NDArray[np.float32]) -> list[tuple[str, str]]:
    if len(own) < 2:
        return []
    near = np.argwhere(np.triu(cosines(matrix, matrix) >= SAME_MATTER, k=1))
    return [(own[i], own[j]) for i, j in near.tolist() if disagree(own[i], own[j])]


def _counterparts(own: NDArray[np.float32], others: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Pair each own sentence with the nearest earlier sentence, if one is near enough."""
    if not len(own) or not len(others):
        return []
    likeness = cosines(own, others)
    best = likeness.argmax(axis=1)
    return [(i, int(j)) for i, j in enumerate(best) if likeness[i, j] >= SAME_MATTER]


def _matrix(sentences: Sequence[str], vectors: Vectors) -> NDArray[np.float32]:
    return np.array([vectors[sentence] for sentence in sentences], dtype=np.float32)


def _contradiction(one: str, other: str, answer_id: str | None = None) -> Contradiction:
    return Contradiction(text=one[:MAX_SHOWN], against=other[:MAX_SHOWN], answer_id=answer_id)
