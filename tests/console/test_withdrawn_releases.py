"""An auditor takes an answer back that was released without a person; readers get a notice, and the audit keeps both."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from schemas.identifiers import fact_id
from schemas.release import ReleasedAnswer
from schemas.topics import ANSWERS_RELEASED
from tests.console.test_audit_records import plain
from tests.harness.console import ConsoleThread
from tests.harness.decisions import Values
from tests.harness.deployment import until
from tests.harness.held_answers import held
from workers.decision.reader_text.reader_texts import ENGLISH

TENANT = "withdrawn-release"
BODY = {"reason": "wrong_figure", "comment": "It is 2 GiB."}
PAGE = {"Accept": "text/html"}


def settled(console: ConsoleThread, condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition that asks the console; it is asked in a thread, since the console's loop answers."""

    async def holds() -> bool:
        return await asyncio.to_thread(condition)

    console.call(until(holds, what, 120))


@pytest.fixture(scope="module")
def deciding(console: ConsoleThread) -> Iterator[ConsoleThread]:
    """The console with the agents that make decisions final and store them."""
    with console.worker(["decisions", "analytics"]):
        yield console


def test_a_release_without_a_person_can_be_withdrawn(deciding: ConsoleThread, values: Values) -> None:
    console = deciding
    good = {"query": "After a crash?", "answer": "It is restarted by the operator [1].", "tenant": TENANT}
    names = ("taken-back-final", "taken-back-reviewed")
    final, reviewed = console.store(
        [plain(names[0]).model_copy(update=good), plain(names[1]).model_copy(update={"tenant": TENANT})]
    )
    (waiting,) = held(console, TENANT, 1)
    assert (final.decision.state, final.decision.final) == ("released", True)
    assert (reviewed.decision.state, reviewed.decision.final) == ("warned", False)
    client, auditor = console.client(), console.client("admin")

    def withdraw(name: str, who: Any = auditor) -> int:
        status: int = who.post(f"/api/answers/{name}/withdrawal", params={"tenant": TENANT}, json=BODY).status_code
        return status

    def detail(name: str) -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"/api/answers/{name}").json()
        return found

    assert withdraw(names[0], console.client("review")) == 403
    assert withdraw(names[0], console.client("acme")) == 403
    assert withdraw("taken-back-unknown") == 404
    assert withdraw(waiting.answer_id) == 409, "readers do not get it"
    page = client.get(f"/answers/{names[0]}", headers=PAGE).text
    assert 'id="withdraw"' in page
    assert 'type="checkbox" name="sure" required' in page

    for name in names:
        assert withdraw(name) == 202
        settled(console, lambda name=name: detail(name)["state"] == "rejected", "the withdrawal")
        found = detail(name)
        assert found["decision"] is None
        assert (found["withdrawal"]["reason"], found["withdrawal"]["comment"]) == ("wrong_figure", "It is 2 GiB.")
        assert [text["state"] for text in found["shown"]][1:] == ["rejected"]
        assert found["shown"][-1]["content"] == ENGLISH.withdrawn
        assert found["outcome"].startswith("Withdrawn by admin; readers saw the answer with")
        assert "Before: Released" in found["outcome"]
        assert [each["what"] for each in found["history"] if each["what"] == "decision withdrawn"]
        assert found["contrary"] == []
        record = ReleasedAnswer.from_bytes(values(ANSWERS_RELEASED, name)[-1])
        assert (record.state, record.final, record.revision, record.content) == (
            "rejected",
            True,
            200,
            ENGLISH.withdrawn,
        )
        rows = auditor.get("/api/audit/decisions", params={"tenant": TENANT, "answer_id": name}).json()["items"]
        assert {(row["ruling"], row["state"]) for row in rows} >= {("withdrawal", "withdrawn")}
        (automatic,) = [row for row in rows if row["ruling"] == "automatic"]
        assert "until the withdrawal took effect on" in automatic["outcome"]
        assert automatic["ended_at"]
        page = client.get(f"/answers/{name}", headers=PAGE).text
        assert "Withdrawn on" in page
        assert 'id="withdraw"' not in page
        assert withdraw(name) == 409, "it is withdrawn already"

    waiting_reviews = client.get("/api/reviews", params={"tenant": TENANT}).json()["items"]
    assert [item["answer_id"] for item in waiting_reviews] == [waiting.answer_id], "its review has ended"
    review = fact_id(TENANT, waiting.answer_id, "review")
    assert client.post(f"/api/reviews/{review}/decision", json={"user_action": "approve"}).status_code == 202
    settled(console, lambda: detail(waiting.answer_id)["state"] == "released", "the approval")
    assert withdraw(waiting.answer_id) == 202, "a decided answer as well"
    settled(console, lambda: detail(waiting.answer_id)["state"] == "rejected", "its withdrawal")
    assert detail(waiting.answer_id)["decision"]["action"] == "approve"
