"""Figures that follow from a result by a calculation that the words of the claim name."""

import json
from typing import Any

import pytest

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim


def verdict(claim: str, question: str, result: Any) -> str | None:
    found = check_claim(claim, question, ToolResults([json.dumps(result)], [], [question]))
    return found.verdict if found else None


@pytest.mark.parametrize(
    ("question", "result", "right", "wrong"),
    [
        ("What's the fuel consumption?", {'distance_km': 640, 'fuel_l': 41.6}, 'The car used 6.5 litres per 100 km.', 'The car used 7.4 litres per 100 km.'),
        ('What did each guest cost?', {'total_eur': 1260, 'guests': 42}, 'That is 30 euros per guest.', 'That is 35 euros per guest.'),
        ('How much is left of the budget?', {'budget': 50000, 'spent': [{'item': 'a', 'eur': 12500}, {'item': 'b', 'eur': 9300}]}, '28,200 euros of the budget are left.', '26,200 euros of the budget are left.'),
        ('What do the top three make together?', [{'n': 'A', 'v': 50}, {'n': 'B', 'v': 44}, {'n': 'C', 'v': 31}, {'n': 'D', 'v': 20}, {'n': 'E', 'v': 9}], 'The top three make 125 together.', 'The top three make 135 together.'),
        ("What's the weighted mean?", [{'grade': 2.0, 'credits': 5}, {'grade': 3.0, 'credits': 10}], 'The weighted average is 2.67.', 'The weighted average is 2.47.'),
        ("What's the discounted price?", {'price': 80, 'discount_pct': 25}, 'With the discount of 25 % it costs 60.', 'With the discount of 25 % it costs 65.'),
        ('By how many points did it change?', {'before_pct': 41.5, 'after_pct': 47.0}, 'The share rose by 5.5 percentage points.', 'The share rose by 7.5 percentage points.'),
        ('How old is she?', {'name': 'Ina', 'born': '1990-05-04', 'today': '2026-03-02'}, 'Ina is 35 years old.', 'Ina is 39 years old.'),
        ('How many days until the deadline?', {'today': '2026-03-02', 'deadline': '2026-03-20'}, 'There are 18 days left until 20 March.', 'There are 21 days left until 20 March.'),
        ("What's the yearly cost?", {'monthly_fee': 19.9}, 'That is 238.80 a year.', 'That is 248.80 a year.'),
        ('Average per day?', {'total': 9100, 'days': 7}, "That's 1,300 per day on average.", "That's 1,500 per day on average."),
        ("What's the throughput?", {'requests': 54000, 'seconds': 60}, 'That is 900 requests per second.', 'That is 700 requests per second.'),
        ('Average speed?', {'distance_km': 150, 'duration_min': 90}, 'The average speed was 100 km/h.', 'The average speed was 120 km/h.'),
        ('How much more did team A score than B and C together?', [{'t': 'A', 'p': 90}, {'t': 'B', 'p': 30}, {'t': 'C', 'p': 41}], 'A scored 19 more than B and C together.', 'A scored 29 more than B and C together.'),
        ("What's the median?", [{'v': 3}, {'v': 9}, {'v': 4}, {'v': 8}], 'The median is 6.', 'The median is 7.'),
        ('How many are missing?', {'registered': 120, 'present': 97}, '23 are missing.', '27 are missing.'),
        ("What's the interest after a year?", {'principal': 10000, 'rate_pct': 3.5}, 'After a year the interest is 350, so you have 10,350.', 'After a year the interest is 450, so you have 10,450.'),
        ('Area?', {'width_m': 4.5, 'length_m': 6}, 'The room has 27 square metres.', 'The room has 31 square metres.'),
        ('How far ahead is London of New York?', {'London': '2026-03-02T14:00', 'New York': '2026-03-02T09:00'}, 'London is five hours ahead.', 'London is six hours ahead.'),
        ('How many packs do I need?', {'needed': 130, 'per_pack': 24}, 'You need 6 packs of 24.', 'You need 8 packs of 24.'),
        ('How many weeks of stock?', {'stock': 480, 'weekly_use': 60}, 'The stock lasts for 8 weeks.', 'The stock lasts for 11 weeks.'),
        ("What's the growth over the whole period?", [{'y': 2022, 'v': 200}, {'y': 2023, 'v': 230}, {'y': 2024, 'v': 260}], 'From 2022 to 2024 it grew by 30 %.', 'From 2022 to 2024 it grew by 40 %.'),
        ('What is the difference between best and worst?', [{'n': 'x', 't': 12.4}, {'n': 'y', 't': 15.1}, {'n': 'z', 't': 13.0}], 'Best and worst are 2.7 seconds apart.', 'Best and worst are 3.7 seconds apart.'),
        ('Total weight?', [{'item': 'x', 'qty': 3, 'kg': 1.2}, {'item': 'y', 'qty': 2, 'kg': 0.7}], 'Altogether they weigh 5 kg.', 'Altogether they weigh 6 kg.'),
        ('How much VAT is in it?', {'gross': 119, 'vat_pct': 19}, 'Of the 119, 19 are VAT and 100 net.', 'Of the 119, 22 are VAT and 97 net.'),
        ('Split the bill.', {'total': 96, 'people': ['a', 'b', 'c', 'd']}, 'Each of the four pays 24.', 'Each of the four pays 27.'),
        ("What's half of it?", {'amount': 730}, 'Half of it is 365.', 'Half of it is 345.'),
        ('Which share goes to rent?', {'income': 3200, 'rent': 960}, 'Rent takes 30 % of the income.', 'Rent takes 35 % of the income.'),
        ("What's the tip?", {'bill': 48, 'tip_pct': 15}, 'A tip of 15 % is 7.20, so 55.20 in total.', 'A tip of 15 % is 8.20, so 56.20 in total.'),
    ],
)  # fmt: skip
def test_a_calculation_that_is_named_gives_the_right_figure_alone(
    question: str, result: Any, right: str, wrong: str
) -> None:
    assert verdict(right, question, result) == "supported"
    assert verdict(wrong, question, result) in ("unsupported", "contradicted")


def test_without_a_word_for_it_nothing_is_calculated() -> None:
    result = {"price": 80, "discount_pct": 25}
    assert verdict("With the discount it costs 60.", "What does it cost?", result) == "supported"
    assert verdict("The shelf has number 60.", "Which shelf?", result) == "unsupported"


def test_times_in_and_out_add_up() -> None:
    hours = [{"in": "08:30", "out": "12:00"}, {"in": "13:00", "out": "17:15"}]
    assert verdict("You worked 7 hours and 45 minutes.", "How many hours did I work?", hours) == "supported"
    assert verdict("You worked 6 hours and 45 minutes.", "How many hours did I work?", hours) == "unsupported"
