"""The longest time without a record is that between two records, or one and an end of the span."""

from tests.chaos.standstill import longest_gap


def test_the_longest_gap_of_a_span_counts_its_ends() -> None:
    assert longest_gap([13.0, 11.0, 12.5, 9.0, 30.0], 10.0, 14.0) == 1.5
    assert longest_gap([9.0, 12.0], 10.0, 20.0) == 8.0, "nothing until the end"
    assert longest_gap([], 10.0, 14.0) == 4.0
