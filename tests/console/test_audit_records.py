"""The audit keeps apart what people, deadlines and the pipeline did, and says what readers saw before and after."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.review import POLICY
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.release_events import review_request
from workers.review.decision_events import DEADLINE_REASON, decided, review_event
from workers.stores.clickhouse.rows.review_rows import review_event_row

TENANT = "recorded"


def plain(name: str, **fields: Any) -> GeneratedAnswer:
    """Return an answer that the observer mode shows before anybody reviews it."""
    return risky(0, TENANT).model_copy(update={"answer_id": name, "risk_mode": "observer"} | fields)


def time_words(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """Answers of seven fates, by name; each decision comes minutes after the evaluation."""
    chunk = ContextChunk(chunk_id="c1", content="Grafana listens on port 3000.", source_name="Ports")
    good = {
        "query": "On which port does Grafana listen?",
        "answer": "Grafana listens on port 3000 [1].",
        "contexts": [chunk],
    }
    given = [
        *(plain(f"recorded-{name}") for name in ("rejected", "expired", "undone", "two")),
        plain("recorded-automatic", **good, risk_mode="gatekeeper"),
        *(risky(number, TENANT) for number in (5, 6)),
    ]
    names = ("rejected", "expired", "undone", "two", "automatic", "corrected", "moved")
    found = dict(zip(names, console.store(given), strict=True))
    store = console.resources.analytics

    def said(name: str, minutes: int, ruling: str = "final", **values: Any) -> None:
        request = review_request(found[name], found[name].enriched_at, deadline_hours=24)
        assert request is not None
        at = found[name].enriched_at + timedelta(minutes=minutes)
        console.call(store_decision(store, request, **{"ruling": ruling, "by": "anna", "at": at} | values))

    def event(name: str, kind: Any, minutes: int, by: str = "anna", **values: Any) -> None:
        answer = found[name]
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        assert request is not None
        at = answer.enriched_at + timedelta(minutes=minutes)
        if kind == "undone":
            values = {"undone": decided(request, by=by, profile={}, at=at - timedelta(minutes=1), **values)}
        made = review_event(kind, request.review_id, answer.answer_id, TENANT, by=by, at=at, **values)
        console.call(store.store([review_event_row(made)]))

    said("rejected", 5, action="reject", reason="wrong_figure", comment="It is 2 GiB.")
    said("expired", 1440, by=POLICY, action="approve", with_warning=True, reason=DEADLINE_REASON)
    said("corrected", 5, action="correct", corrected_answer="It needs 2 GiB [1].")
    event(
        "undone",
        "undone",
        2,
        action="correct",
        corrected_answer="It needs 3 GiB [1].",
        reason="wrong_figure",
        comment="Typo",
    )
    said("undone", 3, action="approve", with_warning=True)
    said("two", 5, action="approve")
    said("two", 6, "second", by="ben", action="reject")
    said("two", 7, "vote", by="cleo", action="downvote")
    said("two", 8, "late", by="dora", action="reject")
    event("moved", "skipped", 1)
    event("moved", "escalated", 2, queue="experts")
    event("moved", "given", 3, by="lead", assignee="ben")
    event("moved", "resumed", 4, queue="default")
    return found


def listed(console: ConsoleThread, log: str = "decisions", **params: str) -> list[dict[str, Any]]:
    found = console.client("admin").get(f"/api/audit/{log}", params={"tenant": TENANT, **params}).raise_for_status()
    items: list[dict[str, Any]] = found.json()["items"]
    return items


def outcome(console: ConsoleThread, answer: EnrichedAnswer, ruling: str) -> str:
    (row,) = [row for row in listed(console, answer_id=answer.answer_id) if row["ruling"] == ruling]
    words: str = row["outcome"]
    return words


def test_the_sentence_says_what_readers_saw_before_a_decision_and_since_when(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    rejected, corrected, expired = (answers[name] for name in ("rejected", "corrected", "expired"))
    assert rejected.decision.state == "warned"
    since, at = rejected.enriched_at, rejected.enriched_at + timedelta(minutes=5)
    words = (
        f"Rejected by anna; readers saw the answer with a warning from {time_words(since)} to {time_words(at)}, "
        "then a notice in its place."
    )
    assert outcome(console, rejected, "final") == words
    detail = console.client().get(f"/api/answers/{rejected.answer_id}").json()
    assert detail["outcome"] == words
    page = console.client().get(f"/answers/{rejected.answer_id}", headers={"Accept": "text/html"}).text
    assert words in page
    at = corrected.enriched_at + timedelta(minutes=5)
    assert outcome(console, corrected, "final") == (
        f"Corrected by anna; readers saw nothing until {time_words(at)}, then the corrected text."
    )
    assert outcome(console, expired, "final") == (
        "Approved with a warning by the policy at the deadline; readers saw it with a warning "
        f"from {time_words(expired.enriched_at)} on."
    )


def test_automatic_releases_skips_and_escalations_are_records_with_their_rule(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    automatic = answers["automatic"]
    assert automatic.decision.state == "released"
    (row,) = listed(console, answer_id=automatic.answer_id)
    assert (row["ruling"], row["decided_by"], row["action"], row["reason"]) == ("automatic", "pipeline", "", "")
    assert row["outcome"] == (
        "Released automatically, without a person; readers saw it without a warning "
        f"from {time_words(automatic.enriched_at)}."
    )
    rejected = answers["rejected"]
    since, at = rejected.enriched_at, rejected.enriched_at + timedelta(minutes=5)
    assert outcome(console, rejected, "automatic") == (
        "Released with a warning automatically, without a person; readers saw it with a warning "
        f"from {time_words(since)} until the decision took effect on {time_words(at)}."
    )
    (row,) = [row for row in listed(console, state="automatic") if row["answer_id"] == answers["rejected"].answer_id]
    assert "high_hallucination_risk" in row["reason"].split(", ")
    assert row["outcome"].startswith("Released with a warning automatically, without a person;")
    moved = {row["ruling"]: row for row in listed(console, answer_id=answers["moved"].answer_id)}
    assert {name: row["outcome"] for name, row in moved.items()} == {
        "skipped": "Skipped by anna, left to other reviewers; nothing changed for readers.",
        "escalated": "Escalated by anna to the queue “experts”; nothing changed for readers.",
        "given": "Assigned to ben by lead; nothing changed for readers.",
        "resumed": "Escalation undone by anna; nothing changed for readers.",
    }
    assert (moved["escalated"]["target"], moved["given"]["target"]) == ("experts", "ben")
    for kind in ("skipped", "escalated", "given", "resumed", "undone", "second", "vote", "late"):
        assert {row["ruling"] for row in listed(console, state=kind)} == {kind}


def test_automatic_releases_are_listed_on_demand(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    rulings = [row["ruling"] for row in listed(console)]
    assert rulings
    assert "automatic" not in rulings
    everything = [row["ruling"] for row in listed(console, state="everything")]
    assert everything.count("automatic") == len([each for each in answers.values() if each.decision.state != "held"])
    assert sorted(rulings) == sorted(ruling for ruling in everything if ruling != "automatic")


def test_an_undone_decision_keeps_what_was_decided(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    answer = answers["undone"]
    (row,) = listed(console, state="undone")
    assert (row["answer_id"], row["action"], row["reason"], row["comment"], row["corrected_answer"]) == (
        answer.answer_id, "correct", "wrong_figure", "Typo", "It needs 3 GiB [1].",
    )  # fmt: skip
    made, undone_at = (time_words(datetime.fromisoformat(row[name])) for name in ("decided_at", "undone_at"))
    assert row["outcome"] == (
        f"Corrected by anna on {made} and undone on {undone_at}, before it took effect; nothing changed for readers."
    )
    history = console.client().get(f"/api/answers/{answer.answer_id}").json()["history"]
    (undone,) = [each["detail"] for each in history if each["what"] == "decision undone"]
    assert undone.startswith(row["outcome"])
    for part in ("Because of: wrong figure.", "“Typo”", "It needs 3 GiB [1]."):
        assert part in undone


def test_a_history_agrees_with_the_decision_that_counts(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    for name, answer in answers.items():
        found = console.client().get(f"/api/answers/{answer.answer_id}").json()
        happened = [(each["what"], each["detail"]) for each in found["history"]]
        decisions = [detail for what, detail in happened if what == "decided"]
        assert [detail.startswith(found["outcome"]) for detail in decisions] == [True] * len(decisions), name
        assert len(decisions) == (found["decision"] is not None)
        assert not [what for what, _ in happened if what == "feedback"], "a decision is no second time feedback"
    automatic = console.client().get(f"/api/answers/{answers['automatic'].answer_id}").json()["history"]
    assert [(each["what"], each["detail"]) for each in automatic[-2:]] == [
        ("answered", "by a model without a name"),
        ("evaluated", "released: nothing against it; readers saw it without a warning"),
    ]
    two = console.client().get(f"/api/answers/{answers['two'].answer_id}").json()["history"]
    assert [(each["what"], each["detail"]) for each in two[-3:]] == [
        ("second opinion", "ben would reject it (second opinion); nothing changed for readers."),
        ("vote", "Voted down by cleo; nothing changed for readers."),
        (
            "decision without effect",
            "Rejected by dora too late, the answer was already final; nothing changed for readers.",
        ),
    ]


def test_the_answer_says_what_speaks_against_its_state(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    contradicted = "Approved although the sources contradict 1 claim of 2."
    expected = {
        "two": [
            contradicted,
            "ben would reject it (second opinion); nothing changed for readers.",
            "Voted down by cleo; nothing changed for readers.",
            "Rejected by dora too late, the answer was already final; nothing changed for readers.",
        ],
        "undone": [contradicted], "expired": [contradicted], "rejected": [], "corrected": [], "automatic": [],
        "moved": ["A review was requested, and nothing is decided yet."],
    }  # fmt: skip
    for name, sentences in expected.items():
        answer_id = answers[name].answer_id
        assert console.client().get(f"/api/answers/{answer_id}").json()["contrary"] == sentences, name
        page = console.client().get(f"/answers/{answer_id}", headers={"Accept": "text/html"}).text
        assert [each in page for each in sentences] == [True] * len(sentences)
        assert f"answer_id <code>{answer_id}</code>" in page


def test_records_are_found_by_words_of_the_question_and_part_of_an_identifier(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    def found(log: str, q: str) -> set[str]:
        rows = listed(console, log, q=q)
        return {row["answer_id"] for row in rows} if log == "decisions" else {row["answers"][0] for row in rows}

    access = {
        "access_id": "recorded-list", "at": datetime.now(UTC), "who": "ben", "via": "session", "what": "search",
        "tenant": TENANT, "answers": [answer.answer_id for answer in answers.values()],
    }  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", [access]))
    for log in ("decisions", "accesses"):
        assert found(log, "grafana PORT") == {answers["automatic"].answer_id}
        assert found(log, "recorded-exp") == {answers["expired"].answer_id}
        assert found(log, "grafana nothing") == set()
    assert found("decisions", '"ingester 5"') == {answers["corrected"].answer_id}


def test_a_time_is_written_out_and_no_number(console: ConsoleThread) -> None:
    client = console.client()
    for path in ("/api/audit/decisions", "/api/audit/citations", "/api/answers"):
        for time, status in (("2026-11-03T10:00:00Z", 200), ("1764150000", 422), ("2e-256", 422)):
            assert client.get(path, params={"since": time}).status_code == status, (path, time)


def test_an_unknown_state_is_refused_with_the_known_ones(console: ConsoleThread) -> None:
    client = console.client("admin")
    for log, unknown, known in (
        ("decisions", "rejectd", ("", "rejected", "withdrawn", "fallback", "withdrawal")),
        ("accesses", "answers", ("", "answer", "reading", "list", "loaded_ahead", "next_review")),
        ("accesses", "rejected", ()),
    ):
        refused = client.get(f"/api/audit/{log}", params={"state": unknown})
        assert refused.status_code == 422
        assert f"{unknown!r} of {log} is unknown" in refused.json()["detail"]
        assert all(state in refused.json()["detail"] for state in known)
        assert client.get(f"/api/audit/{log}/export", params={"state": unknown}).status_code == 422
        for state in known:
            assert client.get(f"/api/audit/{log}", params={"state": state}).status_code == 200


@needs_browser
def test_auditors_choose_among_the_values_that_exist(
    browser: Browser, console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    with logged_in(browser, console) as (page, seen):
        page.goto("/audit?tenant=recorded")
        expect(page).to_have_url(f"{console.url}/audit/decisions?tenant=recorded")
        expect(page.locator("#automatic")).to_contain_text("released without a person are left out")
        expect(page.get_by_label("Tenant")).to_have_value(TENANT)
        assert "ben" in page.locator("#person-values option").evaluate_all("each => each.map(one => one.value)")
        page.get_by_label("Person").fill("ben")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("#log tbody tr")).to_have_count(1)
        page.get_by_label("Person").fill("")
        page.get_by_label("What happened").select_option("automatic")
        page.get_by_role("button", name="Apply").click()
        rows = page.locator("#log tbody tr")
        expect(rows).to_have_count(5)
        expect(rows.filter(has_text="Grafana")).to_contain_text("every rule passed")
        page.get_by_label("What happened").select_option("undone")
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("Text of the correction").click()
        expect(page.locator("#log tbody")).to_contain_text("It needs 3 GiB")
        assert serious_violations(page) == []
        page.goto("/audit/accesses?tenant=recorded")
        page.get_by_label("Shown by").select_option("list")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("#log tbody")).to_contain_text("List: search")
        assert serious_violations(page) == []
        assert seen.complaints == []


@needs_browser
def test_readings_of_an_answer_stand_apart_from_lists(
    browser: Browser, console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["rejected"]
    accesses = [
        {
            "access_id": f"recorded-{what}", "at": answer.enriched_at + timedelta(minutes=minutes), "who": who,
            "via": "session", "what": what, "tenant": TENANT, "answers": [answer.answer_id],
        }
        for who, what, minutes in (("lister", "queue", 6), ("reader", "review", 1), ("browser", "citation", 6), ("early", "answer", -1))
    ]  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", accesses))
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{answer.answer_id}?tenant={TENANT}")
        read = page.get_by_role("region", name="Readings of this answer, its review request or a source")
        expect(read).to_contain_text("reader")
        expect(read).to_contain_text("browser")
        expect(read).not_to_contain_text("lister")
        # Each row names the version of that time, by its number among the texts that readers were shown.
        for who, version in (("early", "an earlier evaluation"), ("reader", "1: warned"), ("browser", "2: rejected")):
            expect(read.get_by_role("row", name=who).get_by_role("cell").nth(1)).to_have_text(version)
        expect(page.locator("#shown h3")).to_contain_text(
            ["Version 1: warned by pipeline", "Version 2: rejected by anna"]
        )
        page.get_by_text("Lists that showed it or its question").click()
        expect(page.locator("#listed")).to_contain_text("lister")
        expect(page.locator("#listed").get_by_role("rowheader", name="lister", exact=True)).to_have_count(1)
        expect(page.locator("#listed").get_by_role("rowheader", name="reader", exact=True)).to_have_count(0)
        expect(page.locator("#shown")).to_contain_text(ENGLISH.rejected)
        assert serious_violations(page) == []
        assert seen.complaints == []
    kinds = {row["who"]: row["kind"] for row in listed(console, "accesses", answer_id=answer.answer_id)}
    assert (kinds["lister"], kinds["reader"], kinds["browser"]) == ("list", "reading", "reading")


@needs_browser
def test_all_sources_are_listed_with_what_is_known_of_them(browser: Browser, console: ConsoleThread) -> None:
    cited = ContextChunk(
        chunk_id="c1", content="Grafana listens on port 3000.", source_name="Ports", source_path="/docs/ports.md",
        last_updated=datetime(2026, 10, 1, tzinfo=UTC), metadata={"version": "v7"},
    )  # fmt: skip
    unused = ContextChunk(
        chunk_id="c2", content="Loki is a log store.", source_name="Loki", source_path="https://wiki.example.org/loki",
    )  # fmt: skip
    bare = ContextChunk(chunk_id="chunk-3", content="Tempo keeps traces.")
    (answer,) = console.store(
        [
            GeneratedAnswer(
                answer_id="recorded-sources", tenant="recorded-sources", query="On which port does Grafana listen?",
                answer="Grafana listens on port 3000 [1].", contexts=[cited, unused, bare],
                completed_at=datetime.now(UTC) - timedelta(minutes=5),
            )
        ]
    )  # fmt: skip
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{answer.answer_id}?tenant=recorded-sources")
        rows = page.get_by_role("region", name="Sources").locator("tbody tr")
        assert [row.locator("td").all_inner_texts() for row in rows.all()] == [
            ["/docs/ports.md", "v7", "2026-10-01 00:00:00 UTC", "cited"],
            ["https://wiki.example.org/loki", "not sent", "not sent", "not cited, content not kept"],
            ["not sent", "not sent", "not sent", "not cited, content not kept"],
        ]
        expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", "https://wiki.example.org/loki")
        expect(rows.nth(2)).to_contain_text("[3] chunk-3")
        rows.first.get_by_role("link").click()
        expect(page.locator("#panel-content")).to_contain_text("/docs/ports.md")
        expect(page.locator("#panel-content")).to_contain_text("v7")
        assert serious_violations(page) == []
        assert seen.complaints == []
