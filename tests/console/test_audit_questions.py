"""Auditors find records by user, see versions, both rulings of a second opinion, and how a list was taken away."""

import csv
import io
import json
import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import pytest

from schemas.enriched import EnrichedAnswer
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.console.presentation.outcome import time_words
from workers.console.routes import audit
from workers.decision.release_events import review_request
from workers.review.decision_events import decided, review_event, withdrawal
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_event_row

TENANT = "questioned"
PAGE = {"Accept": "text/html"}
NAMES = ("opposed", "agreed", "withdrawn", "undone", "open")


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """Answers to two users with and without a version of the prompt, by what became of them."""
    given = []
    for number, name in enumerate(NAMES):
        answer = risky(number, TENANT)
        model = answer.model.model_copy(update={"prompt_version": None if name == "open" else f"prompt-{number}"})
        given.append(answer.model_copy(update={"user_id": f"user-{number % 2}", "model": model}))
    found = dict(zip(NAMES, console.store(given), strict=True))
    store = console.resources.analytics

    def request_of(name: str) -> Any:
        return review_request(found[name], found[name].enriched_at, deadline_hours=24)

    def said(name: str, minutes: int, ruling: str = "final", **values: Any) -> None:
        at = found[name].enriched_at + timedelta(minutes=minutes)
        console.call(store_decision(store, request_of(name), **{"ruling": ruling, "by": "anna", "at": at} | values))

    said("opposed", 5)
    said("opposed", 6, "second", by="ben", action="reject")
    said("agreed", 5, action="reject")
    said("agreed", 6, "second", by="ben", action="reject")
    said("undone", 5)
    approved = decided(
        request_of("withdrawn"), by="anna", profile={}, action="approve", at=found["withdrawn"].enriched_at
    )
    at = found["withdrawn"].enriched_at + timedelta(minutes=9)
    taken = withdrawal(
        request_of("withdrawn"), approved.feedback_id, by="cleo", at=at, reason="wrong_figure", comment=None
    )
    rows = [
        decision_row(approved, "final"),
        closing_row(approved),
        decision_row(taken, "withdrawal"),
        closing_row(taken),
    ]
    undone = found["undone"].enriched_at + timedelta(minutes=3)
    made = decided(request_of("undone"), by="anna", profile={}, action="reject", at=undone - timedelta(minutes=2))
    event = review_event("undone", made.review_id, found["undone"].answer_id, TENANT, by="anna", at=undone, undone=made)
    console.call(store.store([*rows, review_event_row(event)]))
    console.call(
        store.insert(
            "accesses",
            [
                {
                    "access_id": f"questioned-{number}", "at": found["open"].enriched_at, "who": "anna", "via": "session",
                    "what": "search", "tenant": TENANT, "answers": [found[name].answer_id for name in names],
                }
                for number, names in enumerate((NAMES, ("opposed", "withdrawn"), ("agreed",)))
            ],
        )
    )  # fmt: skip
    return found


def listed(console: ConsoleThread, log: str = "decisions", **params: str) -> list[dict[str, Any]]:
    found = console.client("admin").get(f"/api/audit/{log}", params={"tenant": TENANT, **params}).raise_for_status()
    items: list[dict[str, Any]] = found.json()["items"]
    return items


def exported(console: ConsoleThread, log: str = "decisions", **params: str) -> list[dict[str, str]]:
    found = console.client("admin").get(f"/api/audit/{log}/export", params={"tenant": TENANT, **params})
    return list(csv.DictReader(io.StringIO(found.raise_for_status().text)))


def test_records_and_pages_have_the_versions_of_evaluation_and_prompt(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    for name, prompt in (("opposed", "prompt-0"), ("agreed", "prompt-1")):
        version = answers[name].pipeline_version
        (row, *_) = listed(console, answer_id=answers[name].answer_id)
        (cells, *_) = exported(console, answer_id=answers[name].answer_id)
        assert (row["pipeline_version"], row["prompt_version"]) == (version, prompt)
        assert (cells["pipeline_version"], cells["prompt_version"]) == (version, prompt)
        page = console.client().get(f"/answers/{answers[name].answer_id}", params={"tenant": TENANT}, headers=PAGE).text
        assert f"<code>{version}</code>" in page
        assert f">{prompt}</code>" in page
    page = console.client().get(f"/answers/{answers['open'].answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    assert "the gateway sent no version of the prompt" in page


@pytest.mark.parametrize(
    ("log", "user", "count"),
    [
        ("decisions", "user-0", 4),
        ("decisions", " user-0 ", 4),
        ("decisions", "user-1", 4),
        ("decisions", "user", 0),
        ("decisions", "USER-1", 0),
        ("accesses", "user-0", 2),
        ("accesses", "user-1", 2),
        ("accesses", "user-2", 0),
    ],
)
def test_records_are_found_by_the_user_who_asked(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], log: str, user: str, count: int
) -> None:
    until = (answers["open"].enriched_at + timedelta(hours=1)).isoformat()
    params = {"user": user, "until": until, **({"state": "search"} if log == "accesses" else {})}
    rows = listed(console, log, **params)
    assert len(rows) == len(exported(console, log, **params)) == count
    for row in rows:
        assert (row["user_id"] if log == "decisions" else row["user_ids"][0]) == user.strip()


def test_a_page_names_the_user_to_auditors_alone(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    path = f"/answers/{answers['agreed'].answer_id}"
    seen = {
        name: console.client(name).get(path, params={"tenant": TENANT}, headers=PAGE).raise_for_status().text
        for name in ("token-with-every-scope", "read")
    }
    assert "user-1" in seen["token-with-every-scope"]
    assert "user-1" not in seen["read"]
    page = (
        console.client("admin").get("/audit/accesses", params={"tenant": TENANT, "user": "user-1"}, headers=PAGE).text
    )
    assert 'name="user" maxlength="200" autocomplete="off" value="user-1"' in page


def test_all_answers_of_a_user_are_found_whatever_became_of_them(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    expected = {answers[name].answer_id for number, name in enumerate(NAMES) if number % 2 == 0}
    assert "open" in NAMES[::2], "an answer that nobody decided on has no record"

    def found(**params: str) -> dict[str, str]:
        query = {"tenant": TENANT, **params}
        items = console.client("read").get("/api/answers", params=query).raise_for_status().json()["items"]
        return {item["answer_id"]: item["user_id"] for item in items}

    assert found(user=" user-0 ") == dict.fromkeys(expected, "user-0")
    assert found(user="user") == {}
    seen = console.client().get("/search", params={"tenant": TENANT, "user": "user-0"}, headers=PAGE).text
    assert set(re.findall(r'<a href="/answers/([^"?]*)\?', seen)) == expected
    assert 'name="user" maxlength="200" autocomplete="off" value="user-0"' in seen
    assert "asked by" in seen
    # Others than auditors see no user, unless the address names one: a filter that is not in sight would mislead.
    plain = console.client("read").get("/search", params={"tenant": TENANT}, headers=PAGE).text
    assert "user-0" not in plain
    assert 'name="user"' not in plain
    assert 'value="user-0"' in console.client("read").get("/search", params={"user": "user-0"}, headers=PAGE).text


def test_pages_of_an_auditor_lead_to_all_answers_of_a_user(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    link = f"/search?user=user-0&amp;tenant={TENANT}"
    client = console.client()
    page = client.get(f"/answers/{answers['open'].answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    assert f'<a href="{link}">all answers to this user</a>' in page
    for log in ("decisions", "accesses"):
        params = {"tenant": TENANT, "user": "user-0"}
        assert f'<a href="{link}">All answers to the user user-0</a>' in client.get(f"/audit/{log}", params=params).text
        # Without the scope read a search would be refused.
        assert link not in console.client("admin").get(f"/audit/{log}", params=params).text


def test_lists_of_the_audit_name_the_user_and_keep_the_filters(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    until = (answers["open"].enriched_at + timedelta(hours=1)).date() + timedelta(days=1)
    params = {"tenant": TENANT, "user": "user-0", "until": until.isoformat()}
    client = console.client("admin")
    for log, other in (("decisions", "accesses"), ("accesses", "decisions")):
        more = {
            "decisions": {"state": "released", "model": answers["open"].answer.model.id},
            "accesses": {"state": "list"},
        }
        page = client.get(f"/audit/{log}", params=params | more[log], headers=PAGE).raise_for_status().text
        link = re.search(rf'href="/audit/{other}\?([^"]*)">', page)
        assert link is not None
        assert dict(parse_qsl(unescape(link[1]))) == params
        assert f'<a href="/audit/{log}?user=user-0&amp;tenant={TENANT}">user-0</a>' in page.partition('id="log"')[2]


def test_a_decision_without_an_active_time_says_so(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    params = {"tenant": TENANT, "answer_id": answers["agreed"].answer_id}
    page = console.client("admin").get("/audit/decisions", params=params, headers=PAGE).raise_for_status().text
    assert page.count("no active time: by a program, or on several requests at once") == 2


def test_a_second_opinion_has_the_first_ruling(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    found = {row["answer_id"]: row for row in exported(console, state="second")}
    against = found[answers["opposed"].answer_id]
    assert (against["action"], against["first_action"], against["first_by"]) == ("reject", "approve", "anna")
    assert found[answers["agreed"].answer_id]["first_action"] == "reject"
    (final,) = listed(console, answer_id=answers["opposed"].answer_id, state="released")
    assert (final["first_action"], final["first_by"]) == ("", "")


def test_auditors_read_the_reviews_that_differ_with_all_of_their_decisions(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    params = {"tenant": TENANT}
    for name, status in (("admin", 200), ("review", 200), ("read", 403)):
        assert console.client(name).get("/api/reviews/disagreements", params=params).status_code == status
        assert console.client(name).get("/queue/disagreements", params=params, headers=PAGE).status_code == status
    (pair,) = console.client("admin").get("/api/reviews/disagreements", params=params).json()
    assert (pair["first"], pair["first_by"], pair["second"], pair["second_by"]) == ("approve", "anna", "reject", "ben")
    # Every request is for many reviews: a reviewer who may still give one does not see it, an auditor does.
    review = console.settings.review
    before = review.second_share, review.reviews
    review.second_share, review.reviews = 1.0, 9
    try:
        assert console.client("admin").get("/api/reviews/disagreements", params=params).json() == [pair]
        assert console.client("review").get("/api/reviews/disagreements", params=params).json() == []
    finally:
        review.second_share, review.reviews = before


def test_both_names_of_a_withdrawal_find_it(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    assert [row["state"] for row in listed(console, state="withdrawal")] == ["withdrawn"]
    assert listed(console, state="withdrawn") == listed(console, state="withdrawal")
    page = console.client("admin").get(
        "/audit/decisions", params={"tenant": TENANT, "state": "withdrawn"}, headers=PAGE
    )
    assert '<option value="withdrawal" selected>' in page.text
    # No record has this state: an empty list would read as "nothing was held".
    refused = console.client("admin").get("/api/audit/decisions", params={"state": "held"})
    assert refused.status_code == 422


def test_an_undone_decision_has_its_time_and_that_of_the_undo(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    (undone,) = listed(console, state="undone")
    made, taken_back = [datetime.fromisoformat(undone[name]) for name in ("decided_at", "undone_at")]
    assert taken_back - made == timedelta(minutes=2)
    (cells,) = exported(console, state="undone")
    assert [datetime.fromisoformat(cells[name]) for name in ("decided_at", "undone_at")] == [made, taken_back]
    assert {row["undone_at"] for row in listed(console, state="second")} == {None}
    address = f"/audit/decisions?tenant={TENANT}&state=undone"
    page = console.client("admin").get(address, headers=PAGE).raise_for_status().text
    first = f'<td><time datetime="{made.isoformat()}">{made:%Y-%m-%d %H:%M:%S} UTC</time>'
    assert f'{first} <small>undone <time datetime="{taken_back.isoformat()}">' in page
    assert f"on {time_words(made)} and undone on {time_words(taken_back)}" in undone["outcome"]


def test_states_of_the_citation_audit_are_those_after_decisions(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    expected = {"opposed": "released", "agreed": "rejected", "withdrawn": "rejected", "open": "held"}
    for path in ("citations", "low-grounding"):
        found = {
            row["response_id"]: row for row in listed(console, path, **({"below": "1"} if path != "citations" else {}))
        }
        for name, state in expected.items():
            row = found[answers[name].answer_id]
            assert (row["state"], row["evaluated_state"]) == (state, "held")
            detail = console.client().get(f"/api/answers/{row['response_id']}", params={"tenant": TENANT}).json()
            assert (detail["state"], detail["evaluated_state"]) == (state, "held")


@pytest.mark.parametrize("name", NAMES)
def test_a_history_keeps_the_request_of_a_review_once_it_is_decided(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], name: str
) -> None:
    detail = console.client().get(f"/api/answers/{answers[name].answer_id}", params={"tenant": TENANT}).json()
    (asked,) = [each for each in detail["history"] if each["what"] == "review requested"]
    assert "high risk of hallucination" in asked["detail"]


def test_a_file_is_another_access_than_a_page(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    monkeypatch.setattr(console.resources.accesses, "note_page", lambda _, what, answers: noted.append(what))
    listed(console, state="second")
    exported(console, state="second")
    console.client("admin").get(
        "/api/audit/accesses/export", params={"tenant": TENANT, "format": "jsonl"}
    ).raise_for_status()
    assert noted == ["audit", audit.EXPORTED, audit.EXPORTED]
    found = console.client("admin").get("/api/audit/accesses", params={"tenant": TENANT, "state": audit.EXPORTED})
    assert found.status_code == 200, "the filter offers it"
    assert json.loads(found.text)["items"] == []
