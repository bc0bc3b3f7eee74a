"""An empty answer was seen by nobody: pages and audit say that readers got an empty answer."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread
from tests.harness.reviews import store_decision
from workers.console.presentation.outcome import Recorded, SeenBefore, is_empty, outcome_words, seen_as
from workers.decision.release_events import review_request
from workers.review.decision_events import decided, withdrawal
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row

TENANT = "emptied"
TEXTS = ("", " \n\u200b ", "\u2060\ufeff", "\u3000\u00ad")
SAW = re.compile(r"[Rr]eaders (?:already )?(?:saw (?:it|the answer)|see the answer|keep the answer)")
"""Words of an answer that has a text."""
AT = datetime(2026, 11, 3, 9, tzinfo=UTC)


def asked(number: int, text: str) -> GeneratedAnswer:
    return GeneratedAnswer(
        answer_id=f"emptied-{number}", tenant=TENANT, query="What is the delivery time?", answer=text,
        contexts=[ContextChunk(chunk_id="c1", content="The delivery takes 3 days.")],
        risk_mode="observer", completed_at=datetime.now(UTC) - timedelta(minutes=number + 1),
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> Sequence[EnrichedAnswer]:
    """Empty answers that were released, and last one with a text; all but the first are rejected."""
    found = console.store(
        [*(asked(number, text) for number, text in enumerate(TEXTS)), asked(9, "It takes 3 days [1].")]
    )
    for answer in found[1:]:
        request = review_request(answer, answer.enriched_at, deadline_hours=24)
        if request is not None:
            decision = {"by": "anna", "at": datetime.now(UTC), "action": "reject"}
            console.call(store_decision(console.resources.analytics, request, **decision))
    return found


def page_of(console: ConsoleThread, address: str) -> str:
    response = console.client().get(address, headers={"Accept": "text/html"})
    assert response.status_code == 200
    return re.sub(r'(?s)<span class="tip".*?</span>|<[^>]+>', "", response.text)


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_the_page_of_an_empty_answer_never_says_that_readers_saw_it(
    console: ConsoleThread, answers: Sequence[EnrichedAnswer], number: int
) -> None:
    assert answers[number].decision.state == "released"
    shown = page_of(console, f"/answers/{answers[number].answer_id}?tenant={TENANT}")
    assert SAW.findall(shown) == []
    assert "readers got an empty answer" in shown
    assert "Readers got an empty answer." in shown
    assert "The answer has no text, and so no claims." in shown
    assert "The model gave an empty answer." in shown


def test_an_answer_with_a_text_was_seen(console: ConsoleThread, answers: Sequence[EnrichedAnswer]) -> None:
    shown = page_of(console, f"/answers/{answers[-1].answer_id}?tenant={TENANT}")
    assert "readers saw it" in shown
    assert "empty answer" not in shown.replace("empty answercharacters", "").replace("“empty answer”", "")


def test_the_request_on_an_empty_answer_says_what_readers_have(
    console: ConsoleThread, answers: Sequence[EnrichedAnswer]
) -> None:
    shown = page_of(console, f"/review/{fact_id(TENANT, 'emptied-0', 'review')}")
    assert SAW.findall(shown) == []
    assert "Readers have an empty answer; your decision replaces it." in shown
    assert "readers keep an empty answer" in shown


def test_the_audit_says_what_readers_got_of_empty_answers(
    console: ConsoleThread, answers: Sequence[EnrichedAnswer]
) -> None:
    response = console.client().get("/api/audit/decisions", params={"tenant": TENANT, "state": "everything"})
    by_answer = {(item["answer_id"], item["ruling"]): item["outcome"] for item in response.json()["items"]}
    automatic = by_answer["emptied-0", "automatic"]
    assert automatic.startswith("Released automatically, without a person; readers got an empty answer from ")
    for number in range(1, len(TEXTS)):
        words = by_answer[f"emptied-{number}", "final"]
        assert words.startswith("Rejected by anna; readers got an empty answer from ")
        assert words.endswith(", then a notice in its place.")
    assert "readers saw it without a warning" in by_answer["emptied-9", "automatic"]


def test_an_approved_and_withdrawn_empty_answer_was_an_empty_one_to_its_end(console: ConsoleThread) -> None:
    """Approvals of empty answers are refused; there are some from before."""
    tenant = "emptied-before"
    (answer,) = console.store([asked(10, "").model_copy(update={"tenant": tenant})])
    request = review_request(answer, answer.enriched_at, deadline_hours=24)
    assert request is not None
    begin, approved, ended = (answer.enriched_at + timedelta(minutes=number) for number in range(3))
    values = {"by": "anna", "profile": {}, "at": approved, "action": "approve", "with_warning": True}
    decision = decided(request, **values)
    taken = withdrawal(request, decision.feedback_id, by="cleo", at=ended, reason="wrong_figure", comment=None)
    rows = [
        decision_row(decision, "final"),
        closing_row(decision),
        decision_row(taken, "withdrawal"),
        closing_row(taken),
    ]
    console.call(console.resources.analytics.store(rows))
    since, at, end = (f"{time:%Y-%m-%d %H:%M:%S} UTC" for time in (begin, approved, ended))
    said = (
        f"Approved with a warning by anna; readers got an empty answer from {since} to {at}, "
        f"then an empty answer with a warning, until it was withdrawn on {end}."
    )
    withdrawn = (
        f"Withdrawn by cleo; readers got an empty answer with a warning from {at} to {end}, then a notice in its place."
    )
    found = (
        console.client().get(f"/api/answers/{answer.answer_id}", params={"tenant": tenant}).raise_for_status().json()
    )
    assert found["outcome"] == f"{withdrawn} Before: {said}"
    shown = page_of(console, f"/answers/{answer.answer_id}?tenant={tenant}")
    _, _, history = shown.partition(f"{withdrawn} Before: {said}")
    assert said in history
    assert withdrawn in history
    response = console.client().get("/api/audit/decisions", params={"tenant": tenant, "state": "everything"})
    assert {item["ruling"]: item["outcome"] for item in response.json()["items"] if item["ruling"] != "automatic"} == {
        "final": said, "withdrawal": withdrawn,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "reasons", "empty"),
    [
        ("", ["empty_answer"], True),
        ("[1]", ["empty_answer"], True),
        ("\u200b", [], True),
        ("", ["text_not_sent"], False),
        ("It is 3.", ["refusal"], False),
        ("✓", [], False),
    ],
)
def test_an_answer_is_empty_without_a_text_of_the_model(answer: str, reasons: list[str], empty: bool) -> None:
    assert is_empty(answer, reasons) == empty


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("released", "readers got an empty answer"),
        ("warned", "readers got an empty answer with a warning"),
        ("held", "readers saw nothing yet"),
        ("rejected", "readers saw a notice in its place"),
        ("replaced", "readers saw the corrected text"),
    ],
)
def test_only_states_that_show_the_text_of_the_model_are_empty(state: str, words: str) -> None:
    assert seen_as(state, empty=True) == words


def test_a_correction_of_an_empty_answer_says_what_came_before() -> None:
    record = Recorded("final", "correct", "replaced", "anna", AT + timedelta(hours=1), empty=True)
    assert outcome_words(record, SeenBefore("warned", AT, empty=True)) == (
        "Corrected by anna; readers got an empty answer with a warning from 2026-11-03 09:00:00 UTC to "
        "2026-11-03 10:00:00 UTC, then the corrected text."
    )
