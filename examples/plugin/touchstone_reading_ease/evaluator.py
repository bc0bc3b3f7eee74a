"""Score how easy an answer is to read."""

from schemas.answers import GeneratedAnswer
from schemas.evaluations import EvaluationFindings
from touchstone_reading_ease.formula import readability
from workers.evaluation.text.languages.language import guess_language
from workers.pipeline.evaluator import EvaluationContext, answer_evaluator

MIN_WORDS = 20
"""Shorter answers are skipped: one long word would decide their score."""


class ReadingEase(EvaluationFindings):
    """Reading ease of an answer, from 0 (very difficult) to 1 (very easy)."""


def evaluate(answer: GeneratedAnswer, _: EvaluationContext) -> ReadingEase:
    """Return the reading ease of an answer; skip answers that are short or not English."""
    found = readability(answer.answer)
    if found is None or found.words < MIN_WORDS:
        return ReadingEase(status="skipped", reason=f"fewer than {MIN_WORDS} words")
    if (language := guess_language(answer.answer)) != "en":
        return ReadingEase(status="skipped", reason=f"the language is {language}, and the formula is for English")
    return ReadingEase(
        score=min(1.0, max(0.0, found.ease / 100)),
        explanation=f"Sentences have {found.words_in_sentence:.0f} words and words have "
        f"{found.syllables_in_word:.1f} syllables on average.",
        details={"words": found.words, "flesch": round(found.ease, 1)},
    )


READING_EASE = answer_evaluator("reading-ease", ReadingEase, evaluate)
