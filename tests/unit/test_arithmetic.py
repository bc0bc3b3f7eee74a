"""Looking numbers up finds what comparing each with each would."""

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.steps.arithmetic import DERIVED, Pool, is_derived, same_quantity
from workers.steps.quantities import Quantity, read_quantities

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


@settings(max_examples=400, deadline=None, derandomize=True)
@given(TEXTS, TEXTS)
def test_a_pool_has_what_is_the_same_as_one_of_it(claim: str, evidence: str) -> None:
    pool = read_quantities(evidence)
    known = Pool(pool)
    for number in read_quantities(claim) + pool:
        assert known.has(number) == any(same_quantity(number, other) for other in pool)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(TEXTS, TEXTS)
def test_a_number_is_derived_as_trying_all_pairs_would_find(claim: str, evidence: str) -> None:
    inputs = read_quantities(evidence)
    for number in read_quantities(claim):
        assert is_derived(number, inputs) == _tried(number, inputs)


def _tried(number: Quantity, inputs: list[Quantity]) -> bool:
    values: list[float] = []
    for other in inputs[:8]:
        values += [other.values[0], other.values[0] / 3600] if other.dimension == "time" else other.values[:1]
    tolerance = DERIVED * 4 if number.approximate else DERIVED
    for target in number.values:
        if abs(target) < 10:
            continue
        for index, one in enumerate(values):
            for two in values[index + 1 :]:
                results = [one + two, abs(one - two), one * two]
                results += [one / two, 100 * one / two] if two else []
                results += [two / one, 100 * two / one] if one else []
                if any(abs(target - result) <= tolerance * max(abs(target), abs(result)) for result in results):
                    return True
    return False
