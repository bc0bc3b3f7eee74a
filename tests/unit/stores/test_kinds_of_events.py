"""A kind of review events that is added must not be missing from the audit: the statements take all kinds from the schema."""

import re
from pathlib import Path
from typing import get_args

import pytest

from schemas.review import OF_PERSONS, ReviewEventKind
from workers.stores.queries import audit_queries
from workers.stores.queries.audit_queries import AUTOMATIC, COUNTED, LISTED, STEPS

KINDS = get_args(ReviewEventKind)
QUERIES = Path(audit_queries.__file__).parent


def kinds_after(statement: str, before: str) -> list[set[str]]:
    """The quoted kinds of each list that follows these words."""
    return [set(re.findall(r"'(\w+)'", each)) for each in re.findall(rf"{re.escape(before)} \(([^)]*)\)", statement)]


def test_the_audit_lists_every_kind_but_the_opening_of_a_request() -> None:
    assert set(STEPS) == set(KINDS) - {"assigned"}
    listed = kinds_after(LISTED["decisions"], "kind IN")
    assert set(STEPS) in listed
    assert all(each in (set(STEPS), set(OF_PERSONS), {"opinion_asked", "opinion_ended"}) for each in listed), listed


def test_no_step_counts_as_a_hidden_decision() -> None:
    (left_out,) = kinds_after(COUNTED["decisions"], "ruling NOT IN")
    assert left_out == {*STEPS, AUTOMATIC} - {"undone"}


@pytest.mark.parametrize("name", ["audit_queries.py", "reviews/review_queries.py"])
def test_a_list_of_kinds_stands_in_the_schema_alone(name: str) -> None:
    source = (QUERIES / name).read_text(encoding="utf-8")
    assert re.findall(r"'given'|\"given\"|opinion_(?:asked|ended)|'unassigned'|'resumed', '", source) == []
