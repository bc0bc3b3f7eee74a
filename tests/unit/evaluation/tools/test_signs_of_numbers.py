"""Rows counted by the sign of a number, lists behind a colon, and results of games, in whole answers."""

import json
from typing import Any

import pytest

from benchmarks.answer_cases import ANSWERED_AT, is_alarmed
from schemas.answers import ContextChunk, GeneratedAnswer, ToolCall
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

TRAINS = [{"train": "IC 564", "delay_min": 12}, {"train": "IR 1968", "delay_min": 0}, {"train": "S 12", "delay_min": 4}]
PRODUCTS = [{"name": "Lamp", "stock": 0}, {"name": "Chair", "stock": 7}, {"name": "Table", "stock": 3}, {"name": "Shelf", "stock": 0}]  # fmt: skip
INVOICES = [{"invoice": f"R-10{place}", "days_overdue": days} for place, days in enumerate((12, 0, 31, 0), 1)]
HOSTS = [{"host": "web-1", "errors": 0, "restarts": 2}, {"host": "web-2", "errors": 5, "restarts": 0}, {"host": "web-3", "errors": 0, "restarts": 0}]  # fmt: skip
DEVICES = [{"device": "Sensor A", "online": True, "battery": 80}, {"device": "Sensor B", "online": False, "battery": 15}, {"device": "Sensor C", "online": True, "battery": 42}]  # fmt: skip
MATCH = {"match": {"home": {"team": "Stavne", "score": 2}, "away": {"team": "Lysvik", "score": 3}, "status": "FT"}}


@pytest.fixture(scope="module")
def pipeline() -> LocalPipeline:
    return LocalPipeline(Settings(_env_file=None))


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        (TRAINS, "Two trains are late.", "Three trains are late."),
        (TRAINS, "One train is on time: IR 1968.", "Two trains are on time."),
        (TRAINS, "Two trains are late: IC 564 by 12 minutes and S 12 by 4 minutes.", "Two trains are late: IC 564 by 4 minutes and S 12 by 12 minutes."),
        (TRAINS, "Two trains are late: IC 564 and S 12.", "Three trains are late: IC 564 by 4 minutes, S 12 by 12 minutes and IR 1968."),
        (PRODUCTS, "Two products are sold out: the lamp and the shelf.", "Two products are sold out: the lamp and the chair."),
        (PRODUCTS, "Two products are in stock.", "Three products are in stock."),
        (INVOICES, "Two invoices are overdue.", "Three invoices are overdue."),
        (INVOICES, "Two of the four invoices are overdue.", "All four invoices are overdue."),
        (HOSTS, "One host has errors.", "Two hosts have errors."),
        (HOSTS, "Two hosts have no errors.", "Three hosts have no errors."),
        (DEVICES, "One device has a battery below 20 %.", "Two devices have a battery below 20 %."),
        (MATCH, "Lysvik won 3–2.", "Lysvik won 4–2."),
        (MATCH, "Lysvik beat Stavne 3–2.", "Lysvik beat Stavne 3–1."),
    ],
)  # fmt: skip
def test_a_count_and_a_result_are_those_of_the_rows(
    pipeline: LocalPipeline, result: Any, right: str, wrong: str
) -> None:
    def is_warned_of(text: str) -> bool:
        call = ToolCall(name="look_up", arguments={"id": "7"}, status="success")
        chunk = ContextChunk(chunk_id="c", source_type="tool", content=json.dumps(result), tool=call)
        answer = GeneratedAnswer(
            answer_id="a", query="What did you find?", answer=text, contexts=[chunk], completed_at=ANSWERED_AT
        )
        return is_alarmed(pipeline.evaluate(answer))

    assert not is_warned_of(right)
    assert is_warned_of(wrong)
