"""Values of results are read as programs of many countries write them, and compared as such."""

import json
from typing import Any

import pytest

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.results.tool_tables import cell_of
from workers.evaluation.tools.tool_claims import check_claim


@pytest.mark.parametrize(
    ("key", "text", "number", "unit"),
    [
        ("price", "1.299,00", 1299.0, ""),
        ("price", "1.299,00 €", 1299.0, ""),
        ("price", "EUR 12,50", 12.5, ""),
        ("price", "12,50 EUR", 12.5, ""),
        ("price", "1,299", 1299.0, ""),
        ("price", "1.299", 1.299, ""),
        ("change", "-$50.00", -50.0, ""),
        ("change", "−$50.00", -50.0, ""),
        ("change", "USD -5", -5.0, ""),
        ("list", "1,2,3", None, ""),
        ("term", "P1M", 1.0, "months"),
        ("term", "P1Y6M", 18.0, "months"),
        ("term", "PT1M", 60.0, "s"),
        ("term", "P2W", 1209600.0, "s"),
        ("term", "P1DT2H", 93600.0, "s"),
        ("term", "P1H", None, ""),
        ("term", "P1M3D", None, ""),
        ("timeout", "5m", 300.0, "s"),
        ("age", "3d", 259200.0, "s"),
        ("retentionPeriod", "7d", 604800.0, "s"),
        ("elapsed", "1h30m", 5400.0, "s"),
        ("left", "2d4h", 187200.0, "s"),
        ("width", "5m", 5.0, "m"),
        ("length", "5m", 5.0, "m"),
        ("usage", "5m", 5.0, "m"),
        ("view", "3d", None, ""),
    ],
)
def test_a_value_is_read_with_its_unit(key: str, text: str, number: float | None, unit: str) -> None:
    cell = cell_of((key,), text)
    assert (cell.number, cell.unit, cell.text) == (number, unit, text)


ROWS = {
    "price": [{"laptop": "Astra", "price": "1.299,00 €"}, {"laptop": "Boreal", "price": "1.099,50 €"}],
    "term": [{"plan": "Basic", "notice": "P1M"}, {"plan": "Plus", "notice": "P3M"}],
    "song": [{"track": "Dawn", "duration": "3:45"}, {"track": "Dusk", "duration": "4:10"}],
    "pods": [{"pod": "loki-0", "age": "3d"}, {"pod": "loki-1", "age": "5m"}],
    "bills": [{"account": "Alder", "balance": "-$50.00"}, {"account": "Birch", "balance": "$20.00"}],
    "goods": [{"item": "Lamp", "tags": ["new", "sale"]}, {"item": "Desk", "tags": ["new", "oak", "large"]}],
}


@pytest.mark.parametrize(
    ("rows", "right", "wrong"),
    [
        ("price", "The Boreal costs 1,099.50 euros.", "The Boreal costs 1,299 euros."),
        ("price", "The Astra is the most expensive laptop.", "The Boreal is the most expensive laptop."),
        ("term", "Basic can be cancelled with a notice of 1 month.", "Basic can be cancelled with a notice of 1 minute."),
        ("term", "The notice of Plus is 3 months.", "The notice of Plus is 1 month."),
        ("song", "Dawn lasts 3 minutes and 45 seconds.", "Dawn lasts 4 minutes and 10 seconds."),
        ("song", "Dusk is the longest track.", "Dawn is the longest track."),
        ("pods", "loki-1 has been running for 5 minutes.", "loki-0 has been running for 5 minutes."),
        ("pods", "loki-0 is 3 days old.", "loki-0 is 3 hours old."),
        ("bills", "The balance of Alder is -$50.", "The balance of Birch is -$50."),
        ("goods", "The Lamp has 2 tags.", "The Lamp has 3 tags."),
        ("goods", "The Desk has 3 tags.", "The Desk has 4 tags."),
    ],
)  # fmt: skip
def test_a_claim_is_compared_with_such_a_value_of_its_row(rows: str, right: str, wrong: str) -> None:
    def verdict(claim: str) -> str | None:
        found = check_claim(claim, "", ToolResults([json.dumps(ROWS[rows])], [], []))
        return found and found.verdict

    assert verdict(right) == "supported"
    assert verdict(wrong) in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    ("record", "right", "wrong"),
    [
        ({"city": "Graz", "temp_c": -5}, "It is minus 5 °C in Graz.", "It is 5 °C in Graz."),
        ({"city": "Graz", "temp_c": -5}, "It is –5 °C in Graz.", "It is –8 °C in Graz."),
        ({"city": "Graz", "temp_c": 5}, "It is 5 °C in Graz.", "It is −5 °C in Graz."),
        ({"film": "Vela", "runtime": "1:45"}, "Vela runs for 1 hour and 45 minutes.", "Vela runs for 1 hour and 15 minutes."),
    ],
)  # fmt: skip
def test_signs_and_times_of_a_record_count(record: Any, right: str, wrong: str) -> None:
    results = ToolResults([json.dumps(record)], [], [])
    found, other = check_claim(right, "", results), check_claim(wrong, "", results)
    assert found is not None and found.verdict == "supported"
    assert other is not None and other.verdict != "supported"
