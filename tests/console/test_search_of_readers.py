"""A search finds what readers saw: corrected texts, and answers with a contradicted claim that were shown to readers."""

import html
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from schemas.enriched import EnrichedAnswer
from schemas.review import ClaimVerdict
from tests.console.test_audit_records import plain
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.decision.release_events import review_request
from workers.review.decision_events import decided, withdrawal
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row

TENANT = "readers"
CORRECTION = "Ingester 1 needs two gibibytes, says the sizing guide [1]."
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """Contradicted answers: one that is held, one corrected, one approved, one shown by itself; and one that is right."""
    right = plain("readers-right").model_copy(
        update={"tenant": TENANT, "query": "After a crash?", "answer": "It is restarted by the operator [1]."}
    )
    shown = plain("readers-shown").model_copy(update={"tenant": TENANT})
    stored = console.store([*(risky(number, TENANT) for number in range(3)), shown, right])
    found = dict(zip(("held", "corrected", "approved", "shown", "right"), stored, strict=True))
    assert [answer.decision.state for answer in stored[:4]] == ["held", "held", "held", "warned"]
    for name, said in (("corrected", {"action": "correct", "corrected_answer": CORRECTION}), ("approved", {})):
        request = review_request(found[name], found[name].enriched_at, deadline_hours=24)
        assert request is not None
        console.call(store_decision(console.resources.analytics, request, **said))
    return found


def items(console: ConsoleThread, **params: Any) -> list[dict[str, Any]]:
    found = console.client().get("/api/answers", params={"tenant": TENANT, **params}).raise_for_status().json()
    listed: list[dict[str, Any]] = found["items"]
    return listed


def test_contradicted_answers_that_readers_saw_are_found(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer]
) -> None:
    def names(**params: Any) -> set[str]:
        found = {item["answer_id"] for item in items(console, **params)}
        return {name for name, answer in answers.items() if answer.answer_id in found}

    assert names(verdict="contradicted") == {"held", "corrected", "approved", "shown"}
    assert names(verdict="contradicted", seen="true") == {"approved", "shown"}
    assert names(verdict="contradicted", seen="false") == {"held", "corrected"}
    assert "right" in names(seen="true")
    page = console.client().get(
        "/search", params={"tenant": TENANT, "verdict": "contradicted", "seen": "true"}, headers=PAGE
    )
    text = page.raise_for_status().text
    assert '<option value="contradicted" selected>' in text
    assert answers["approved"].answer_id in text
    assert answers["held"].answer_id not in text


def test_the_verdict_of_a_reviewer_counts_before_that_of_the_evaluation(console: ConsoleThread) -> None:
    tenant = "readers-judged"
    good = {"tenant": tenant, "query": "After a crash?", "answer": "It is restarted by the operator [1]."}
    stored = console.store(
        [*(risky(number, tenant) for number in range(4)), plain("judged-right").model_copy(update=good)]
    )
    client = console.client()

    def said(answer: EnrichedAnswer, verdict: str, **values: Any) -> Any:
        detail = client.get(f"/api/answers/{answer.answer_id}").raise_for_status().json()
        # The right one was released without a request; somebody reviews it all the same.
        wanted = answer.model_copy(update={"decision": answer.decision.model_copy(update={"review": True})})
        request = review_request(wanted, answer.enriched_at, deadline_hours=24)
        assert request is not None
        verdicts = [
            ClaimVerdict.model_validate({"claim_id": each["claim_id"], "verdict": verdict}) for each in detail["claims"]
        ]
        store = console.resources.analytics
        decision = decided(
            request, **{"by": "rita", "profile": {}, "at": answer.enriched_at, "action": "approve"} | values,
            claim_verdicts=verdicts,
        )  # fmt: skip
        console.call(store.store([decision_row(decision, "final"), closing_row(decision)]))
        return request, decision.feedback_id

    def found(verdict: str, **more: str) -> set[str]:
        query = {"tenant": tenant, "verdict": verdict, **more}
        return {
            item["answer_id"] for item in client.get("/api/answers", params=query).raise_for_status().json()["items"]
        }

    open_one, judged_right, unsure, taken_back, right = stored
    assert {answer.answer_id for answer in stored[:4]} <= found("contradicted")
    said(judged_right, "supported")
    said(unsure, "cannot_tell")
    said(right, "contradicted", action="reject")
    request, decision_id = said(taken_back, "supported")
    taken = withdrawal(request, decision_id, by="cleo", at=taken_back.enriched_at, reason="wrong_figure", comment=None)
    console.call(console.resources.analytics.store([decision_row(taken, "withdrawal"), closing_row(taken)]))
    assert found("contradicted") == {each.answer_id for each in (open_one, unsure, taken_back, right)}
    assert judged_right.answer_id in found("supported")
    assert right.answer_id not in found("supported") | found("unsupported")
    page = client.get("/search", params={"tenant": tenant, "verdict": "contradicted"}, headers=PAGE).text
    assert "it counts before that of the evaluation" in page
    assert judged_right.answer_id not in page
    # Words that no answer has: the list is empty, and the reader must learn why.
    none = {"tenant": tenant, "verdict": "contradicted", "q": judged_right.answer_id}
    page = client.get("/search", params=none, headers=PAGE).text
    assert "No answer is like that." in page
    assert "it counts before that of the evaluation" in page
    link = re.search(r'href="(/search\?[^"]*)">Answers with a claim that the evaluation found contradicted', page)
    assert link is not None
    overruled = client.get(html.unescape(link[1]), headers=PAGE).text
    assert f"/answers/{judged_right.answer_id}?" in overruled
    assert '<option value="evaluation" selected>' in overruled
    back = re.search(r'href="/search\?([^"]*)">Count them before those of the evaluation', overruled)
    assert back is not None
    assert dict(parse_qsl(html.unescape(back[1]))) == none
    assert found("contradicted", verdict_by="evaluation") == {each.answer_id for each in stored[:4]}


@pytest.mark.parametrize(
    "words", ["gibibytes", '"two gibibytes"', "gibibytes ingester memory", "gibibytes 16", "SIZING guide gibi"]
)
def test_words_of_a_correction_are_found(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], words: str
) -> None:
    name = answers["corrected"].answer_id
    assert [item["answer_id"] for item in items(console, q=words)] == [name]
    logged = console.client("admin").get("/api/audit/decisions", params={"tenant": TENANT, "q": words}).json()["items"]
    assert {row["answer_id"] for row in logged} == {name}


def test_a_list_has_the_text_that_readers_see(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    shown = {item["answer_id"]: item["shown"] for item in items(console)}
    assert {name: shown[answer.answer_id] for name, answer in answers.items()} == {
        "held": None,
        "corrected": CORRECTION,
        **{name: answers[name].answer.answer for name in ("approved", "shown", "right")},
    }
    page = console.client().get("/search", params={"tenant": TENANT, "q": "gibibytes"}, headers=PAGE).text
    assert CORRECTION.replace("gibibytes", '<mark class="found">gibibytes</mark>') in page
    assert "The model wrote" in page


def test_words_that_no_text_holds_find_nothing(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    assert items(console, q="gibibytes submarine") == []


def test_a_claim_that_a_correction_keeps_was_shown_to_readers(console: ConsoleThread) -> None:
    tenant = "readers-kept"
    keeps, drops, vouched, waits = console.store(risky(number, tenant) for number in range(4))

    def correct(answer: EnrichedAnswer, text: str, **said: Any) -> None:
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        assert request is not None
        said |= {"action": "correct", "corrected_answer": text}
        console.call(store_decision(console.resources.analytics, request, **said))

    def found(**params: str) -> set[str]:
        query = {"tenant": tenant, "verdict": "contradicted", **params}
        listed = console.client().get("/api/answers", params=query).raise_for_status().json()["items"]
        return {item["answer_id"] for item in listed}

    assert vouched.grounding is not None
    (claim,) = [each.claim_id for each in vouched.grounding.claims if each.verdict == "contradicted"]
    correct(keeps, "In short: ingester 0 needs 16 GiB\nof memory [1].")
    correct(drops, "Ingester 1 needs 2 GiB of memory [1]. It restarts by itself after a crash [1].")
    supported = [ClaimVerdict(claim_id=claim, verdict="supported")]
    correct(vouched, "Ingester 2 needs 16 GiB of memory [1].", claim_verdicts=supported)
    assert found(seen="true") == {keeps.answer_id}
    assert found(seen="false") == {drops.answer_id, waits.answer_id}
    # By the verdict of the evaluation alone, the vouched claim is contradicted and was shown as well.
    assert found(seen="true", verdict_by="evaluation") == {keeps.answer_id, vouched.answer_id}
    assert found(seen="false", verdict_by="evaluation") == {drops.answer_id, waits.answer_id}
