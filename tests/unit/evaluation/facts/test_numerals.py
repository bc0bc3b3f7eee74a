"""Numbers of all scripts and calculated figures are compared by value."""

import pytest

from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.calculation.arithmetic import is_derived
from workers.evaluation.facts.numbers.numerals import plain_numerals
from workers.evaluation.facts.text_details import read_details


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("مدة الضمان ٣٦ شهرًا", "مدة الضمان 36 شهرًا"),
        ("定員は二十四名です", "定員は 24 名 です"),
        ("报名费为两百五十元", "报名费为 250 元 "),
        ("八千円", "8000 円 "),
        ("一亿二千万人", "120000000 人 "),
        ("二〇二四年", "2024 年 "),
        ("７０００원", "7000 원 "),
        ("१८ अध्याय", "18 अध्याय"),
        ("一般", "一般"),
        ("plain text 5", "plain text 5"),
    ],
)
def test_numbers_are_written_with_ascii_digits(written: str, plain: str) -> None:
    assert plain_numerals(written) == plain


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        ("この講座の定員は二十四名です。", "この講座の定員は24名です。", "この講座の定員は36名です。"),
        ("保証期間は24か月です。", "保証期間は24か月です。", "保証期間は36か月です。"),
        ("مدة الضمان ٣٦ شهرًا من تاريخ الشراء.", "مدة الضمان 36 شهرًا.", "مدة الضمان 24 شهرًا."),
        ("В здании 15 этажей.", "В здании 15 этажей.", "В здании 12 этажей."),
        ("报名费为两百五十元。", "报名费为250元。", "报名费为520元。"),
    ],
)
def test_numbers_of_any_script_are_compared(evidence: str, right: str, wrong: str) -> None:
    assert compare(right, evidence) == ()
    assert "number" in compare(wrong, evidence)


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        ("The licence is EUR 7,440 a year.", "The licence comes to EUR 620 a month.", "It comes to EUR 720 a month."),
        (
            "The rent is EUR 14,500 a year.",
            "The rent is about EUR 1,200 a month.",
            "The rent is about EUR 1,500 a month.",
        ),
        ("The fee is $10 a day.", "The fee is $70 a week.", "The fee is $90 a week."),
        (
            "Revenue rose from 10 to 15 million.",
            "Revenue rose by 50 percent.",
            "Revenue rose by 70 percent.",
        ),
    ],
)
def test_a_calculated_amount_is_derived(evidence: str, right: str, wrong: str) -> None:
    inputs = read_details(evidence).quantities
    assert all(is_derived(number, inputs) for number in read_details(right).quantities)
    assert not any(is_derived(number, inputs) for number in read_details(wrong).quantities)


def test_days_between_two_dates_and_times_after_a_duration_are_known() -> None:
    show = "The exhibition opens on 3 March and closes on 30 March 2025."
    assert compare("The exhibition lasts 28 days.", show) == ()
    assert compare("The exhibition lasts 27 days.", show) == ()
    shift = "The night shift begins at 21:30 and lasts eight hours."
    assert compare("The night shift ends at 5:30.", shift) == ()
    assert "date" in compare("The night shift ends at 6:30.", shift)
