"""The turns that an answer was sent with stand beside it for everybody who may see the answer, and go with it."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer, Turn
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import fact_id
from tests.harness.console import ConsoleThread
from workers.stores.clickhouse.rows.clickhouse_rows import MAX_TURN
from workers.stores.queries.person_queries import PersonStore

TENANT, USER = "sent-turns", "user-41"
PAGE = {"Accept": "text/html"}
TURNS = [
    Turn(role="user", content="How much amoxicillin may a child of 30 kg take?"),
    Turn(role="assistant", content="At most 750 mg a day, <b>25 mg</b> per kg. " + "x" * MAX_TURN),
]


@pytest.fixture(scope="module")
def answer(console: ConsoleThread) -> EnrichedAnswer:
    """A held answer to a question that nobody understands without the turns before it."""
    source = ContextChunk(
        chunk_id="c1", content="For children under 40 kg the dose is 25 mg per kg of body weight a day."
    )
    sent = GeneratedAnswer(
        answer_id="sent-turns-0", tenant=TENANT, user_id=USER, query="And for my son? He weighs 20 kg.",
        answer="Children take 90 mg per kg of body weight a day [1].", contexts=[source], conversation=TURNS,
        risk_mode="gatekeeper", completed_at=datetime.now(UTC),
    )  # fmt: skip
    (stored,) = console.store([sent])
    assert stored.decision.review
    return stored


def test_the_turns_stand_on_both_pages_and_in_both_replies(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    review = fact_id(TENANT, answer.answer_id, "review")
    expected = [{"role": turn.role, "content": turn.content[:MAX_TURN]} for turn in TURNS]
    for who, path in (("read", f"/api/answers/{answer.answer_id}"), ("review", f"/api/reviews/{review}")):
        assert console.client(who).get(path).raise_for_status().json()["conversation"] == expected
    for who, path in (("read", f"/answers/{answer.answer_id}"), ("review", f"/review/{review}")):
        page = console.client(who).get(path, headers=PAGE).raise_for_status().text
        assert "conversation before it (2 turns)" in page
        assert "How much amoxicillin may a child of 30 kg take?" in page
        assert "&lt;b&gt;25 mg&lt;/b&gt; per kg" in page


def test_another_tenant_does_not_get_them(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    review = fact_id(TENANT, answer.answer_id, "review")
    for path in (f"/api/answers/{answer.answer_id}", f"/api/reviews/{review}", f"/review/{review}/item"):
        reply = console.client("acme").get(path)
        assert reply.status_code == 404
        assert "amoxicillin" not in reply.text


def test_an_erased_person_leaves_no_turns(console: ConsoleThread, answer: EnrichedAnswer) -> None:
    database = console.settings.clickhouse.database
    persons = PersonStore(console.resources.analytics, database)

    async def kept() -> int:
        client = console.resources.analytics.client
        rows = await client.query(f"SELECT count() FROM {database}.answers WHERE position(turns, 'amoxicillin') > 0")
        return int(rows.result_rows[0][0])

    assert console.call(kept()) == 1
    console.call(persons.remove(TENANT, USER, [answer.answer_id]))
    assert console.call(kept()) == 0
    assert console.client("read").get(f"/api/answers/{answer.answer_id}").status_code == 404
