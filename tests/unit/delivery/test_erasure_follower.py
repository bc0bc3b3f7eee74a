"""The register of erasures: what it covers, on every topic, and what it must never cover."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.identifiers import answer_digest, first_answer_digest, first_person_digest, person_digest
from schemas.privacy import Erasure
from schemas.topics import (
    ANSWERS_ENRICHED,
    ANSWERS_GENERATED,
    ANSWERS_RELEASED,
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_INSIGHTS,
    MEMORY_TURNS,
    PRIVACY_ERASURES,
    REVIEW_DECISIONS,
    REVIEW_REQUESTS,
    ROUTING_POSTERIORS,
    TOPICS,
    Topic,
)
from workers.delivery.followers.erasure_follower import ErasureRegister, erasure_output
from workers.delivery.followers.record_subjects import subject_of, tenant_of
from workers.delivery.records import Record

ERASED_AT = datetime(2026, 11, 10, tzinfo=UTC)
BEFORE, AFTER = ERASED_AT - timedelta(days=1), ERASED_AT + timedelta(days=1)
NAMELESS = (FEEDBACK_INSIGHTS, ROUTING_POSTERIORS, PRIVACY_ERASURES)
"""Topics whose records are about nobody."""

WITH_PERSON = (ANSWERS_GENERATED, ANSWERS_ENRICHED, MEMORY_TURNS, REVIEW_REQUESTS, REVIEW_DECISIONS, FEEDBACK_EVENTS)
TIMES = {
    ANSWERS_GENERATED: "requested_at", MEMORY_TURNS: "timestamp", REVIEW_REQUESTS: "requested_at",
    REVIEW_DECISIONS: "timestamp", FEEDBACK_EVENTS: "occurred_at",
}  # fmt: skip


def register(*answers: str, tenant: str = "acme") -> ErasureRegister:
    """Knows one erased person, and answers of theirs."""
    made = ErasureRegister()
    made.note(Erasure(digest=person_digest("acme", "gone"), tenant="acme", requested_at=ERASED_AT))
    made.note(
        Erasure(
            digest=person_digest(tenant, "gone"),
            tenant=tenant,
            requested_at=ERASED_AT,
            answers=[answer_digest(tenant, answer) for answer in answers],
        )
    )
    return made


def record(topic: Topic, content: Any, key: bytes | None = None, arrived: datetime = AFTER) -> Record:
    value = content if isinstance(content, bytes) or content is None else json.dumps(content).encode()
    return Record(topic.name, 0, 0, key, value, timestamp=arrived.timestamp())


def of_person(topic: Topic, user: str, at: datetime) -> dict[str, Any]:
    """The topic's example, as if of that person and time."""
    content = example(topic.model)
    if topic is ANSWERS_ENRICHED:
        return content | {"tenant": "acme", "answer": of_person(ANSWERS_GENERATED, user, at)}
    return content | {"tenant": "acme", "user_id": user, "answer_id": "a-9", TIMES[topic]: at.isoformat()}


@pytest.mark.parametrize("topic", WITH_PERSON, ids=lambda topic: topic.name)
def test_an_erased_person_is_found_on_every_topic_that_names_persons(topic: Topic) -> None:
    known = register()
    assert known.covers(record(topic, of_person(topic, "gone", BEFORE)))
    assert not known.covers(record(topic, of_person(topic, "neighbour", BEFORE)))
    assert not known.covers(record(topic, of_person(topic, "gone", AFTER))), "the person has come back"
    assert not known.covers(record(topic, of_person(topic, "gone", ERASED_AT))), "that very moment is after it"
    elsewhere = of_person(topic, "gone", BEFORE) | {"tenant": "other"}
    if topic is not ANSWERS_ENRICHED:
        assert not known.covers(record(topic, elsewhere)), "somebody else's user of that name"
    early = record(topic, of_person(topic, "gone", AFTER), arrived=BEFORE)
    assert known.covers(early), "a clock that runs ahead does not make it later"


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic not in NAMELESS], ids=lambda topic: topic.name)
def test_an_erased_answer_is_found_on_every_topic_about_answers(topic: Topic) -> None:
    content = example(topic.model)
    if topic is DEAD_LETTERS:
        content = example(ANSWERS_GENERATED.model)
    elif topic is FEEDBACK_ANALYTICS:
        content = {"table": "claims", "columns": {"answer_id": content["columns"]["answer_id"], "text": "x"}}
    inner = content.get("columns", content)
    inner.pop("user_id", None)
    known = register(inner["answer_id"], tenant=inner.get("tenant", "default"))
    assert known.covers(record(topic, content, arrived=BEFORE))
    assert known.covers(record(topic, content, arrived=AFTER)), "a late word about an erased answer"
    assert not register("another").covers(record(topic, content, arrived=BEFORE))
    unreadable = record(topic, b"\xff no json", key=inner["answer_id"].encode())
    assert known.covers(unreadable), "what cannot be read has its key"


@pytest.mark.parametrize("column", ["answer_id", "query_id", "response_id"])
def test_rows_are_known_by_the_answer_however_their_table_calls_it(column: str) -> None:
    row = {"table": "t", "columns": {"tenant": "acme", column: "a-1"}}
    assert register("a-1").covers(record(FEEDBACK_ANALYTICS, row))
    assert not register("a-2").covers(record(FEEDBACK_ANALYTICS, row))


def test_rows_with_a_person_are_known_by_the_person() -> None:
    columns = {"tenant": "acme", "user_id": "gone", "answer_id": "a-1", "requested_at": None}
    row = {"table": "answers", "columns": columns | {"completed_at": BEFORE.isoformat()}}
    assert register().covers(record(FEEDBACK_ANALYTICS, row))
    row = {"table": "answers", "columns": columns | {"completed_at": AFTER.isoformat()}}
    assert not register().covers(record(FEEDBACK_ANALYTICS, row))


@pytest.mark.parametrize("value", [None, b"", b"null", b"[1]", b'"text"', b"{", b'{"user_id": 7, "tenant": ["acme"]}'])
def test_what_says_nothing_of_a_person_is_nobodys(value: bytes | None) -> None:
    assert not register("a-1").covers(record(ANSWERS_GENERATED, value))


def test_a_time_that_cannot_be_read_leaves_the_records_own() -> None:
    content = {"user_id": "gone", "tenant": "acme", "completed_at": "yesterday"}
    assert register().covers(record(ANSWERS_GENERATED, content, arrived=BEFORE))
    assert not register().covers(record(ANSWERS_GENERATED, content, arrived=AFTER))


def test_an_answer_that_nobody_has_named_is_learned_from_who_asked_and_never_from_who_judged_it() -> None:
    known = register("a-1")
    asked = of_person(ANSWERS_GENERATED, "gone", BEFORE)
    learned = known.unknown_answer(record(ANSWERS_GENERATED, asked))
    assert learned is not None and learned.answers == [answer_digest("acme", "a-9")]
    assert known.unknown_answer(record(ANSWERS_GENERATED, asked | {"answer_id": "a-1"})) is None
    assert known.unknown_answer(record(ANSWERS_GENERATED, of_person(ANSWERS_GENERATED, "gone", AFTER))) is None
    rating = of_person(FEEDBACK_EVENTS, "gone", BEFORE)
    assert rating["kind"] == "explicit"
    assert known.covers(record(FEEDBACK_EVENTS, rating)), "what they said is theirs"
    assert known.unknown_answer(record(FEEDBACK_EVENTS, rating)) is None, "the answer is a neighbour's"
    call = rating | {"kind": "execution", "execution": {"status": "success"}}
    assert known.unknown_answer(record(FEEDBACK_EVENTS, call)) is not None
    keyed = {"user_id": "gone", "tenant": "acme", "completed_at": BEFORE.isoformat()}
    assert known.unknown_answer(record(ANSWERS_GENERATED, keyed, key=b"session-1")) is None, "a key is no name"


def test_an_erasure_that_names_answers_never_takes_the_place_of_another() -> None:
    erasure = Erasure(digest=person_digest("acme", "gone"), requested_at=ERASED_AT)
    parts = [erasure, *(erasure.model_copy(update={"answers": [answer_digest("acme", name)]}) for name in ("a", "b"))]
    assert len({erasure_output(part, "forget").key for part in parts}) == 3


times = st.integers(0, 40).map(lambda days: ERASED_AT + timedelta(days=days - 20))


@given(
    st.lists(st.tuples(st.sampled_from(["u1", "u2"]), times), max_size=6),
    st.randoms(),
    st.sampled_from(["u1", "u2"]),
    times,
)
def test_the_order_of_erasures_and_their_repeats_change_nothing(
    erasures: list[tuple[str, datetime]], chance: Any, user: str, at: datetime
) -> None:
    def covers(given: list[tuple[str, datetime]]) -> bool:
        known = ErasureRegister()
        for name, requested_at in given:
            known.note(Erasure(digest=person_digest("acme", name), requested_at=requested_at))
        return known.covers(record(ANSWERS_GENERATED, of_person(ANSWERS_GENERATED, user, at), arrived=AFTER))

    shuffled = [*erasures, *erasures]
    chance.shuffle(shuffled)
    expected = any(name == user and min(at, AFTER) < requested_at for name, requested_at in erasures)
    assert covers(erasures) == covers(shuffled) == expected


# --- tenants ---------------------------------------------------------------------------------


def earlier_register(tenant: str = "acme", user: str = "gone", answer: str = "a-1") -> ErasureRegister:
    """Return a register of an earlier version, whose digests of answers had no tenant."""
    made = ErasureRegister()
    digest = first_person_digest(tenant, user)
    made.note(Erasure(digest=digest, tenant=tenant, requested_at=ERASED_AT, answers=[first_answer_digest(answer)]))
    return made


@pytest.mark.parametrize("known", [register("a-1"), earlier_register()], ids=["now", "before"])
def test_an_erasure_is_obeyed_within_its_tenant_and_nowhere_else(known: ErasureRegister) -> None:
    for tenant, theirs in (("acme", True), ("globex", False), ("default", False)):
        answer = {"answer_id": "a-1", "tenant": tenant, "completed_at": AFTER.isoformat()}
        assert known.covers(record(ANSWERS_GENERATED, answer)) == theirs, tenant
        person = {"answer_id": "x", "tenant": tenant, "user_id": "gone", "completed_at": BEFORE.isoformat()}
        assert known.covers(record(ANSWERS_GENERATED, person)) == theirs, tenant
    assert not known.covers(record(ANSWERS_GENERATED, {"answer_id": "a-1"})), "no tenant is the default one"


def test_a_record_that_only_its_key_names_is_of_the_tenant_in_the_key() -> None:
    known = register("a-1")
    assert known.covers(record(ANSWERS_RELEASED, None, key=b'["acme","a-1"]'))
    assert not known.covers(record(ANSWERS_RELEASED, None, key=b'["globex","a-1"]'))
    assert known.covers(record(ANSWERS_GENERATED, b"no json", key=b"a-1")), "of whichever tenant"


def test_a_person_whose_earlier_digest_is_that_of_another_person_is_not_erased_with_them() -> None:
    known = earlier_register("a", "b\x1fc")
    shared = {"answer_id": "x", "completed_at": BEFORE.isoformat()}
    assert known.covers(record(ANSWERS_GENERATED, shared | {"tenant": "a", "user_id": "b\x1fc"}))
    assert not known.covers(record(ANSWERS_GENERATED, shared | {"tenant": "a\x1fb", "user_id": "c"}))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1E+999", "1" * 25, "1" * 400])
@pytest.mark.parametrize("place", ['"metadata": {"logprob": %s}', '"metadata": {"all": [{"deep": %s}]}', '"extra": %s'])
def test_a_person_is_found_in_every_record_that_a_model_reads(number: str, place: str) -> None:
    """Python writes such numbers, and models read them."""
    content = json.dumps(of_person(ANSWERS_GENERATED, "gone", BEFORE) | {"metadata": {}})
    value = content.replace('"metadata": {}', place % number).encode()
    answer = GeneratedAnswer.from_bytes(value)
    read = record(ANSWERS_GENERATED, value)
    found = subject_of(read)
    assert (found.tenant, found.user_id, found.answer_id) == (answer.tenant, answer.user_id, answer.answer_id)
    assert tenant_of(read) == "acme"
    assert register().covers(read)


@pytest.mark.parametrize("time", ["NaN", "Infinity", "1e400", "1" * 400, "-1" + "0" * 300])
def test_a_number_without_a_time_does_not_stop_the_check(time: str) -> None:
    value = json.dumps(of_person(ANSWERS_GENERATED, "gone", BEFORE) | {"requested_at": "here"})
    read = record(ANSWERS_GENERATED, value.replace('"here"', time).encode(), arrived=BEFORE)
    assert subject_of(read).user_id == "gone"
    assert register().covers(read)
