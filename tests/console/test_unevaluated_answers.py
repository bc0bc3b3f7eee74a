"""An answer whose grounding was not evaluated has no numbers of claims: they would read as "nothing was wrong"."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest

from schemas.enriched import EnrichedAnswer
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import review_of, risky
from tests.harness.reviews import store_decision
from workers.decision.decision_basis import basis_of, findings_text
from workers.decision.release_events import review_request

TENANT = "unevaluated"
PAGE = {"Accept": "text/html"}
VERDICTS = ("supported", "contradicted", "unsupported")
NUMBERS = (*(f"claims_{verdict}_by_evaluation" for verdict in VERDICTS), "contradicted_approved")


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """An approved answer without reports on grounding and quality, one that was evaluated and has no claims, and one with."""
    judged = console.judge(risky(0, TENANT))
    reasons = ["grounding_not_evaluated", "degraded"]
    late = judged.model_copy(
        update={
            "grounding": None, "quality": None, "missing": ["grounding", "quality"], "degraded": True, "rank": 2,
            "decision": judged.decision.model_copy(update={"reasons": reasons}),
        }
    )  # fmt: skip
    basis = basis_of(late, console.settings.gate, console.settings.grounding, console.settings.decision)
    console.store_rows(late, answers={"findings": findings_text(basis.findings)})
    doubt = risky(1, TENANT).model_copy(update={"answer": "?!", "risk_mode": "observer"})
    claimless, compared = console.store([doubt, risky(2, TENANT)])
    request = review_request(late, late.enriched_at, deadline_hours=24)
    assert request is not None
    console.store_request(request)
    console.call(
        store_decision(console.resources.analytics, request, by="anna", at=late.enriched_at + timedelta(minutes=1))
    )
    return {"late": late, "claimless": claimless, "compared": compared}


def test_lists_and_the_answer_have_no_numbers_of_claims(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    client = console.client()
    items = client.get("/api/answers", params={"tenant": TENANT}).raise_for_status().json()["items"]
    found: dict[str, dict[str, Any]] = {item["answer_id"]: item for item in items}
    late, claimless = (answers[name].answer_id for name in ("late", "claimless"))
    for name in (*(f"claims_{verdict}" for verdict in VERDICTS), "claims_total"):
        assert found[late][name] is None
        assert found[claimless][name] == 0
    totals = {
        name: client.get(f"/api/answers/{name}", params={"tenant": TENANT}).json()["claims_total"]
        for name in (late, claimless)
    }
    assert totals == {late: None, claimless: 0}


def test_pages_say_that_the_claims_were_not_evaluated(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    said = "The grounding of this answer was not evaluated"
    late, claimless = (
        " ".join(console.client().get(f"/answers/{answers[name].answer_id}", params={"tenant": TENANT}, headers=PAGE).text.split())
        for name in ("late", "claimless")
    )  # fmt: skip
    assert said in late
    assert "<dt>Claims</dt><dd>– <small>not evaluated</small></dd>" in late
    assert "Nothing here needed a source." not in late
    assert "Nothing here needed a source." in claimless
    assert "<dt>Claims</dt><dd>0</dd>" in claimless
    review = console.client().get(f"/review/{review_of(answers['late'])}", headers=PAGE).raise_for_status().text
    assert said in review
    assert "<p>No claims.</p>" not in review


def test_the_mean_of_a_few_characteristics_is_shown_as_no_score(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    late, client = answers["late"], console.client()
    assert late.evaluation.score is not None
    listed = client.get("/api/answers", params={"tenant": TENANT}).json()["items"]
    scores = {item["answer_id"]: item["gate_score"] for item in listed}
    assert scores[late.answer_id] is None
    assert scores[answers["compared"].answer_id] == answers["compared"].evaluation.score
    said = "not known: the grounding was not evaluated"
    for address in (f"/answers/{late.answer_id}?tenant={TENANT}", f"/review/{review_of(late)}"):
        assert f"<dd>– <small>{said}, " in client.get(address, headers=PAGE).raise_for_status().text
    assert "<span>overall not known</span>" in client.get(f"/search?q={late.answer_id}", headers=PAGE).text
    # A score that is not known counts as 0 for the filter.
    queue = client.get(f"/queue?tenant={TENANT}&state=decided&max_score=0", headers=PAGE).text
    assert '<td class="number" data-note>not known ' in queue
    assert client.get(f"/api/reviews/{review_of(late)}").json()["gate_score"] is None


def test_the_overview_means_scores_of_evaluated_answers(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    known = [answers[name].evaluation.score for name in ("claimless", "compared")]
    scores = [score for score in known if score is not None]
    figures = console.client().get("/api/overview", params={"tenant": TENANT}).raise_for_status().json()
    assert figures["totals"]["gate"] == pytest.approx(sum(scores) / len(scores))


def test_rules_on_claims_have_measured_nothing(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    late, compared = (
        " ".join(console.client().get(f"/answers/{answers[name].answer_id}", params={"tenant": TENANT}, headers=PAGE).text.split())
        for name in ("late", "compared")
    )  # fmt: skip
    for rule in ("conflicting sources", "said before", "contradicts earlier", "citation of other source"):
        assert "not measured" in row_of(late, rule)
        assert "passed" in row_of(compared, rule)


def row_of(page: str, rule: str) -> str:
    """Return the row of a rule in the table of a decision."""
    (row,) = re.findall(rf"<tr[^>]*>(?:(?!</tr>).)*>{rule}<(?:(?!</tr>).)*</tr>", page)
    return str(row)


def test_a_search_for_verdicts_leads_to_answers_without_one(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    found = console.client().get("/search", params={"tenant": TENANT, "verdict": "contradicted"}, headers=PAGE).text
    assert "have no verdict" in found
    (link,) = re.findall(r'href="(/search\?risk=none[^"]*)"', found)
    listed = console.client().get(link.replace("&amp;", "&"), headers=PAGE).text
    assert f"/answers/{answers['late'].answer_id}?" in listed


def test_files_leave_the_numbers_of_claims_empty(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    params = {"tenant": TENANT, "state": "everything"}
    file = console.client("admin").get("/api/audit/decisions/export", params=params).raise_for_status().text
    rows = {(row["answer_id"], row["ruling"]): row for row in csv.DictReader(io.StringIO(file))}
    late = rows[answers["late"].answer_id, "final"]
    assert [late[name] for name in NUMBERS] == ["", "", "", ""]
    assert late["gate_score"] == ""
    listed = console.client("admin").get("/api/audit/decisions", params=params).json()["items"]
    decided = next(row for row in listed if row["ruling"] == "final")
    assert [decided[name] for name in (*NUMBERS, "gate_score")] == [None] * 5
    claimless = rows[answers["claimless"].answer_id, "automatic"]
    assert [claimless[name] for name in NUMBERS[:3]] == ["0", "0", "0"]
