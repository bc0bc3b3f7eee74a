"""An erased answer is named as erased, with the time of the request and without the person."""

from datetime import UTC, datetime

import pytest

from tests.harness.console import ConsoleThread, examples
from workers.console.erased_answers import ErasedAnswers
from workers.delivery.followers.erasure_follower import ErasureRegister, ErasuresUnreadable
from workers.privacy.erasure import forget

TENANT, USER = "erased", "user-of-the-erased"
AT = datetime(2026, 11, 25, 8, 30, tzinfo=UTC)
SAID = "erased at the request of a person"


@pytest.fixture
def reading(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the console read the register again, although another test has asked for an unknown answer before."""
    monkeypatch.setattr(console.resources, "erased", ErasedAnswers(console.resources.erased._read))


def test_an_erased_answer_is_named_as_erased_and_nothing_of_the_person_is(
    console: ConsoleThread, reading: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = examples()[:2]
    named = [
        each.model_copy(update={"answer_id": f"erased-{number}", "tenant": TENANT, "user_id": user})
        for number, (each, user) in enumerate([(first, USER), (second, "somebody-else")], 1)
    ]
    console.store(named)
    client, other = console.client("read"), console.client("acme")
    assert client.get("/api/answers/erased-1", params={"tenant": TENANT}).status_code == 200
    done = console.call(forget(console.settings, console._addresses, TENANT, USER, lambda: AT, "operator-7"))
    assert done.answers == 1

    gone = client.get("/api/answers/erased-1", params={"tenant": TENANT})
    assert gone.status_code == 404
    assert SAID in gone.json()["detail"] and "2026-11-25 08:30:00 UTC" in gone.json()["detail"]
    page = client.get("/answers/erased-1", params={"tenant": TENANT}, headers={"Accept": "text/html"})
    assert page.status_code == 404 and SAID in page.text
    assert USER not in page.text and done.digest not in page.text
    assert SAID in client.get("/api/answers/erased-1").json()["detail"], "the token has all tenants"
    # What was not erased is told apart from it, and nobody hears of another tenant's erasures.
    assert client.get("/api/answers/erased-2", params={"tenant": TENANT}).status_code == 200
    never = client.get("/api/answers/erased-3", params={"tenant": TENANT}).json()["detail"]
    assert SAID not in never and "not be evaluated yet" in never
    assert SAID not in other.get("/api/answers/erased-1").json()["detail"]

    audit = console.client("admin")
    listed = audit.get("/audit/decisions", params={"tenant": TENANT}, headers={"Accept": "text/html"}).text
    assert f"1 answer was {SAID}" in listed and "2026-11-25" in listed
    of_others = audit.get("/audit/decisions", params={"tenant": "acme"}, headers={"Accept": "text/html"}).text
    assert SAID not in of_others

    # The list of erasures says when, by whom and of how many answers, and never of whom.
    assert audit.get("/api/audit/erasures", params={"tenant": TENANT}).json() == [
        {"requested_at": "2026-11-25T08:30:00Z", "tenant": TENANT, "answers": 1, "by": "operator-7"}
    ]
    assert "<td>operator-7</td>" in listed and USER not in listed
    after = {"tenant": TENANT, "since": "2026-11-25T08:30:01Z"}
    assert audit.get("/api/audit/erasures", params=after).json() == []
    assert audit.get("/api/audit/erasures", params={"tenant": "acme"}).json() == []
    assert console.client("read").get("/api/audit/erasures").status_code == 403
    assert other.get("/api/audit/erasures", params={"tenant": TENANT}).status_code == 403
    for params, erased in (({"tenant": TENANT}, "1"), (after, "0"), ({"tenant": "acme"}, "0")):
        for log in ("decisions", "accesses"):
            assert audit.get(f"/api/audit/{log}/export", params=params).headers["X-Erased"] == erased

    async def refused() -> ErasureRegister:
        raise ErasuresUnreadable("privacy.erasures cannot be read")

    monkeypatch.setattr(console.resources, "erased", ErasedAnswers(refused))
    assert "unknown answer" in client.get("/api/answers/erased-1", params={"tenant": TENANT}).json()["detail"]
    assert audit.get("/api/audit/erasures").status_code == 503
    assert audit.get("/api/audit/decisions/export", params={"tenant": TENANT}).headers["X-Erased"] == "unknown"


async def test_the_register_is_read_once_a_minute_and_kept_when_it_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[int] = []
    clock = [1_000.0]
    monkeypatch.setattr("workers.console.erased_answers.time.monotonic", lambda: clock[0])

    async def read() -> ErasureRegister:
        reads.append(1)
        if len(reads) > 1:
            raise ErasuresUnreadable("away")
        return ErasureRegister()

    erased = ErasedAnswers(read)
    for _ in range(3):
        assert await erased.erased_at([], "x") is None
    assert len(reads) == 1
    clock[0] += 61.0
    assert await erased.requests([]) == []
    assert await erased.requests([]) == []
    assert len(reads) == 2, "a failure is not tried again at once"
