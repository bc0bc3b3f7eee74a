"""The page of a decided request: its correction with what it changed, and what each person found about its claims."""

from playwright.sync_api import Browser, expect

from schemas.identifiers import fact_id
from schemas.review import ClaimVerdict
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request

CORRECTED = "Ingester 0 needs 2 GiB of memory [1]. It is restarted by the operator [1]."


@needs_browser
def test_a_decided_request_shows_its_correction_its_changes_and_everybodys_verdicts(
    browser: Browser, console: ConsoleThread
) -> None:
    (answer,) = held(console, "looked-back", 1)
    review = fact_id(answer.tenant, answer.answer_id, "review")
    client = console.client("looking-back")
    claims = client.get(f"/api/reviews/{review}").json()["claims"]
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    verdicts = [
        ClaimVerdict(claim_id=claim["claim_id"], verdict=verdict)
        for claim, verdict in zip(claims, ("contradicted", "cannot_tell"), strict=True)
    ]
    console.call(
        store_decision(
            console.resources.analytics, request, by="looking-back", action="correct", corrected_answer=CORRECTED,
            reason="wrong_figure", comment="The guide says 2 GiB.", claim_verdicts=verdicts,
        )
    )  # fmt: skip
    console.call(
        store_decision(console.resources.analytics, request, ruling="second", by="ben", claim_verdicts=verdicts[:1])
    )
    (final, second) = sorted(client.get(f"/api/reviews/{review}").json()["decisions"], key=lambda each: each["ruling"])
    assert (final["corrected_answer"], final["reason"], second["by"]) == (CORRECTED, "wrong_figure", "ben")
    with logged_in(browser, console, "looking-back") as (page, seen):
        page.goto(f"/review/{review}")
        given = page.locator(".given-decision")
        expect(given).to_contain_text("Decided by you, reason: wrong figure The guide says 2 GiB.")
        expect(given.locator("del").first).to_contain_text("16")
        expect(given.locator("ins").first).to_contain_text("2")
        rows = page.locator("[data-claim-row]")
        expect(rows.nth(0).locator(".given-verdict")).to_have_text(["you: contradicted", "ben: contradicted"])
        expect(rows.nth(1).locator(".given-verdict")).to_have_text(["you: can't tell"])
        assert serious_violations(page) == []
        assert seen.complaints == []
