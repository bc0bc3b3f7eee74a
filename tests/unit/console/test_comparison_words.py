"""Check the words for what was found about a corrected text."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.review import CorrectionComparison
from workers.console.presentation.comparison_words import (
    NOT_COMPARED,
    comparison_words,
    doubted_of_saved,
    saved_words,
)

AT = datetime(2026, 12, 1, tzinfo=UTC)
START = "Compared with the sources when it was saved: "


def found(**numbers: Any) -> CorrectionComparison:
    values = {"compared_at": AT, "pipeline_version": "v", "sources": 2, "sources_total": 2} | numbers
    return CorrectionComparison.model_validate(values)


@pytest.mark.parametrize(
    ("comparison", "sentence"),
    [
        (None, NOT_COMPARED),
        (found(supported=3, unsupported=1), f"{START}3 of 4 statements supported, 1 unsupported."),
        (found(supported=1), f"{START}1 of 1 statement supported."),
        (found(contradicted=2, not_checked=1), f"{START}0 of 3 statements supported, 2 contradicted, 1 not checked."),
        (found(said_before=1), f"{START}0 of 1 statement supported, 1 said before, not in the sources."),
        (found(), f"{START}it has no statement that needs a source."),
        (
            found(supported=1, sources_total=7),
            "Compared with 2 of the 7 sources when it was saved: 1 of 1 statement supported.",
        ),
    ],
)
def test_the_sentence_names_every_verdict_that_occurs(comparison: CorrectionComparison | None, sentence: str) -> None:
    assert comparison_words(comparison) == sentence


def test_a_text_in_the_editor_was_not_saved() -> None:
    assert comparison_words(found(supported=1), saved=False) == "Compared with the sources: 1 of 1 statement supported."


def test_records_without_a_correction_have_no_sentence() -> None:
    assert saved_words("", "") == ""
    assert saved_words("", "A text.") == NOT_COMPARED
    assert saved_words(found(supported=1).model_dump_json(), "A text.") == f"{START}1 of 1 statement supported."


def test_a_doubted_statement_is_a_part_of_the_stored_text() -> None:
    doubted = {"verdict": "contradicted", "span": {"start": 5, "end": 11}, "mismatches": ["number"], "number": 2}
    (statement,) = doubted_of_saved("Yes. It is 5. So.", found(contradicted=1, doubted=[doubted]))
    assert statement.text == "It is "
    assert statement.reason == (
        "The evidence says something else than the claim. It differs in number. The evidence is in source [2]."
    )
