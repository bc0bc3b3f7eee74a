"""Reading ease: what is scored, what is skipped."""

from datetime import UTC, datetime

import pytest
from touchstone_reading_ease.evaluator import READING_EASE, ReadingEase, evaluate
from touchstone_reading_ease.formula import readability

from schemas.answers import GeneratedAnswer
from workers.pipeline.evaluator import EvaluationContext

EASY = "The pump is off. Turn the red key to the left. Wait for the light. Then press the green button and stand back."
HARD = (
    "Notwithstanding the aforementioned organizational considerations, operational responsibility for the "
    "implementation of preventive maintenance procedures remains with the manufacturing administration, "
    "irrespective of contractual obligations."
)


def findings(text: str) -> ReadingEase:
    answer = GeneratedAnswer(answer_id="a-1", answer=text, completed_at=datetime(2026, 11, 2, tzinfo=UTC))
    return evaluate(answer, EvaluationContext())


def test_short_words_and_sentences_score_higher_than_long_ones() -> None:
    easy, hard = findings(EASY), findings(HARD)
    assert easy.score is not None and hard.score is not None
    assert easy.score > 0.9 > 0.1 > hard.score
    assert easy.explanation == "Sentences have 6 words and words have 1.0 syllables on average."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "fewer than 20 words"),
        ("Turn it off.", "fewer than 20 words"),
        ("Die Pumpe ist aus und der Schlüssel ist nicht auf der linken Seite. " * 2, "the language is de"),
    ],
)
def test_answers_that_the_formula_does_not_fit_are_skipped_with_the_reason(text: str, reason: str) -> None:
    found = findings(text)
    assert (found.status, found.score) == ("skipped", None)
    assert reason in (found.reason or "")


def test_code_references_and_addresses_do_not_count() -> None:
    noise = "```\nunquestionably = incomprehensibilities()\n``` [Manufacturing Administration] https://example.com/a/b"
    assert readability(f"{EASY} {noise}") == readability(EASY)


def test_the_evaluator_has_the_name_of_its_entry_point() -> None:
    assert READING_EASE.name == "reading-ease"
