"""What the console tells programs."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread, examples
from tests.harness.decisions import waited_for
from tests.harness.reviews import AT, review_request, store_decision
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows

TENANT = "told"
"""Tenant of this file: other files share the console and store answers of their own."""


@pytest.fixture(scope="module")
def stored(console: ConsoleThread) -> list[EnrichedAnswer]:
    return console.store(answer.model_copy(update={"tenant": TENANT}) for answer in examples())


@pytest.fixture
def api(console: ConsoleThread, stored: list[EnrichedAnswer]) -> httpx.Client:
    return console.client(TENANT)


def with_citations(stored: list[EnrichedAnswer]) -> EnrichedAnswer:
    return next(answer for answer in stored if answer.citations and answer.citations.citations)


def test_an_answer_is_told_with_claims_citations_decision_and_history(
    api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    enriched = with_citations(stored)
    assert enriched.grounding
    assert enriched.citations
    body = api.get(f"/api/answers/{enriched.answer_id}").raise_for_status().json()
    assert body["answer"] == enriched.answer.answer
    assert [(claim["claim_id"], claim["verdict"]) for claim in body["claims"]] == [
        (claim.claim_id, claim.verdict)
        for claim in sorted(enriched.grounding.claims, key=lambda claim: claim.span.start)
    ]
    assert {c["citation_id"] for c in body["citations"] if c["valid"]} == {
        c.citation_id for c in enriched.citations.citations
    }
    assert body["characteristics"] == enriched.evaluation.metrics
    assert [each["what"] for each in body["history"]][:1] == ["asked" if enriched.answer.requested_at else "answered"]
    explained = api.get(f"/api/answers/{enriched.answer_id}/explanation").raise_for_status().json()
    assert explained["state"] == enriched.decision.state
    assert [row["fact"] for row in explained["rows"] if row["decided"]] == sorted(
        enriched.decision.reasons, key=[row["fact"] for row in explained["rows"]].index
    )


@pytest.fixture
def verified(console: ConsoleThread, stored: list[EnrichedAnswer]) -> EnrichedAnswer:
    """An answer under review of whose claims a verifier was asked about the first."""
    enriched = next(
        each for each in stored if each.decision.review and each.grounding and len(each.grounding.claims) > 1
    )
    assert enriched.grounding
    asked, *others = enriched.grounding.claims
    claims = [asked.model_copy(update={"verifier_score": 0.27}), *others]
    grounding = enriched.grounding.model_copy(update={"claims": claims})
    verified = enriched.model_copy(update={"grounding": grounding})
    rows = [row.columns for row in enriched_rows(verified) if row.table == "claims"]
    console.call(console.resources.analytics.insert("claims", rows))
    return verified


def test_what_a_verifier_said_of_a_claim_is_told(console: ConsoleThread, verified: EnrichedAnswer) -> None:
    assert verified.grounding
    scores = {claim.claim_id: claim.verifier_score for claim in verified.grounding.claims}
    body = console.client(TENANT).get(f"/api/answers/{verified.answer_id}").raise_for_status().json()
    assert {claim["claim_id"]: claim["verifier_score"] for claim in body["claims"]} == scores
    page = console.client(TENANT).get(f"/answers/{verified.answer_id}").raise_for_status().text
    assert page.count("verifier 0.27") == 1


def test_reviewers_see_what_a_verifier_said(console: ConsoleThread, verified: EnrichedAnswer) -> None:
    assert verified.grounding
    scores = {claim.claim_id: claim.verifier_score for claim in verified.grounding.claims}
    reviewer = console.client("review")
    review = fact_id(verified.tenant, verified.answer_id, "review")
    body = reviewer.get(f"/api/reviews/{review}").raise_for_status().json()
    assert {claim["claim_id"]: claim["verifier_score"] for claim in body["claims"]} == scores
    page = reviewer.get(f"/review/{review}/item").raise_for_status().text
    assert page.count("verifier 0.27") == 1


def test_who_has_the_current_version_of_a_look_up_is_sent_nothing(
    api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    enriched = with_citations(stored)
    assert enriched.citations
    citation = enriched.citations.citations[0]
    for path in (f"/api/answers/{enriched.answer_id}", f"/api/citations/{citation.citation_id}"):
        first = api.get(path).raise_for_status()
        again = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        other = api.get(path, headers={"If-None-Match": '"another"'})
        assert other.status_code == 200


def test_a_citation_leads_to_its_source_and_back(api: httpx.Client, stored: list[EnrichedAnswer]) -> None:
    enriched, citation = next(
        (answer, citation)
        for answer in stored
        for citation in (answer.citations.citations if answer.citations else [])
        if citation.record_id
    )
    found = api.get(f"/api/citations/{citation.citation_id}").raise_for_status().json()
    contexts = enriched.answer.contexts or []
    assert found["source_content"] == contexts[citation.number - 1].content
    assert found["answer_id"] == enriched.answer_id
    source = found["source_table"] or found["source_type"]
    told = api.get(f"/api/citations/source/{source}/{found['record_id']}", params={"tenant": enriched.tenant})
    assert citation.citation_id in told.raise_for_status().json()["related_citations"]


def test_answers_are_found_by_text_model_risk_and_time(api: httpx.Client, stored: list[EnrichedAnswer]) -> None:
    def found(**search: str) -> set[str]:
        body = api.get("/api/answers", params={"limit": "200", **search}).raise_for_status().json()
        return {item["answer_id"] for item in body["items"]}

    everything = {answer.answer_id for answer in stored}
    assert found() == everything
    word = stored[0].answer.query.split()[0]
    assert found(q=word.upper()) == {
        answer.answer_id
        for answer in stored
        if word.lower() in answer.answer.query.lower() or word.lower() in answer.answer.answer.lower()
    }
    assert found(q=stored[3].answer_id) == {stored[3].answer_id}
    model = stored[0].answer.model.id
    assert found(model=model) == {answer.answer_id for answer in stored if answer.answer.model.id == model}
    assert found(risk="high") == {
        answer.answer_id for answer in stored if answer.grounding and answer.grounding.hallucination_risk == "high"
    }
    times = sorted(answer.answer.completed_at for answer in stored)
    middle = times[len(times) // 2]
    later = {answer.answer_id for answer in stored if answer.answer.completed_at >= middle}
    assert found(since=middle.isoformat()) == later
    assert found(until=middle.isoformat()) == everything - later
    assert found(q="no answer says this; DROP TABLE answers --") == set()


def test_pages_of_a_list_hold_every_answer_once_the_latest_first(
    api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = api.get("/api/answers", params={"limit": "7", **cursor}).raise_for_status().json()
        seen += [item["answer_id"] for item in body["items"]]
        if body["next_cursor"] is None:
            break
        cursor = {"cursor": body["next_cursor"]}
    expected = sorted(stored, key=lambda answer: (answer.answer.completed_at, answer.answer_id), reverse=True)
    assert seen == [answer.answer_id for answer in expected]


@pytest.mark.parametrize(
    "cursor", ["x", "WzEsMl0", "e30", "WyJhIiwgImIiXQ", "WzFlOTksICJhIl0", "WzkyMjMzNzIwMzY4NTQ3NzU4MDcsICJhIl0"]
)
def test_a_cursor_that_is_none_of_ours_is_refused(api: httpx.Client, cursor: str) -> None:
    refused = api.get("/api/answers", params={"cursor": cursor})
    assert refused.status_code == 422
    assert "cursor" in refused.json()["detail"]


def test_the_audit_tells_citations_and_low_grounding(
    console: ConsoleThread, api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    logged = api.get("/api/audit/citations", params={"limit": 200}).raise_for_status().json()["items"]
    assert {item["response_id"]: item["citation_count"] for item in logged} == {
        answer.answer_id: len(answer.formatted.citations) if answer.formatted else 0 for answer in stored
    }
    assert all(citation["id"] for item in logged for citation in item["citations"])
    low = api.get("/api/audit/low-grounding", params={"limit": 200}).raise_for_status().json()["items"]
    minimum = console.settings.grounding.grounding_minimum
    scores = {answer.answer_id: answer.grounding.grounding_score for answer in stored if answer.grounding}
    expected = {answer_id for answer_id, score in scores.items() if score is not None and score < minimum}
    assert expected
    assert {item["response_id"] for item in low} == expected
    wrong = api.get("/api/audit/citations", params={"only_invalid": True, "limit": 200}).raise_for_status().json()
    assert {item["response_id"] for item in wrong["items"]} == {
        answer.answer_id for answer in stored if answer.citations and answer.citations.invalid_references
    }


def test_memory_is_searched_by_meaning_with_where_it_comes_from(
    console: ConsoleThread, api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    remembered = next(answer for answer in stored if answer.decision.remember)
    question = f"Please tell me: {remembered.answer.query}"
    body = api.get("/api/memory", params={"q": question, "tenant": remembered.tenant}).raise_for_status().json()
    nearest = body["items"][0]
    assert nearest["answer_id"] == remembered.answer_id
    assert nearest["context_chunks"] == [chunk.chunk_id for chunk in remembered.answer.contexts or []]
    assert [item["similarity"] for item in body["items"]] == sorted(
        (i["similarity"] for i in body["items"]), reverse=True
    )
    other = (
        console.client().get("/api/memory", params={"q": question, "tenant": "somebody'else"}).raise_for_status().json()
    )
    assert other["items"] == []


def test_the_overview_counts_what_was_judged(
    console: ConsoleThread, api: httpx.Client, stored: list[EnrichedAnswer]
) -> None:
    latest = max(answer.enriched_at for answer in stored)
    clock, console.resources.now = console.resources.now, lambda: latest
    try:
        body = api.get("/api/overview", params={"period": "30d"}).raise_for_status().json()
    finally:
        console.resources.now = clock
    counted = [answer for answer in stored if (latest - answer.enriched_at).days < 30 and answer.enriched_at < latest]
    assert body["totals"]["answers"] == len(counted)
    assert sum(point["answers"] for point in body["series"]) == len(counted)
    high = [answer for answer in counted if answer.grounding and answer.grounding.hallucination_risk == "high"]
    assert body["totals"]["high"] == len(high)
    totals = body["totals"]
    unrated = [answer for answer in counted if not answer.grounding or answer.grounding.hallucination_risk is None]
    assert totals["without_risk"] == len(unrated)
    for each in (totals, *body["series"], *body["models"]):
        assert each["low"] + each["medium"] + each["high"] + each["without_risk"] == each["answers"]
    assert {model["model_id"] for model in body["models"]} == {answer.answer.model.id for answer in counted}
    assert body["backlog"]["open"] == sum(answer.decision.review for answer in stored)
    assert body["lag"] == {"grounding": 0}


def test_who_was_shown_an_answer_is_noted(console: ConsoleThread, stored: list[EnrichedAnswer]) -> None:
    """The row travels by topic; here the test stores it as the analytics agent does."""
    looked_at = stored[5].answer_id
    before = datetime.now(UTC)
    sent = console.resources.producer
    written: list[bytes] = []

    class Recording:
        async def send(self, outputs, *, agent):  # type: ignore[no-untyped-def]
            written.extend(output.value for output in outputs)
            await sent.send(outputs, agent=agent)

    log = console.resources.accesses
    log._producer = Recording()  # type: ignore[assignment]
    try:
        console.client(TENANT).get(f"/api/answers/{looked_at}").raise_for_status()
        waited_for(lambda: written, "the note of the access")
    finally:
        log._producer = sent
    import json

    rows = [json.loads(value)["columns"] for value in written]
    console.call(console.resources.analytics.insert("accesses", rows))
    told = console.client(TENANT).get("/api/audit/accesses", params={"answer_id": looked_at}).raise_for_status().json()
    (access,) = told["items"]
    assert (access["who"], access["via"], access["what"], access["answers"]) == (TENANT, "token", "answer", [looked_at])
    assert datetime.fromisoformat(access["at"]) >= before.replace(microsecond=0)


@pytest.mark.parametrize("state", ["open", "decided", "second"])
def test_a_review_cursor_that_is_none_of_ours_is_refused(console: ConsoleThread, state: str) -> None:
    refused = console.client("review").get("/api/reviews", params={"state": state, "cursor": "x"})
    assert refused.status_code == 422
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert "next_cursor" in refused.json()["detail"]
    assert [each["field"] for each in refused.json()["fields"]] == ["cursor"]


def test_pages_of_decided_reviews_hold_every_one_once(console: ConsoleThread, stored: list[EnrichedAnswer]) -> None:
    """Decisions travel by topic; here the test stores their rows as the agents do."""
    tenant = "decided-reviews"
    requests = [review_request(number, tenant=tenant) for number in range(5)]
    for number, request in enumerate(requests):
        console.call(store_decision(console.resources.analytics, request, at=AT + timedelta(minutes=number)))
    client, seen, cursor = console.client("review"), [], {}
    while True:
        params = {"state": "decided", "tenant": tenant, "limit": "2", **cursor}
        page = client.get("/api/reviews", params=params).raise_for_status().json()
        assert page["open_count"] == 5
        seen.append([item["answer_id"] for item in page["items"]])
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [["a-4", "a-3"], ["a-2", "a-1"], ["a-0"]]
