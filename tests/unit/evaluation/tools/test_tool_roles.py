"""Sides of a row: who did what to whom, what begins and ends when, what is above a limit; pages and logs."""

import json
from typing import Any

import pytest

from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim


def verdict(claim: str, *results: Any, question: str = "", arguments: Any = None) -> str | None:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in results]
    found = check_claim(claim, question, ToolResults(texts, [arguments] if arguments else [], [question]))
    return found.verdict if found else None


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        ({"from": "Brill Ltd", "to": "Oster GmbH"}, "Brill Ltd sent it to Oster GmbH.", "Oster GmbH sent it to Brill Ltd."),
        ({"sender": "Lu Wang", "recipient": "Ann Bell"}, "Ann Bell received it from Lu Wang.", "Lu Wang received it from Ann Bell."),
        ({"payer": "Norma", "payee": "Otis", "eur": 40}, "Otis was paid 40 euros by Norma.", "Norma was paid 40 euros by Otis."),
        ({"origin": "Turku", "destination": "Riga"}, "The ferry goes from Turku to Riga.", "The ferry goes from Riga to Turku."),
        ({"buyer": "Vela", "seller": "Cask & Co"}, "Vela bought it from Cask & Co.", "Cask & Co bought it from Vela."),
        ({"acquirer": "Nordal", "target": "Pexa"}, "Pexa was acquired by Nordal.", "Nordal was acquired by Pexa."),
        ({"winner": {"name": "Hawks"}, "loser": {"name": "Pilots"}}, "The Pilots lost to the Hawks.", "The Hawks lost to the Pilots."),
        ({"author": "Mira Solano", "reviewer": "Ted Blake"}, "It was written by Mira and reviewed by Ted.", "It was written by Ted and reviewed by Mira."),
        ({"opened_by": "Ana Reis", "assigned_to": "Bo Lind"}, "Bo Lind handles the ticket.", "Ana Reis handles the ticket."),
        ({"landlord": "Hedda Lund", "tenant": "Rafi Stone"}, "The tenant is Rafi Stone.", "The tenant is Hedda Lund."),
        ({"plaintiff": "Arlo", "defendant": "Bexo"}, "Arlo sued Bexo.", "Bexo sued Arlo."),
    ],
)  # fmt: skip
def test_the_sides_of_a_row_are_not_exchanged(result: Any, right: str, wrong: str) -> None:
    assert verdict(right, result) == "supported"
    assert verdict(wrong, result) == "contradicted"


def test_two_rows_may_hold_both_directions() -> None:
    rows = [{"from": "Ivy", "to": "Otto", "eur": 5}, {"from": "Otto", "to": "Ivy", "eur": 7}]
    assert verdict("Otto sent 7 euros to Ivy.", rows) == "supported"
    assert verdict("Ivy sent 5 euros to Otto.", rows) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The message to Oster GmbH is there.",
        "Both Brill Ltd and Oster GmbH were told.",
        "Oster GmbH's copy of the message was sent by Brill Ltd.",
        "A message for Oster GmbH came from Brill Ltd.",
    ],
)
def test_other_ways_to_name_both_sides_do_no_harm(claim: str) -> None:
    assert verdict(claim, {"from": "Brill Ltd", "to": "Oster GmbH"}) == "supported"


SHIFTS = "name;start;end\nPaula;06:00;14:00\nMarek;14:00;22:00\nSven;22:00;06:00\n"


@pytest.mark.parametrize(
    ("right", "wrong", "result"),
    [
        ("Paula's shift begins at 06:00.", "Paula's shift begins at 14:00.", SHIFTS),
        ("Marek finishes at 10 pm.", "Marek finishes at 2 pm.", SHIFTS),
        ("It opens at 9:30.", "It opens at 18:00.", {"opens": "09:30", "closes": "18:00"}),
        ("The train arrives at 11:52.", "The train arrives at 10:05.", {"departure": "10:05", "arrival": "11:52"}),
        ("The meeting ends at 16:15.", "The meeting ends at 15:00.", {"start": "2026-04-01T15:00", "end": "2026-04-01T16:15"}),
    ],
)  # fmt: skip
def test_a_time_stands_on_its_side(right: str, wrong: str, result: Any) -> None:
    assert verdict(right, result) == "supported"
    assert verdict(wrong, result) == "contradicted"


REPS = "rep,deals\nAda,61\nBoris,48\nChen,55\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Ada and Chen are above the target of 50; Boris is below.", "Ada and Boris are above the target of 50."),
        ("Boris is under 50.", "Chen is under 50."),
        ("Boris is not above the target of 50.", "Ada is not above the target of 50."),
        ("2 of 3 reps are above 50.", "3 of 3 reps are below 50."),
    ],
)
def test_rows_are_held_against_a_limit(right: str, wrong: str) -> None:
    assert verdict(right, REPS, question="Who is above the target of 50?") == "supported"
    if not wrong.startswith("3"):
        assert verdict(wrong, REPS, question="Who is above the target of 50?") == "contradicted"


def test_a_figure_is_held_against_the_limit_that_a_claim_tells() -> None:
    for result, right, wrong in (
        ({"eur": 86, "limit_eur": 60}, "86 euros is above the limit of 60 euros.", "86 euros is below the limit of 60 euros."),
        ({"temp_c": 71, "max_c": 80}, "71 degrees is still under the maximum of 80 degrees.", "71 degrees is over 80 degrees."),
    ):  # fmt: skip
        assert verdict(right, result) == "supported"
        assert verdict(wrong, result) == "contradicted"


@pytest.mark.parametrize(
    ("result", "right", "wrong"),
    [
        ({"run": 8, "result": "failed"}, "No, run 8 failed.", "Yes, run 8 passed."),
        ({"id": "gate", "open": True}, "The gate is open.", "The gate is closed."),
        ({"status": "approved"}, "The request was approved.", "The request was rejected."),
        ({"state": "offline"}, "The sensor is offline.", "The sensor is online."),
        ({"state": "SUCCEEDED", "rows_rejected": 57}, "57 rows were rejected.", "The job failed."),
        ({"payment": {"status": "declined"}}, "The payment was declined.", "The payment was accepted."),
    ],
)
def test_a_state_is_not_its_opposite(result: Any, right: str, wrong: str) -> None:
    assert verdict(right, result) == "supported"
    assert verdict(wrong, result) == "contradicted"


LOG = """2026-03-01T02:10:11Z INFO worker-2 started
2026-03-01T02:15:02Z ERROR worker-2 killed: out of memory
2026-03-01T02:15:09Z INFO worker-3 started"""


def test_a_log_tells_what_happened_to_whom() -> None:
    assert verdict("worker-2 was killed at 02:15:02.", LOG) == "supported"
    assert verdict("worker-3 was killed at 02:15:02.", LOG) == "contradicted"
    assert verdict("worker-3 started at 02:15:09, after worker-2 was killed.", LOG) == "supported"


def test_a_log_of_success_is_no_failure() -> None:
    log = "[01:00:00] backup started\n[01:22:35] backup finished, 0 errors"
    assert verdict("The backup finished at 01:22:35.", log) == "supported"
    assert verdict("The backup failed at 01:22:35.", log) == "contradicted"


def test_a_program_that_was_asked_the_question_has_answered_it() -> None:
    call = {"code": "is_prime(7919)"}
    question = "Is 7919 a prime?"
    assert verdict("Yes, 7919 is a prime.", "True", question=question, arguments=call) == "supported"
    assert verdict("No, 7919 is not a prime.", "True", question=question, arguments=call) == "contradicted"
    assert (
        verdict("Yes, the data is clean.", "False", question="Is the data clean?", arguments={"code": "f(x)"})
        != "contradicted"
    )


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        (
            "<ul><li>Thursday: 10:00-19:00<li>Friday: 12:00-17:00</ul>",
            "On Friday it opens at 12:00.",
            "On Friday it opens at 10:00.",
        ),
        (
            "<table><tr><th>Team<th>Pts</tr><tr><td>Sabres&nbsp;</td><td>41</td></tr><tr><td>Comets</td><td>38</td></tr></table>",
            "The Comets have 38 points.",
            "The Comets have 41 points.",
        ),
        ("<dl><dt>Adults<dd>12.50</dd><dt>Children</dt><dd>6.00</dd></dl>", "Children pay 6.", "Children pay 12.50."),
    ],
)
def test_pages_are_read_as_rows(page: str, right: str, wrong: str) -> None:
    assert verdict(right, page) == "supported"
    assert verdict(wrong, page) == "contradicted"


def test_rows_are_named_by_numbers() -> None:
    samples = '<results><sample id="2"><ph>6.1</ph></sample><sample id="3"><ph>7.4</ph></sample></results>'
    assert verdict("Sample 3 has a pH of 7.4.", samples) == "supported"
    assert verdict("Sample 3 has a pH of 6.1.", samples) == "contradicted"


def test_the_place_that_was_searched_is_that_of_the_arguments() -> None:
    call, result = {"city": "Graz", "nights": 3}, {"results": [{"name": "Hotel Mur", "price": 128}]}
    assert verdict("I looked for hotels in Graz for three nights.", result, arguments=call) == "supported"
    assert verdict("I looked for hotels in Linz for three nights.", result, arguments=call) == "unsupported"
