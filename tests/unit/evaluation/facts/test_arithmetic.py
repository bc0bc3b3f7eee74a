"""Looking numbers up finds what comparing each with each would."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.evaluation.facts.calculation.arithmetic import Pool, is_derived, same_quantity
from workers.evaluation.facts.quantities import read_quantities

UNITS = ("s", "min", "ms", "%", "$", "GiB", "restarts", "", "km", "million")
NUMBERS = st.builds(
    lambda value, unit, about: f"{about}{value} {unit}",
    st.sampled_from(
        ("0", "0.5", "1", "10", "47", "48", "60", "0.8", "3.000", "3,000", "3241000", "3.2", "99.95", "1000", "2.5")
    )
    | st.integers(0, 10**9).map(str),
    st.sampled_from(UNITS),
    st.sampled_from(("", "", "about ", "-")),
)
TEXTS = st.lists(NUMBERS, max_size=12).map("; ".join)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, TEXTS)
def test_a_pool_has_what_is_the_same_as_one_of_it(claim: str, evidence: str) -> None:
    pool = read_quantities(evidence)
    known = Pool(pool)
    for number in read_quantities(claim) + pool:
        assert known.has(number) == any(same_quantity(number, other) for other in pool)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("60 minutes", "25 minutes; 35 minutes"),
        ("$900", "$200; $300; $400"),
        ("15 minutes", "47 minutes; 32 minutes"),
        ("50 %", "$200,000; $300,000"),
        ("75 %", "60 tests; 80 tests"),
        ("20 orders", "140 orders; 7 days"),
        ("$2,350", "47 minutes; $3,000 per hour"),
        ("$600", "$50 a month; 12 months"),
        ("€360", "€90 per night; 4 nights"),
        ("25 animals", "12 cats; 13 dogs"),
    ],
)
def test_a_number_follows_from_others_of_fitting_dimensions(claim: str, evidence: str) -> None:
    assert is_derived(read_quantities(claim)[0], read_quantities(evidence))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("25 minutes", "47 minutes; 32 minutes"),
        ("$141,000", "47 minutes; $3,000 per hour"),
        ("33 %", "$200,000; $300,000"),
        ("$60", "25 minutes; 35 minutes"),
        ("$360", "€90 per night; 4 nights"),
        ("3 restarts", "2 restarts; 1 restart"),
    ],
)
def test_a_number_follows_from_nothing_that_has_other_dimensions_or_another_value(claim: str, evidence: str) -> None:
    assert not is_derived(read_quantities(claim)[0], read_quantities(evidence))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("15 screws", "10 screws; 20 nails"),
        ("$150", "$100; $200"),
        ("20 minutes", "10 minutes; 16 minutes; 34 minutes"),
    ],
)
def test_a_number_follows_from_a_mean_only_if_it_is_called_one(claim: str, evidence: str) -> None:
    number, inputs = read_quantities(claim)[0], read_quantities(evidence)
    assert not is_derived(number, inputs)
    assert not is_derived(number, inputs, is_compared=True)
    assert not is_derived(number, inputs, only_sums=True)
    assert is_derived(number, inputs, is_mean=True)


def test_a_total_follows_from_sums_alone() -> None:
    total, inputs = read_quantities("70 minutes")[0], read_quantities("2 stops; 35 minutes; 25 minutes")
    assert not is_derived(total, inputs, only_sums=True)
    assert is_derived(read_quantities("60 minutes")[0], inputs, only_sums=True)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(10, 10**6), st.integers(10, 10**6))
def test_the_sum_of_two_amounts_is_always_found(one: int, two: int) -> None:
    assert is_derived(read_quantities(f"${one + two}")[0], read_quantities(f"${one}; ${two}"))
