"""What a verifier is asked: windows that hold what the claim is about, within their length."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import ContextChunk
from tests.harness.operations import count_operations
from workers.errors import BudgetExceeded
from workers.evaluation.budget import Budget, spending
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.sources.evidence import EvidenceUnit, collect_evidence
from workers.evaluation.grounding.sources.verifier_evidence import (
    CLAIM,
    WINDOW,
    WINDOW_UNITS,
    claim_text,
    verifier_pairs,
    window,
)
from workers.evaluation.text.words import content_words

SHOP = {
    "name": "Kettle & Crumb",
    "address": "14 Harbour Lane",
    "city": "Port Ellery",
    "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0", "Sunday": None},
    "parking": {"street": True, "lot": False},
    "reviews": [{"text": "The scones were warm. We waited twenty minutes for tea.", "stars": 4}],
}


def units_of(*contents: str) -> tuple[EvidenceUnit, ...]:
    chunks = [ContextChunk(chunk_id=f"c{number}", content=content) for number, content in enumerate(contents)]
    return collect_evidence(chunks, frozenset())


def window_of(text: str, *contents: str) -> str:
    units = units_of(*contents)
    claim = ExtractedClaim(0, len(text), text, text, "factual")
    blank = np.zeros((1, len(units)), dtype=np.float32)
    (pair,) = verifier_pairs([claim], units, blank, blank)
    return pair.evidence


def test_a_claim_over_several_fields_of_a_record_finds_each_of_them() -> None:
    found = window_of("Kettle & Crumb is at 14 Harbour Lane in Port Ellery.", json.dumps(SHOP))
    assert found.startswith("name: Kettle & Crumb; address: 14 Harbour Lane; city: Port Ellery")


def test_the_flattened_whole_of_a_record_does_not_take_the_place_of_its_fields() -> None:
    many = {f"field_{number}": f"value {number}" for number in range(40)} | {"outdoor_seating": True}
    assert "outdoor seating: true" in window_of("Outdoor seating is available.", json.dumps(many))


def test_units_stand_in_their_order_and_sources_on_lines_of_their_own() -> None:
    first = "The kiln runs at night. Glaze is mixed by hand. The shop closed in May."
    found = window_of("The shop closed in May and the kiln runs at night.", first, "Visitors may watch the kiln.")
    assert found.index("The kiln runs") < found.index("The shop closed") < found.index("\nVisitors")


def test_what_two_sources_say_in_the_same_words_is_read_once() -> None:
    assert window_of("The dam holds.", "The dam holds.", "The dam holds.").count("The dam holds.") == 1


def test_meaning_decides_where_words_do_not() -> None:
    units = units_of("Prices fell. Wages rose. Rain came.")
    close = np.array([0.1, 0.2, 0.9], dtype=np.float32)
    order = window(units, content_words("It poured."), close)
    assert order == "Prices fell. Wages rose. Rain came."
    long = units_of(". ".join(f"Sentence number {number} is about wheat{'x' * 90}" for number in range(20)))
    close = np.zeros(len(long), dtype=np.float32)
    close[13] = 0.9
    assert "number 13" in window(long, content_words("It poured."), close)


def test_without_evidence_the_window_is_empty() -> None:
    assert window_of("The dam holds.") == ""


def test_operations_of_a_window_grow_with_the_evidence_and_are_charged() -> None:
    """Once a window is nearly full, units that no longer fit were weighed and dropped one by one."""

    def operations(count: int) -> int:
        units = units_of(". ".join(f"Wheat of field {number} is ripe {'x' * 200}" for number in range(count)))
        assert len(units) == count
        return count_operations(lambda: window(units, content_words("Wheat is ripe."), np.zeros(count)))

    assert operations(400) <= 4.5 * operations(100)
    units = units_of(". ".join(f"Wheat of field {number} is ripe {'x' * 200}" for number in range(50)))
    with pytest.raises(BudgetExceeded), spending(Budget(limit=49)):
        window(units, content_words("Wheat is ripe."), np.zeros(50))


def test_of_a_long_claim_the_end_is_kept() -> None:
    text = claim_text("the last word", "before " * 200)
    assert len(text) == CLAIM
    assert text.endswith("the last word")


@given(st.lists(st.text(min_size=1, max_size=900), max_size=6), st.text(min_size=1, max_size=400))
def test_every_window_is_bounded_and_holds_units_of_the_evidence(contents: list[str], text: str) -> None:
    units = units_of(*contents)
    found = window_of(text, *contents)
    assert len(found) <= WINDOW
    assert bool(found) == bool(units)
    assert sum(unit.text in found for unit in units if len(unit.text) > 200) <= WINDOW_UNITS
