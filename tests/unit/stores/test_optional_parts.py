"""Leave parts of a statement out only where their parameter is given and empty."""

import pytest

from workers.stores.clickhouse.row_reading import optional, without_empty

STATEMENT = f"SELECT 1 WHERE true{optional('state', ' AND shown' + optional('reviewer', ' AND NOT hidden'))}"


def test_a_part_is_left_out_if_its_parameter_is_empty_also_within_another_part() -> None:
    assert without_empty(STATEMENT, {"state": "held", "reviewer": "ada"}).endswith("AND shown AND NOT hidden")
    assert without_empty(STATEMENT, {"state": "held", "reviewer": ""}).endswith("AND shown")
    assert without_empty(STATEMENT, {"state": "", "reviewer": "ada"}) == "SELECT 1 WHERE true"


def test_a_part_that_hides_rows_is_never_left_out_because_its_parameter_is_missing() -> None:
    with pytest.raises(KeyError, match="reviewer"):
        without_empty(STATEMENT, {"state": "held"})
