"""Cursors of lists."""

import pytest

from workers.console.http.paging import encode_cursor, next_cursor, place_of
from workers.console.http.problems import Problem
from workers.stores.queries.answer_queries import Place


def test_a_cursor_holds_the_tenant_and_one_of_an_earlier_version_is_read_without() -> None:
    rows = [{"ms": 5, "name": "a-1", "tenant": "acme"}] * 2
    assert place_of(next_cursor(rows, 1, "ms", "name", "tenant")) == Place(5, "a-1", "acme")
    assert place_of(encode_cursor([5, "a-1"])) == Place(5, "a-1")
    assert next_cursor(rows, 2, "ms", "name", "tenant") is None


@pytest.mark.parametrize(
    "values", [[5], [5, "a-1", 7], [5, "a-1", "acme", "b"], [2**43, "a-1", "acme"], [5, "a", "t" * 401]]
)
def test_another_cursor_is_refused(values: list[int | str]) -> None:
    with pytest.raises(Problem, match="cursor"):
        place_of(encode_cursor(values))
