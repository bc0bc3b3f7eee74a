"""Pages and files of the audit explain their figures, say what the gateway left out, and show sources that nobody cited."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.feedback import ExplicitSignals, FeedbackEvent
from schemas.review import ClaimVerdict
from tests.console.test_audit_records import plain
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import EVERYTHING, ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.console.presentation.audit.audit_evidence import COUNTED_OF_REVIEWER, against, verdicts_of
from workers.console.presentation.words import ACTIVE_TIME, MODES, SCORES
from workers.decision.release_events import review_request
from workers.feedback.observed_events import review_event
from workers.review.decision_events import decided
from workers.stores.clickhouse.rows.feedback_rows import feedback_row

TENANT = "explained"
PAGE = {"Accept": "text/html"}
SPARE = "The barn has a red roof since the spring of last year."


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """A held answer and one that observers saw, each with a source that neither it nor a claim uses."""
    spare = ContextChunk(chunk_id="c9", content=SPARE, source_name="Barns")
    given = [
        held.model_copy(update={"contexts": [*(held.contexts or []), spare]})
        for held in (risky(0, TENANT), plain("explained-shown").model_copy(update={"tenant": TENANT}))
    ]
    right = {"query": "After a crash?", "answer": "It is restarted by the operator [1].", "risk_mode": "gatekeeper"}
    given.append(plain("explained-right").model_copy(update={"tenant": TENANT, **right}))
    return dict(zip(("held", "shown", "right"), console.store(given), strict=True))


def html(console: ConsoleThread, answer: EnrichedAnswer) -> str:
    page = console.client().get(f"/answers/{answer.answer_id}", params={"tenant": answer.tenant}, headers=PAGE)
    return " ".join(page.raise_for_status().text.split())


def exported(console: ConsoleThread, log: str, **params: str) -> list[dict[str, Any]]:
    found = console.client("admin").get(f"/api/audit/{log}/export", params={"tenant": TENANT, **params})
    return list(csv.DictReader(io.StringIO(found.raise_for_status().text)))


def test_a_source_that_nobody_cited_can_be_read(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    page = html(console, answers["held"])
    sources = page.partition('id="sources"')[2].partition("</section>")[0]
    assert SPARE in sources
    assert "not cited, content not kept" not in sources
    assert sources.count("not sent") >= 2


def twice_supported(name: str, marks: str = " [1]") -> GeneratedAnswer:
    """Return an answer whose claim is supported by two sources, of which it cites the first one."""
    said = "Ingester 1 needs 2 GiB of memory"
    contexts = [
        ContextChunk(chunk_id=f"c{number}", content=f"{text}.", source_name=text)
        for number, text in enumerate((said, f"The {said}"))
    ]
    return plain(name).model_copy(update={"tenant": name, "answer": f"{said}{marks}.", "contexts": contexts})


def test_a_source_that_is_named_beside_the_evidence_can_be_read(console: ConsoleThread) -> None:
    (answer,) = console.store([twice_supported("explained-twice")])
    assert answer.grounding is not None
    assert answer.grounding.claims[0].redundant_numbers == [2]
    page = html(console, answer)
    claims, _, sources = page.partition('id="sources"')
    assert 'also <span data-beside><a href="#source-2">[2]</a>' in claims
    (content,) = re.findall('<details id="source-2">.*?</details>', sources)
    assert "The Ingester 1 needs 2 GiB of memory." in content
    assert "content not kept" not in page


def test_a_source_that_was_not_kept_is_called_so_wherever_it_is_named(console: ConsoleThread) -> None:
    judged = console.judge(twice_supported("explained-not-kept"))
    # Earlier workers kept the evidence alone.
    sources = json.dumps([{"number": 1}, {"number": 2, "title": "Second", "chunk_id": "c1", "source_type": "document"}])
    console.store_rows(judged, answers={"sources": sources})
    page = html(console, judged)
    assert "also <span data-beside>[2] (content not kept)" in page
    assert "#source-2" not in page
    assert "not cited, content not kept" in page


def test_a_citation_that_was_added_for_readers_is_called_so(console: ConsoleThread) -> None:
    added, own = console.store([twice_supported("explained-added", ""), twice_supported("explained-own")])
    assert added.formatted is not None
    assert [citation.number for citation in added.formatted.citations] == [1]
    page = html(console, added)
    assert "<dt>Citations</dt><dd>1 <small>1 added by Touchstone</small></dd>" in page
    assert "<td>citation added by Touchstone</td>" in page
    assert "<td>cited</td>" not in page
    assert "Citations that Touchstone adds for readers do not count." in page
    assert '<span class="tag">primary source of claim 1</span>' in page
    assert "added by Touchstone" not in html(console, own)


def test_the_page_says_which_values_are_those_of_the_decision(console: ConsoleThread) -> None:
    judged = console.judge(twice_supported("explained-limits"))
    (kept,) = console.store([twice_supported("explained-kept")])
    console.store_rows(judged)
    minima = "and the minima of grounding_score and gate_score"
    assert minima in html(console, kept)
    earlier = html(console, judged)
    assert minima not in earlier
    for page in (earlier, html(console, kept)):
        assert "Settings of earlier times are not kept." in page


@needs_browser
def test_an_opened_source_leaves_its_claim_in_sight_and_says_what_it_is_to_it(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store([twice_supported("explained-panel", " [1] [2]")])
    with logged_in(browser, console, viewport={"width": 1440, "height": 700}) as (page, seen):
        page.goto(f"/answers/{answer.answer_id}?tenant={answer.tenant}")
        beside = page.locator("[data-beside] a")
        beside.scroll_into_view_if_needed()
        before = beside.bounding_box()
        assert before is not None
        beside.click()
        panel = page.locator("#panel-content")
        expect(panel).to_contain_text("This source supports the claim as well.")
        expect(panel).not_to_contain_text("was not compared")
        after = beside.bounding_box()
        assert after is not None
        assert abs(after["y"] - before["y"]) <= 2
        page.locator(".claims p.small > a.citation").first.click()
        expect(panel).to_contain_text("Claims whose evidence it is")
        expect(panel).not_to_contain_text("as well")
        expect(panel.locator("mark.selected")).to_be_in_viewport()
        assert serious_violations(page) == []
        assert seen.complaints == []


def test_modes_and_figures_are_explained(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    for name, mode in (("held", "gatekeeper"), ("shown", "observer")):
        page = html(console, answers[name])
        assert MODES[mode] in page
        assert SCORES["citation_coverage"] in page
        assert "(present setting)" not in page
        assert "“Answered” is the time that the gateway gave." in page


def test_files_have_words_beside_codes(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    whys = {row["answer_id"]: row["why"] for row in exported(console, "decisions", state="automatic")}
    assert whys == {
        answers["shown"].answer_id: "high risk of hallucination",
        answers["right"].answer_id: "every rule passed",
    }
    console.client().get(f"/api/answers/{answers['right'].answer_id}").raise_for_status()
    access = {
        "access_id": "explained-access", "at": answers["right"].enriched_at, "who": "ben", "via": "session",
        "what": "get_review", "tenant": TENANT, "answers": [answers["right"].answer_id],
    }  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", [access]))
    assert [row["shown_by"] for row in exported(console, "accesses", person="ben")] == ["its review request by program"]


def test_decisions_against_the_evidence_are_found_in_lists_and_files(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    (held,) = console.store([risky(1, TENANT)])
    assert held.grounding is not None
    (claim,) = [each for each in held.grounding.claims if each.verdict == "contradicted"]
    request = review_request(held, held.enriched_at, deadline_hours=24)
    assert request is not None
    found = ClaimVerdict(claim_id=claim.claim_id, verdict="cannot_tell")
    at = held.enriched_at + timedelta(minutes=1)
    console.call(store_decision(console.resources.analytics, request, at=at, claim_verdicts=[found]))
    (row,) = exported(console, "decisions", answer_id=held.answer_id, state="released")
    settings = console.settings
    assert float(row["grounding_score"]) == held.grounding.grounding_score
    assert float(row["grounding_minimum"]) == settings.grounding.grounding_minimum
    assert float(row["gate_minimum"]) == settings.gate.gate_score
    assert row["hallucination_risk"] == held.grounding.hallucination_risk
    assert (row["claims_contradicted_by_evaluation"], row["contradicted_approved"]) == ("1", "1")
    of_reviewer = [row[f"claims_{verdict}_by_reviewer"] for verdict in COUNTED_OF_REVIEWER]
    assert of_reviewer == ["0", "0", "0", "1"]
    (release,) = exported(console, "decisions", answer_id=answers["right"].answer_id, state="automatic")
    assert {release[f"claims_{verdict}_by_reviewer"] for verdict in COUNTED_OF_REVIEWER} == {""}
    assert json.loads(row["claim_verdicts"]) == {claim.claim_id: "cannot_tell"}
    listed = console.client("admin").get("/audit/decisions", params={"answer_id": held.answer_id, "state": "released"})
    assert "Approved although 1 claim is contradicted." in listed.raise_for_status().text
    console.call(
        store_decision(
            console.resources.analytics, request, at=at + timedelta(minutes=1), by="auditor", action="reject",
            reason="wrong_figure", ruling="withdrawal",
        )
    )  # fmt: skip
    assert "Approved although the sources contradict 1 claim" in html(console, held)


def test_a_claim_that_the_person_found_supported_is_not_against_the_evidence() -> None:
    verdicts = verdicts_of('[{"claim_id": "a", "verdict": "supported"}, {"claim_id": "b", "verdict": "contradicted"}]')
    assert against({"a", "c"}, verdicts) == {"b", "c"}


def test_what_reviewers_did_is_no_feedback_of_readers(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    answer = answers["right"]
    said = ExplicitSignals(review_action="reject", rating=1)
    events = [
        FeedbackEvent(
            feedback_id=f"explained-{number}", answer_id=answer.answer_id, tenant=TENANT, kind="explicit",
            explicit=explicit, occurred_at=answer.enriched_at,
        )
        for number, explicit in enumerate((said, ExplicitSignals(rating=5)))
    ]  # fmt: skip
    console.call(console.resources.analytics.store([feedback_row(event) for event in events]))
    feedback = console.client().get(f"/api/answers/{answer.answer_id}").json()["feedback"]
    assert [each["by_reviewer"] for each in feedback] == [True, False]
    given = html(console, answer).partition("Was this helpful?")[2].partition("</section>")[0]
    assert "rating: 5" in given
    assert "rating: 1" not in given
    assert "reject" not in given
    # A vote is for readers: a token without the scope feedback could not send it.
    auditor = console.client("read").get(f"/answers/{answer.answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    assert "Was this helpful?" not in auditor
    assert "data-vote" not in auditor
    assert "rating: 5" in auditor.partition("What readers said of it")[2].partition("</section>")[0]


def test_the_active_time_of_a_review_has_a_unit_and_a_definition(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    (answer,) = console.store([risky(4, TENANT)])
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    said = {"by": "anna", "at": answer.enriched_at, "action": "approve", "duration": 42.4}
    console.call(store_decision(console.resources.analytics, request, **said))
    (card,) = re.findall(r'<p class="card decision">.*?</p>', html(console, answer))
    assert "of the review: 42 s." in card
    assert ACTIVE_TIME in card
    audit = console.client("admin").get("/audit/decisions", params={"tenant": TENANT}, headers=PAGE)
    page = " ".join(audit.raise_for_status().text.split())
    assert (
        f"<code>review_duration</code> of the files is the active time of the review in seconds. {ACTIVE_TIME}" in page
    )
    assert "active time 42 s" in page
    (row,) = exported(console, "decisions", answer_id=answer.answer_id, state="released")
    assert row["review_duration"] == "42.4"


def test_every_rule_of_a_held_answer_was_measured(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    held = answers["held"]
    explanation = console.client().get(f"/api/answers/{held.answer_id}/explanation").raise_for_status().json()
    assert explanation["state"] == "held"
    assert [row["fact"] for row in explanation["rows"] if row["applies"] is None] == []
    assert {row["value"] for row in explanation["rows"] if row["fact"] in ("said_before", "contradicts_earlier")} == {0}
    rules = html(console, held).partition('aria-label="Rules of the decision"')[2].partition("</table>")[0]
    assert "not known" not in rules


def test_needed_values_are_those_of_the_decision(console: ConsoleThread) -> None:
    (decided,) = console.store([plain("explained-minima").model_copy(update={"tenant": TENANT})])
    console.store_rows(decided, answers={"gate_minimum": 0.11, "grounding_minimum": 0.97})
    explanation = console.client().get(f"/api/answers/{decided.answer_id}/explanation").json()
    thresholds = {row["fact"]: row["threshold"] for row in explanation["rows"]}
    assert explanation["minima_kept"]
    assert explanation["gate"]["threshold"] == thresholds["gate_score_below_minimum"] == 0.11
    assert thresholds["grounding_below_minimum"] == 0.97
    page = html(console, decided)
    assert "at least 0.11<" in page
    assert "at least 0.97<" in page
    assert "of 0.11 needed" in page


@needs_browser
def test_a_decision_of_a_reviewer_is_shown_apart_from_ratings_of_readers(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store([risky(5, TENANT)])
    name, at = answer.answer_id, answer.enriched_at
    request = review_request(answer, at, deadline_hours=24)
    assert request is not None
    approval = review_event(decided(request, by=EVERYTHING, profile={}, at=at, action="approve"))
    assert approval is not None
    store = console.resources.analytics
    reward = {"explicit_reward": 1.0, "reward": 1.0, "revision": 1, "answered_at": at, "model_id": "m"}
    console.call(store_decision(store, request, by=EVERYTHING, at=at, action="approve"))
    console.call(store.store([feedback_row(approval)]))
    console.call(store.insert("rewards", [{"tenant": TENANT, "answer_id": name} | reward]))
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{name}?tenant={TENANT}")
        figures = page.locator(".figures .figure")
        expect(figures.filter(has_text="rating of readers").locator("dd")).to_have_text("– unknown")
        reward_shown = figures.filter(has=page.get_by_role("button", name="reward"))
        expect(reward_shown.locator("dd")).to_have_text("1.00 very high, with the decision of a reviewer")
        rating = FeedbackEvent(
            feedback_id="explained-reader", answer_id=name, tenant=TENANT, kind="explicit", user_id="user-1",
            explicit=ExplicitSignals(rating=2), occurred_at=at,
        )  # fmt: skip
        console.call(store.store([feedback_row(rating)]))
        page.reload()
        expect(figures.filter(has_text="rating of readers").locator("dd")).to_have_text("0.40 medium")
        assert serious_violations(page) == []
        page.goto(f"/?tenant={TENANT}")
        expect(page.get_by_role("region", name="Models").get_by_role("columnheader")).to_contain_text(
            ["Model", "Answers", "High risk", "Grounding", "Quality", "Overall score", "Feedback of readers"]
        )
        row = page.get_by_role("region", name="Models").get_by_role("row").nth(1)
        expect(row.get_by_role("cell").nth(5)).to_have_text("– (0)")
        assert serious_violations(page) == []
        assert seen.complaints == []
    assert console.client().get(f"/api/answers/{name}").json()["readers_rating"] == 0.4


@needs_browser
def test_a_citation_outlines_the_passage_of_the_claim_before_it_and_of_no_other(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = console.store(
        [
            risky(3, TENANT).model_copy(
                update={
                    "answer_id": "explained-places", "risk_mode": "observer",
                    "answer": "Ingester 3 needs 2 GiB of memory. [1] After a crash it is restarted by the operator. [1]",
                }
            )
        ]
    )  # fmt: skip
    with logged_in(browser, console) as (page, seen):
        page.goto(f"/answers/{answer.answer_id}?tenant={TENANT}")
        markers = page.locator(".answer-text a.citation")
        for number, passage in enumerate(("needs 2 GiB of memory", "it is restarted by the operator")):
            markers.nth(number).click()
            expect(page.locator("#panel-content .passage.selected")).to_contain_text(passage)
            expect(page.locator("#panel-content .passage.selected")).to_have_count(1)
        assert serious_violations(page) == []
        assert seen.complaints == []
