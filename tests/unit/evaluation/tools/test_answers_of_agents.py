"""Hold sentences of agents against results as services return them, each beside a false one."""

import json
from typing import Any

import pytest

from workers.evaluation.facts.calculation.written_calculations import borne_out
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim
from workers.evaluation.tools.tool_lists import disordered

RUN = {"run": {"started_at": "2026-03-02T08:15:00Z", "finished_at": "2026-03-02T08:40:00Z", "owner": "Ada Moss"}}
SHELVES = [
    {"item": "Rice", "in_store": 12, "minimum": 20, "supplier": "Paddy"},
    {"item": "Beans", "in_store": 40, "minimum": 25, "supplier": "Paddy"},
]
LINES = "2026-05-01T10:00:00Z INFO reading orders.csv\n2026-05-01T10:00:04Z ERROR orders.csv: row 30917: bad date"
SITES = [
    {"site": "north", "load_pct": 41.28, "alerts": 1},
    {"site": "south", "load_pct": 41.2, "alerts": 3},
]
TALKS = {
    "talks": [
        {"title": "Ports", "speaker": {"name": "Ada Moss"}},
        {"title": "Tides", "speaker": {"name": "Ben Ito"}},
        {"title": "Locks", "speaker": {"name": "Ada Moss"}},
    ]
}
TRIPS = [
    {"trip": "T1", "operator": "Norda", "stops": 0, "fare": {"amount": 80.5, "currency": "EUR"}},
    {"trip": "T2", "operator": "Sudio", "stops": 2, "fare": {"amount": 61.0, "currency": "EUR"}},
]
STAFF = [
    {"person": "Ada Moss", "remote": True, "years": 4},
    {"person": "Ben Ito", "remote": False, "years": 6},
    {"person": "Cleo Ray", "remote": True, "years": 2},
]
RATES = {"base": "EUR", "rates": {"NOK": 11.5, "GBP": 0.9}}

PAIRS: dict[str, tuple[Any, str, str, str]] = {
    "a time since the epoch under any key": (
        {"plan": "pro", "next_charge_attempt": 1767225600},
        "When is the next attempt?",
        "The next attempt is on 1 January 2026.",
        "The next attempt is on 4 January 2026.",
    ),
    "a date behind a number of days of a key": (
        {"issued": "2026-03-01", "payment_terms_days": 45},
        "When is it due?",
        "The invoice is due on 15 April.",
        "The invoice is due on 25 April.",
    ),
    "the zone of a time": (
        RUN,
        "When did it start?",
        "The run started at 08:15 UTC.",
        "The run was started by Bert.",
    ),
    "the title of a column": (
        SHELVES,
        "What do we need?",
        "Item: Rice; Short by: 8",
        "Item: Rice; Short by: 11",
    ),
    "a number behind its word in a log": (
        LINES,
        "Why did it fail?",
        "It failed on row 30917 of orders.csv.",
        "It failed on row 30971 of orders.csv.",
    ),
    "a figure with which another one begins": (
        SITES,
        "How busy are the sites?",
        "north is at 41.28 % with a single alert, and south at 41.2 % with three.",
        "north is at 41.2 % with a single alert, and south at 41.28 % with three.",
    ),
    "out of stock": (
        {"name": "Lamp", "in_stock": False, "price": 20},
        "Can I get it?",
        "It is currently out of stock.",
        "It is currently in stock.",
    ),
    "rows that a claim leaves out": (
        STAFF,
        "Who works remotely?",
        "Everybody except Ben Ito can be remote.",
        "Ben Ito is remote.",
    ),
    "a state of another thing": (
        {"item": "Headset", "opened": True, "returnable": True},
        "Can it be returned?",
        "The headset is returnable until the shop closes.",
        "The headset is not returnable.",
    ),
    "an amount of the question in another currency": (
        RATES,
        "What are 200 euros in kroner?",
        "That is NOK 2,300.00 at a rate of 11.5.",
        "That is NOK 2,600.00 at a rate of 11.5.",
    ),
    "an amount of the question whose currency has two words": (
        {"base": "USD", "rates": {"CHF": 0.8}},
        "What are 150 US dollars in Swiss francs?",
        "That is CHF 120.00.",
        "That is CHF 187.50.",
    ),
    "a difference of money beside a column of counts": (
        TRIPS,
        "Which is cheaper?",
        "The only non-stop trip is T1, which is €19.50 more than the trip of Sudio.",
        "The only non-stop trip is T1, which is €29.50 more than the trip of Sudio.",
    ),
    "a limit beside the names of rows": (
        STAFF,
        "Who has been here for more than three years?",
        "Only Ada Moss (four years) and Ben Ito (six years) have been here for more than three years.",
        "Only Ada Moss (six years) and Ben Ito (four years) have been here for more than three years.",
    ),
    "a count beside a field of that name": (
        TRIPS,
        "Which trips are there?",
        "T1 (Norda): no stops, €80.50",
        "T1 (Norda): two stops, €80.50",
    ),
    "how often something was done": (
        {"job": "sync", "retry_count": 3, "succeeded": True, "parts": 2},
        "What happened to the job?",
        "The job succeeded after being retried three times.",
        "The job succeeded after being retried twice.",
    ),
    "the only row that is left out": (
        STAFF,
        "Who works remotely?",
        "All except Ben Ito are remote.",
        "All except Cleo Ray are remote.",
    ),
    "rows of somebody named before": (
        TALKS,
        "Who speaks?",
        "So two of the three talks are hers.",
        "So four of the three talks are hers.",
    ),
}


def _verdict(content: Any, question: str, claim: str) -> str | None:
    text = content if isinstance(content, str) else json.dumps(content)
    finding = check_claim(claim, question, ToolResults([text], [], [question]))
    return finding.verdict if finding else None


@pytest.mark.parametrize(("content", "question", "right", "false"), PAIRS.values(), ids=PAIRS.keys())
def test_a_right_sentence_is_supported_and_a_false_one_is_not(
    content: Any, question: str, right: str, false: str
) -> None:
    assert _verdict(content, question, right) == "supported"
    assert _verdict(content, question, false) in ("contradicted", "unsupported")


def test_a_field_of_several_words_confirms_what_it_says() -> None:
    record = {"id": "r1", "rollback_available": True}
    assert _verdict(record, "Is it done?", "If anything goes wrong, a rollback is available.") == "supported"
    assert (
        _verdict({**record, "rollback_available": False}, "Is it done?", "A rollback is available.") == "contradicted"
    )


def test_rows_in_the_order_of_the_result_are_no_ranking() -> None:
    stages = [{"stage": "lint", "seconds": 40}, {"stage": "tests", "seconds": 90}, {"stage": "image", "seconds": 15}]
    results = ToolResults([json.dumps(stages)], [], [])
    lines = ["lint: 40 seconds", "tests: 90 seconds, the longest stage", "image: 15 seconds"]
    assert not disordered(lines, "How long did each stage take, and which one was the longest?", results)
    assert disordered(lines, "Sort the stages by their time, the longest first.", results)


def test_figures_of_a_calculation_in_brackets_are_borne_out() -> None:
    known = {3.0, 12.0, 5.0}
    assert 41.0 in borne_out(["You pay $41 in total (3 × $12 + $5)."], known)[0]
    assert 44.0 not in borne_out(["You pay $44 in total (3 × $12 + $5)."], known)[0]


def test_a_worked_figure_needs_no_row() -> None:
    tickets = "<table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Adult</td><td>$12</td></tr><tr><td>Child</td><td>$5</td></tr></table>"
    results = ToolResults([tickets], [], ["Three adults and a child?"])
    claim = "Three adults and one child pay $41 in total (3 × $12 + $5)."
    worked = borne_out([claim], {3.0, 1.0, 12.0, 5.0})[0]
    finding = check_claim(claim, "Three adults and a child?", results, worked)
    assert finding is not None and finding.verdict == "supported"


def test_an_initial_in_bold_ends_no_sentence() -> None:
    text = "Only **P. Arslan** and **R. Osei** are open to it. We chose **plan B.** The rest is fine."
    assert [each.text for each in segment(text)] == [
        "Only **P. Arslan** and **R. Osei** are open to it.",
        "We chose **plan B.** The rest is fine.",
    ]
