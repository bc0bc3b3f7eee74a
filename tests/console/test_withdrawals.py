"""An auditor takes an approved answer back from readers and from memory; it stays in the audit with its decision."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from schemas.identifiers import fact_id
from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values
from tests.harness.deployment import until
from tests.harness.held_answers import held
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.stores.lancedb.memory_store import AskedBefore

pytestmark = needs_browser
TENANT = "withdrawals"


@pytest.fixture(scope="module")
def deciding(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agents that make decisions final, store them and remember answers."""
    with console.worker(["decisions", "analytics", "memory"]):
        yield console


def remembered(console: ConsoleThread, query: str) -> list[str]:
    """Return the answers in memory to exactly this question."""
    memory = console.resources.memory
    assert memory is not None
    asked = [AskedBefore(TENANT, query, datetime.now(UTC) + timedelta(days=1))]
    [found] = console.call(memory.same_questions(asked, 10))
    return [row["answer_id"] for row in found]


def settled(console: ConsoleThread, condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition that asks the console; it is asked in a thread, since the console's loop answers."""

    async def holds() -> bool:
        return await asyncio.to_thread(condition)

    console.call(until(holds, what, 120))


def test_a_withdrawn_answer_leaves_readers_and_memory_and_stays_in_the_audit(
    browser: Browser, deciding: ConsoleThread, values: Values
) -> None:
    answer, other = held(deciding, TENANT, 2)
    name, query = answer.answer_id, answer.answer.query
    review = fact_id(TENANT, name, "review")
    client, auditor = deciding.client("withdrawing"), deciding.client("admin")
    body = {"reason": "wrong_figure", "comment": "It is 2 GiB."}

    def withdraw(client: httpx.Client, review_id: str) -> int:
        return client.post(f"/api/reviews/{review_id}/withdrawal", json=body).status_code

    def detail() -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"/api/answers/{name}").json()
        return found

    def released() -> list[ReleasedAnswer]:
        return [ReleasedAnswer.from_bytes(value) for value in values(ANSWERS_RELEASED, name)]

    assert withdraw(auditor, review) == 422, "nothing is decided yet"
    said = {"user_action": "approve"}
    assert client.post(f"/api/reviews/{review}/decision", json=said).status_code == 202
    settled(deciding, lambda: detail()["state"] == "released", "the approval")
    settled(deciding, lambda: remembered(deciding, query) == [name], "the memory of the approved answer")
    assert withdraw(deciding.client("review"), review) == 403
    assert withdraw(auditor, fact_id(TENANT, other.answer_id, "review")) == 422

    with logged_in(browser, deciding, "withdrawing") as (page, seen):
        page.goto(f"/answers/{name}?tenant={TENANT}")
        page.get_by_text("Withdraw this answer from readers").click()
        page.get_by_label("Reason").fill("wrong figure")
        page.get_by_label("Comment").fill("It is 2 GiB.")
        assert serious_violations(page) == []
        page.get_by_role("button", name="Withdraw the answer").click()
        assert detail()["withdrawal"] is None, "it is confirmed first"
        page.get_by_label("Take it back from all readers").check()
        page.get_by_role("button", name="Withdraw the answer").click()
        expect(page.locator("#status")).to_contain_text("The answer is withdrawn.")
        settled(deciding, lambda: detail()["state"] == "rejected", "the withdrawal")
        decision = page.locator(".decision")
        # The page loads itself again.
        expect(decision).to_contain_text("Withdrawn by withdrawing; readers saw the answer without a warning from")
        expect(decision).to_contain_text("Before: Approved by withdrawing;")
        expect(decision).to_contain_text("because of: wrong figure.")
        expect(page.locator("#shown")).to_contain_text(ENGLISH.withdrawn)
        expect(page.locator(".history")).to_contain_text("decision withdrawn")
        expect(page.locator("#withdraw")).to_have_count(0)
        page.goto(f"/audit/decisions?tenant={TENANT}")
        page.get_by_label("What happened").select_option("withdrawal")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator("#log tbody tr")).to_have_count(1)
        expect(page.locator("#log tbody")).to_contain_text("Withdrawn by withdrawing; readers saw the answer without")
        assert serious_violations(page) == []
        assert seen.complaints == []

    records = released()
    assert [(each.revision, each.final, each.state) for each in records[-2:]] == [
        (100, True, "released"), (200, True, "rejected"),
    ]  # fmt: skip
    assert records[-1].content == ENGLISH.withdrawn
    assert records[-1].citations == []
    settled(deciding, lambda: remembered(deciding, query) == [], "the memory without the withdrawn answer")
    found = client.get("/api/memory", params={"q": query, "tenant": TENANT}).json()["items"]
    assert name not in [turn["answer_id"] for turn in found]
    history = detail()
    assert (history["decision"]["action"], history["withdrawal"]["by"]) == ("approve", "withdrawing")
    assert [text["state"] for text in history["shown"]] == ["held", "released", "rejected"]
    for state, expected in (("released", []), ("rejected", [name])):
        items = client.get("/api/answers", params={"tenant": TENANT, "state": state}).json()["items"]
        assert [item["answer_id"] for item in items] == expected
    assert withdraw(auditor, review) == 409, "it is withdrawn already"
    rulings = [row["ruling"] for row in auditor.get("/api/audit/decisions", params={"q": name}).json()["items"]]
    assert rulings == ["withdrawal", "final"]
