"""Evaluate the consistency of an answer with itself and with earlier answers to the same question.

Method: sentences on one subject (the same names and identifiers, most words in common) are compared for
numbers, dates and negation (`contradiction_checks`). Sentences on different subjects are never inconsistent.
"""

from collections.abc import Sequence
from itertools import combinations

from schemas.quality import Consistency, Contradiction, EarlierAnswer
from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.grounding.sources.evidence import word_cosines
from workers.evaluation.text.words import content_words

SAME_MATTER = 0.6
"""Cosine of their words from which two sentences may concern one subject."""
WORD_OVERLAP = 0.7
"""Share of the shorter sentence's content words that the other sentence must contain."""
OPPOSED = frozenset(("number", "date", "negation"))
MAX_CONTRADICTIONS = 20
"""Maximum number of contradictions to list."""
MAX_SHOWN = 300
"""Maximum length of a shown sentence, code points."""


def evaluate_consistency(own: Sequence[str], earlier: Sequence[tuple[EarlierAnswer, Sequence[str]]]) -> Consistency:
    """Compare the sentences of an answer with each other and with earlier answers.

    Args:
        own: plain sentences of the answer.
        earlier: earlier answers to the same question, with their sentences.
    """
    within = [pair for pair in combinations(own, 2) if _are_near(*pair) and disagree(*pair)]
    temporal: list[Contradiction] = []
    compared = contradicted = 0
    for answer, sentences in earlier:
        pairs = _counterparts(own, sentences)
        against = [pair for pair in pairs if disagree(*pair)]
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


def _are_near(one: str, other: str) -> bool:
    return bool(word_cosines([content_words(one)], [content_words(other)])[0, 0] >= SAME_MATTER)


def _counterparts(own: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each own sentence with the nearest earlier sentence, if one is near enough."""
    if not own or not others:
        return []
    likeness = word_cosines([content_words(each) for each in own], [content_words(each) for each in others])
    best = likeness.argmax(axis=1).tolist()
    return [(own[i], others[j]) for i, j in enumerate(best) if likeness[i, j] >= SAME_MATTER]


def _contradiction(one: str, other: str, answer_id: str | None = None) -> Contradiction:
    return Contradiction(text=one[:MAX_SHOWN], against=other[:MAX_SHOWN], answer_id=answer_id)
