"""Earlier answers and the lists of accesses say which text they show: that of readers or that of the model."""

import csv
import io
import re
from datetime import timedelta

import pytest

from schemas.enriched import EnrichedAnswer
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import risky
from tests.harness.reviews import store_decision
from workers.console.presentation.words import SHOWN_BY, TEXT_SHOWN
from workers.decision.release_events import review_request

TENANT = "shown-texts"
PAGE = {"Accept": "text/html"}
LONG = "It needs 2 GiB of memory [1]. " + "Read the guide. " * 150
NAMES = ("held", "corrected", "approved", "last")


@pytest.fixture(scope="module")
def answers(console: ConsoleThread) -> dict[str, EnrichedAnswer]:
    """Four answers of one session: a held, a corrected and an approved one, and the last one."""
    session = {"session_id": "shown-texts-session"}
    stored = console.store(risky(number, TENANT).model_copy(update=session) for number in range(len(NAMES)))
    found = dict(zip(NAMES, stored, strict=True))
    for name, said in (("corrected", {"action": "correct", "corrected_answer": LONG}), ("approved", {})):
        request = review_request(found[name], found[name].enriched_at, deadline_hours=24)
        assert request is not None
        console.call(store_decision(console.resources.analytics, request, **said))
    return found


@pytest.mark.parametrize("page", ["/answers/{answer}?tenant={tenant}", "/review/{review}"])
def test_earlier_answers_name_the_text_of_the_model_and_that_of_readers(
    console: ConsoleThread, answers: dict[str, EnrichedAnswer], page: str
) -> None:
    request = review_request(answers["last"], answers["last"].enriched_at, deadline_hours=24)
    assert request is not None
    address = page.format(answer=answers["last"].answer_id, tenant=TENANT, review=request.review_id)
    html = console.client().get(address, headers=PAGE).raise_for_status().text
    turns = html.partition('aria-label="Earlier answers of this session"')[2].partition("</ol>")[0].split("<li>")[1:]
    held, corrected, approved = (" ".join(re.sub("<[^>]*>", "", turn).split()) for turn in turns)
    assert "The model wrote, not shown to readers now: Ingester 0 needs 16 GiB" in held
    assert "Readers see: It needs 2 GiB of memory" in corrected
    assert "The model wrote: Ingester 1 needs 16 GiB" in corrected
    shown = corrected.partition("Readers see: ")[2].partition("The model wrote:")[0]
    assert 1_900 < len(shown) <= 2_002
    assert shown.endswith(("guide. …", "the …", "Read …"))
    assert "Ingester 2 needs 16 GiB" in approved
    assert "Readers see:" not in approved
    assert "The model wrote" not in approved


def test_every_kind_of_access_says_which_text_it_showed() -> None:
    assert set(TEXT_SHOWN) == set(SHOWN_BY)


def test_accesses_say_which_text_was_shown(console: ConsoleThread, answers: dict[str, EnrichedAnswer]) -> None:
    corrected = answers["corrected"]
    at = corrected.enriched_at + timedelta(minutes=1)
    accesses = [
        {
            "access_id": f"{TENANT}-{what}", "at": at, "who": "ben", "via": "session", "what": what, "tenant": TENANT,
            "answers": [corrected.answer_id],
        }
        for what in ("answer", "queue", "conversation")
    ]  # fmt: skip
    console.call(console.resources.analytics.insert("accesses", accesses))
    params = {"tenant": TENANT, "person": "ben"}
    client = console.client("admin")
    file = client.get("/api/audit/accesses/export", params=params).raise_for_status().text
    for rows in (
        client.get("/api/audit/accesses", params=params).raise_for_status().json()["items"],
        csv.DictReader(io.StringIO(file)),
    ):
        assert {row["what"]: row["text_shown"] for row in rows} == {
            name: TEXT_SHOWN[name] for name in ("answer", "queue", "conversation")
        }
    page = console.client().get(f"/answers/{corrected.answer_id}", params={"tenant": TENANT}, headers=PAGE).text
    listed = page.partition('id="listed"')[2]
    assert f"<td>{SHOWN_BY['conversation']}</td><td>{TEXT_SHOWN['conversation']}</td>" in listed
    assert "the question" in listed
