"""A reviewer sees how an answer came about: cut off or not, by which calls and steps, and what its signals mean."""

from datetime import UTC, datetime
from typing import get_args

import pytest

from schemas.answers import ContextChunk, Step, ToolCall
from schemas.enriched import EnrichedAnswer
from schemas.grounding import IssueType
from schemas.identifiers import fact_id
from schemas.quality import SignalType
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from workers.console.presentation.code_meanings import CODE_MEANINGS
from workers.decision.policy import AUDIT, REASONS

TENANT = "of-runs"
PAGE = {"Accept": "text/html"}
CALLED = datetime(2026, 11, 27, 12, 19, 55, tzinfo=UTC)


@pytest.fixture(scope="module")
def answer(console: ConsoleThread) -> EnrichedAnswer:
    """A held answer that was cut off, with the result of a tool and the steps of its run."""
    call = ToolCall(id="call_a1", name="sizing_lookup", arguments={"ingester": 0}, status="success", called_at=CALLED)
    content = "Ingester 0 needs 2 GiB of memory."
    given = risky(0, TENANT).model_copy(
        update={
            "answer": "Ingester 0 needs 16 GiB of memory [1]. It restarts by itself after a crash and",
            "contexts": [ContextChunk(chunk_id="call_a1", content=content, source_type="tool", tool=call)],
            "finish_reason": "length",
            "steps": [
                Step(kind="model", name="plan", model="atlas", started_at=CALLED, output="Long text."),
                Step(kind="tool", name="sizing_lookup", input='{"ingester": 0}', status="error"),
            ],
        }
    )
    (stored,) = console.store([given])
    assert stored.decision.state == "held"
    return stored


def review_page(console: ConsoleThread, answer: EnrichedAnswer) -> str:
    """Return the page of the request for a review of an answer, with single blanks."""
    review = fact_id(answer.tenant, answer.answer_id, "review")
    found = console.client().get(f"/review/{review}", headers=PAGE)
    return " ".join(found.raise_for_status().text.split())


def test_the_reviewer_is_told_that_the_answer_was_cut_off(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    said = "The answer was cut off: the model stopped before its end."
    assert said in review_page(console, answer)
    (ended,) = console.store([risky(1, TENANT)])
    assert said not in review_page(console, ended)


def test_reasons_and_signals_are_explained(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    page = review_page(console, answer)
    assert "incomplete_reasoning" in {signal.type for signal in answer.quality.signals}  # type: ignore[union-attr]
    for code in (*answer.decision.reasons, "incomplete_reasoning"):
        assert CODE_MEANINGS[code] in page


def test_every_reason_signal_and_issue_has_a_meaning() -> None:
    assert set(CODE_MEANINGS) == {*REASONS, AUDIT, *get_args(SignalType), *get_args(IssueType)}


def test_a_result_of_a_tool_has_its_call_beside_it(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    page = review_page(console, answer)
    assert "sizing_lookup {&#34;ingester&#34;:0}" in page
    assert f'called <time datetime="{CALLED.isoformat()}">' in page
    assert "place unknown" not in page
    read = console.client().get(f"/answers/{answer.answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    sources = " ".join(read.partition('id="sources"')[2].partition("</section>")[0].split())
    assert "call <code" in sources
    assert "called 2026-11-27 12:19:55" in sources


def test_the_steps_of_the_run_are_shown_without_what_they_returned(
    console: ConsoleThread, answer: EnrichedAnswer
) -> None:
    steps = review_page(console, answer).partition('id="steps"')[2].partition("</details>")[0]
    assert "Steps of the run (2)" in steps
    assert '<strong>model</strong> <span dir="auto">plan</span> (atlas)' in steps
    assert '<strong class="warn">failed</strong>' in steps
    assert "Long text." not in steps
