"""Restore a verb and its object that a later clause leaves out behind its auxiliary; leave other clauses as they are."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.forms.left_out_words import restore_left_out


@pytest.mark.parametrize(
    ("before", "text", "restored"),
    [
        ("", "School groups need a reservation; individual visitors do not.", "School groups need a reservation; individual visitors do not need a reservation."),
        ("School groups need a reservation.", "Individual visitors do not.", "Individual visitors do not need a reservation."),
        ("", "Members may bring guests, but visitors may not.", "Members may bring guests, but visitors may not bring guests."),
        ("", "The pool is heated; the sauna is not.", "The pool is heated; the sauna is not heated."),
        ("", "Visitors may not park here; residents may.", "Visitors may not park here; residents may park here."),
        ("", "The old pump does not need oil, the new one does.", "The old pump does not need oil, the new one does need oil."),
        ("Staff can enter the lab.", "Students cannot.", "Students cannot enter the lab."),
    ],
)  # fmt: skip
def test_the_verb_of_the_clause_before_is_restored(before: str, text: str, restored: str) -> None:
    assert restore_left_out(text, before) == restored
    assert restore_left_out(restored, before) == restored


@pytest.mark.parametrize(
    "text",
    [
        "The shop is open on Sunday; on Monday it is not.",
        "He can swim and she cannot.",
        "The pool is heated; the sauna is not open.",
        "Members may bring guests, as visitors know.",
        "It does what others do not.",
    ],
)
def test_clauses_without_such_a_verb_stay_as_they_are(text: str) -> None:
    assert restore_left_out(text) == text


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("School groups need a reservation; individual visitors do not.", "Individual visitors do not need a reservation.", "Individual visitors need a reservation."),
        ("Members may bring guests, but visitors may not.", "Members may bring guests.", "Visitors may bring guests."),
        ("The pool is heated; the sauna is not.", "The sauna is not heated.", "The sauna is heated."),
        ("Coffee contains caffeine, rooibos tea does not.", "Rooibos tea contains no caffeine.", "Rooibos tea contains caffeine."),
        ("The old pump does not need oil, the new one does.", "The new pump needs oil.", "The new pump does not need oil."),
        ("The old pump does not need oil, the new pump needs oil.", "The new pump needs oil.", "The old pump needs oil."),
        ("Staff can enter the lab. Students cannot.", "Students cannot enter the lab.", "Students can enter the lab."),
        ("Line 3 runs on Sundays. Line 4 does not.", "Line 4 does not run on Sundays.", "Line 4 runs on Sundays."),
    ],
)  # fmt: skip
def test_readers_are_told_what_holds_for_each(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert verdicts_on("", context, wrong) != {"supported"}
