"""Claims are held against results of tools by their details: figures, dates, names of rows, extremes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim
from workers.evaluation.tools.tool_lists import disordered

MILLS = [
    {"mill": "Ardo", "site": "north", "tonnes": 412, "downtime_s": 5400, "cost_cents": 129900, "certified": True},
    {"mill": "Belmar", "site": "north", "tonnes": 388, "downtime_s": 300, "cost_cents": 45050, "certified": False},
    {"mill": "Corvo", "site": "south", "tonnes": 530, "downtime_s": 7320, "cost_cents": 8999, "certified": True},
]
CALL = {"month": "2026-03", "customer": "Delta Paper", "limit": 3}
DISK = {"host": "web-3", "memory": {"usedBytes": 483183821, "limitBytes": 536870912}, "load_ratio": 0.38, "started_at": 1773302700,
        "ended_at": 1773310800, "last_error": None, "wind": {"speed_ms": 11.4, "gust_ms": 17.9}}  # fmt: skip


def verdict(claim: str, result: Any = MILLS, *, question: str = "", documents: tuple[str, ...] = ()) -> str | None:
    content = result if isinstance(result, str) else json.dumps(result)
    found = check_claim(claim, question, ToolResults([content], [CALL], [question], documents))
    return found.verdict if found else None


@pytest.mark.parametrize(
    "claim",
    [
        "The three mills made 1,330 tonnes in total.",
        "On average a mill made about 443 tonnes.",
        "Corvo made 142 tonnes more than Belmar.",
        "Corvo made 530 tonnes, the most of all mills.",
        "Belmar had the shortest downtime, 5 minutes.",
        "Ardo was down for 1 hour and 30 minutes and Corvo for 2 hours and 2 minutes.",
        "Altogether it cost $1,839.49.",
        "Two mills are certified.",
        "Two of the mills are in the north.",
        "The second highest output was Ardo's, 412 tonnes.",
        "Of the northern mills Ardo made the most, 412 tonnes.",
        "Ardo accounts for about 31% of the output.",
        "In March 2026 Delta Paper bought from 3 mills.",
    ],
)
def test_right_claims_follow_from_rows(claim: str) -> None:
    assert verdict(claim) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The three mills made 1,430 tonnes in total.",
        "On average a mill made about 480 tonnes.",
        "Corvo made 412 tonnes.",
        "Ardo made 530 tonnes and Corvo 412.",
        "Ardo made 412 tonnes, the most of all mills.",
        "Belmar had the longest downtime, 5 minutes.",
        "Ardo was down for 1 hour and 50 minutes.",
        "Altogether it cost $1,939.49.",
        "The second highest output was Belmar's, 388 tonnes.",
        "Ardo accounts for about 47% of the output.",
        "In April 2026 Ardo made 412 tonnes.",
        "Belmar is a certified mill.",
        "Dorval made 412 tonnes and Ardo 388.",
    ],
)
def test_wrong_claims_do_not(claim: str) -> None:
    assert verdict(claim) in ("contradicted", "unsupported")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The container uses about 461 MiB of its 512 MiB.", "supported"),
        ("The container uses about 90% of its memory.", "supported"),
        ("The container uses about 97% of its memory.", "unsupported"),
        ("The load is about 38%.", "supported"),
        ("The load is about 3.8%.", "unsupported"),
        ("It took 2 hours and 15 minutes.", "supported"),
        ("It took 3 hours and 15 minutes.", "unsupported"),
        ("The wind is about 11 m/s.", "supported"),
        ("The wind is about 18 m/s.", "contradicted"),
        ("Gusts reach 18 m/s.", "supported"),
        ("No error was recorded.", "supported"),
        ("The wind blows at about 41 km/h.", "supported"),
    ],
)
def test_units_are_converted_and_rounded_as_assistants_write_them(claim: str, expected: str) -> None:
    assert verdict(claim, DISK) == expected


@pytest.mark.parametrize(("celsius", "expected"), [("18.5 °C", "supported"), ("28.5 °C", "unsupported")])
def test_kelvin_become_degrees(celsius: str, expected: str) -> None:
    assert verdict(f"It is {celsius} in Cork.", {"name": "Cork", "temp": 291.65}) == expected


def test_a_share_of_a_document_is_taken_of_a_result() -> None:
    bonus = ("Sales staff receive 1.5% of their sales.",)
    sales = [{"rep": "Kofi", "net_eur": 215000}, {"rep": "Astrid", "net_eur": 182400}]
    assert verdict("Kofi's 215,000 euros give a bonus of €3,225.", sales, documents=bonus) == "supported"
    assert verdict("Kofi's 215,000 euros give a bonus of €3,525.", sales, documents=bonus) == "unsupported"


def test_a_claim_on_a_document_alone_is_left_to_the_other_rules() -> None:
    assert verdict("Textiles may be returned within 14 days.", documents=("Textiles: 14 days.",)) is None


def test_a_list_out_of_order_and_exchanged_columns_are_told() -> None:
    results = ToolResults([json.dumps(MILLS)], [], [])
    right = ["The mills by output, highest first:", "Corvo: 530 t", "Ardo: 412 t", "Belmar: 388 t"]
    wrong = [right[0], right[1], right[3], right[2]]
    assert disordered(right, "", results) == frozenset()
    assert disordered(wrong, "", results) == {2, 3}
    exchanged = ["Mills:", "Corvo: 530 t, 7,320 s", "Ardo: 5,400 s, 412 t", "Belmar: 388 t, 300 s"]
    assert disordered(exchanged, "", results) == {2}


def test_a_claim_without_details_of_the_results_is_left_to_the_other_rules() -> None:
    assert verdict("Paper making is an old craft.") is None
    assert check_claim("It is 20 degrees.", "", ToolResults([], [], [])) is None


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_any_claim_and_result_are_held_against_each_other_without_an_error(claim: str, content: str) -> None:
    results = ToolResults([content, json.dumps(MILLS)], [content], [claim])
    check_claim(claim, content, results)
    disordered([claim, content], claim, results)


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        ({"disk": {"total_bytes": 536870912000, "used_bytes": 402653184000}}, "375 GB of 500 GB are used.", "475 GB of 500 GB are used."),
        ({"tests": {"passed": 183, "failed": 7, "skipped": 10}}, "91.5% of the 200 tests passed.", "95.5% of the 200 tests passed."),
        ({"distance_m": 42195, "time_s": 10800}, "The average speed was 14.1 km/h.", "The average speed was 17.1 km/h."),
        ({"weight_g": 1850}, "It weighs about 4.1 pounds.", "It weighs about 5.1 pounds."),
    ],
)  # fmt: skip
def test_derived_figures_are_given_in_the_units_that_people_use(result: Any, right: str, wrong: str) -> None:
    assert verdict(right, result) == "supported"
    assert verdict(wrong, result) != "supported"


CHANNELS = "channel,sessions,conversions\norganic search,4200,84\npaid search,1800,54\ndirect,2400,36\nemail,1000,31\nTOTAL,9400,205\n"
FREEZER = "03:00 -18.2\n03:10 -16.4\n03:20 -14.1\n03:30 -12.7\n03:40 -13.9\n"
RUNS = (
    "date,weekday,distance_km,duration\n2026-03-02,Mon,5.0,27:30\n2026-03-05,Thu,8.0,42:40\n2026-03-08,Sun,10.0,58:20\n"
)
LOANS = '<loans><loan title="Stoner" due="2026-03-11" returned="false"/><loan title="Circe" due="2026-02-27" returned="true"/></loans>'
SPENT = "date,merchant,category,amount_eur\n2026-03-02,Lidl,groceries,41.20\n2026-03-05,Shell,fuel,52.00\n2026-03-09,Aldi,groceries,36.80\n"
INVOICE = '[{"desc": "Tie-down strap", "qty": 12, "unit_net": 14.5, "vat_rate": 20}, {"desc": "Car seat", "qty": 2, "unit_net": 85.0, "vat_rate": 5}]'
FLIGHTS = '[{"carrier": "TAP", "via": [], "price": 612}, {"carrier": "Aer Lingus", "via": ["DUB"], "price": 538}, {"carrier": "Condor", "via": ["FRA"], "price": 455}]'
FLATS = (
    '[{"address": "12 Elm St", "bedrooms": 2, "rent": 1350}, {"address": "31 Pine Ct", "bedrooms": 2, "rent": 1450}]'
)


@pytest.mark.parametrize(
    ("claim", "result", "expected"),
    [
        ("Organic search leads with 84 of the 205 conversions.", CHANNELS, "supported"),
        ("Paid search leads with 54 of the 205 conversions.", CHANNELS, "contradicted"),
        ("The four channels had 205 conversions in total.", CHANNELS, "supported"),
        ("There are four channels.", CHANNELS, "supported"),
        ("There are five channels.", CHANNELS, "contradicted"),
        ("The warmest value, -12.7 °C, was logged at 03:30.", FREEZER, "supported"),
        ("The warmest value, -18.2 °C, was logged at 03:00.", FREEZER, "contradicted"),
        ("You were quickest on Thursday, averaging 5:20 per kilometre.", RUNS, "supported"),
        ("Stoner has to be returned.", LOANS, "supported"),
        ("Stoner was returned.", LOANS, "contradicted"),
        ("The largest of them was €41.20 at Lidl on the 2nd.", SPENT, "supported"),
        ("The largest expense was €41.20 at Lidl.", SPENT, "contradicted"),
        ("VAT on the straps is £34.80.", INVOICE, "supported"),
        ("VAT on the straps is £38.40.", INVOICE, "unsupported"),
        ("The flight with Aer Lingus goes through Dublin.", FLIGHTS, "supported"),
        ("The flight with Aer Lingus goes through Madrid.", FLIGHTS, "unsupported"),
    ],
)
def test_totals_signs_paces_and_chosen_rows_are_read_as_people_mean_them(
    claim: str, result: str, expected: str
) -> None:
    assert verdict(claim, result) == expected


@pytest.mark.parametrize(("amount", "expected"), [("$50", "supported"), ("$90", "unsupported")])
def test_a_distance_to_a_figure_of_the_question_is_calculated(amount: str, expected: str) -> None:
    question = "Do any of these flats cost less than $1,400?"
    assert verdict(f"31 Pine Ct is {amount} above your ceiling.", FLATS, question=question) == expected
