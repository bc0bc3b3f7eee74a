"""Identifiers that must never change, and headers that others read."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.headers import event_headers, header
from schemas.identifiers import (
    NAMESPACE,
    answer_digest,
    citation_id,
    claim_id,
    content_id,
    dead_letter_id,
    evaluation_id,
    fact_id,
    feedback_id,
    feedback_score_id,
    insight_id,
    judgement_id,
    named_by_key,
    person_digest,
    record_key,
)

A = "7d0c2f0e-6a1c-4f0e-9a59-3f1a1a6a0001"


@pytest.mark.parametrize(
    ("made", "golden"),
    [
        (judgement_id("default", A, "grounding"), "a82196d2-66af-56c4-a021-9a6c94427f65"),
        (judgement_id("default", A, "grounding", "replay-1"), "b8563f3d-7874-5231-af1d-a0a51957298a"),
        (fact_id("default", A, "review"), "7cff8923-223a-5f57-b6b7-0c96a9eeac02"),
        (fact_id("default", A, "turn"), "4522b852-aedd-59bd-b13a-f0ea9c93d2f1"),
        (claim_id("default", A, 0, 73), "e8f6a2d4-20e0-568c-a1e3-a4966dee53ad"),
        (citation_id("default", A, "runbook-loki-1"), "f3b996a6-62ef-5540-9d63-64e52cb7d2a7"),
        (dead_letter_id("answers.generated", 2, 1042, "assembly"), "cb5c472f-a864-5c39-992f-032fc3ce61d3"),
        (evaluation_id("default", A, "faithfulness"), "902cb689-2ab5-5d11-a729-27dd318aaaa1"),
        (feedback_score_id("default", A, "fb-1", "user_satisfaction"), "7d50463b-0395-5f43-9122-f6d135893034"),
        (content_id("default", "a", "b"), "d12e6be1-b929-5d8a-80ad-4f1b69850462"),
        (fact_id("default", "Größe\n日本", "review"), "9b4851e5-b22f-559a-81b0-48a8b5df15fb"),
    ],
)
def test_identifiers_are_what_they_have_always_been(made: str, golden: str) -> None:
    """Whoever changes one of these doubles everything that was ever stored."""
    assert made == golden


@pytest.mark.parametrize(
    ("made", "golden"),
    [
        (judgement_id("acme", A, "grounding"), "a5d7715f-ee69-5dd2-8aea-9e75103a6219"),
        (fact_id("acme", A, "review"), "74fd9dd9-fca1-5595-ad79-11c8a9797209"),
        (claim_id("acme", "Größe\n日本", 0, 73), "bb9cbf86-2e3f-5c87-96da-9836c7b065f5"),
        (fact_id("default", "a\x1fb", "review"), "e579d39a-bd99-589c-832d-adf67dd3348f"),
        (person_digest("default", "user-17"), "ca82789b3a60b6f6ba85b31384d5786f2affc0f7b403c8193a06fd8e8edf14ec"),
        (person_digest("acme", "user-17"), "79412a07bac148521cf68172b1a33faaa35e2757f52b4f2ea4d30ca3203f8150"),
        (answer_digest("default", "a-1"), "2f8fe63a6224321de5d0a24cf30067d37a358706b1ed38b015282ab68dc69ae9"),
        (answer_digest("acme", "a-1"), "42f34a9acdf2f3790110840f64d990cb07c15734449383e5c4f1e26235bd80b5"),
    ],
)
def test_identifiers_with_a_tenant_never_change_either(made: str, golden: str) -> None:
    assert made == golden


TEXT = st.text(st.sampled_from('ab\x1f[],"\\é'), max_size=6)
TENANT = st.one_of(st.just("default"), TEXT.filter(bool))
NAMES = st.tuples(TENANT, TEXT, TEXT)


@given(one=NAMES, other=NAMES)
def test_different_names_never_give_one_identifier(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    """Also where a separator, a bracket or a quote stands in a name."""
    for make in (fact_id, evaluation_id, content_id, insight_id, person_digest):
        assert (make(*one) == make(*other)) == (one == other), make
    for of_two in (record_key, person_digest, answer_digest):
        assert (of_two(*one[:2]) == of_two(*other[:2])) == (one[:2] == other[:2]), of_two
    assert fact_id(*one) not in {judgement_id(*other), feedback_id(*other)}


@given(tenant=TENANT, name=TEXT)
def test_a_key_says_whose_it_is(tenant: str, name: str) -> None:
    owner, named = named_by_key(record_key(tenant, name))
    assert (owner or "default", named) == (tenant, name)
    assert named_by_key("[1, 2]") == (None, "[1, 2]")
    assert named_by_key("[" * 100_000) == (None, "[" * 100_000)


def test_a_person_is_not_the_person_of_another_tenant() -> None:
    assert person_digest("a", "b\x1fc") != person_digest("a\x1fb", "c")
    assert person_digest("acme", "session", "s") != person_digest("acme", "session\x1fs")


def test_identifiers_are_uuids_of_version_5() -> None:
    assert UUID("5f6d1f3e-3c55-5d55-9c2b-0f0f7a9d6c01") == NAMESPACE
    assert UUID(judgement_id("default", A, "quality")).version == 5


def test_what_differs_has_another_identifier() -> None:
    made = [
        judgement_id("default", A, "grounding"), judgement_id("default", A, "quality"), judgement_id("default", A, "grounding", "r"),
        judgement_id("default", A + "x", "grounding"), fact_id("default", A, "grounding"), claim_id("default", A, 1, 23), claim_id("default", A, 12, 3),
        citation_id("default", A, "1"), dead_letter_id(A, 1, 23, "a"), dead_letter_id(A, 12, 3, "a"),
    ]  # fmt: skip
    assert len(set(made)) == len(made)


def test_headers_follow_cloudevents() -> None:
    time = datetime(2026, 11, 2, 9, 14, 7, tzinfo=timezone(timedelta(hours=1)))
    headers = event_headers(
        event_id="e-1", event_type="GroundingReport", time=time, pipeline_version="2026.11.1-f9697ecf",
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", agent="grounding",
    )  # fmt: skip
    assert dict(headers) == {
        "ce_id": b"e-1",
        "ce_type": b"touchstone.GroundingReport",
        "ce_source": b"/touchstone/grounding",
        "ce_time": b"2026-11-02T08:14:07Z",
        "ce_specversion": b"1.0",
        "content-type": b"application/json",
        "pipeline_version": b"2026.11.1-f9697ecf",
        "traceparent": b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    }
    assert len(headers) == len(dict(headers))


def test_what_is_not_known_is_no_header() -> None:
    headers = event_headers(event_id="é", event_type="X", time=datetime.now(UTC), pipeline_version="")
    assert {"pipeline_version", "traceparent", "replay_id"}.isdisjoint(dict(headers))
    assert dict(headers)["ce_source"] == b"/touchstone"
    assert dict(headers)["ce_id"] == "é".encode()


def test_a_replay_is_marked() -> None:
    headers = event_headers(
        event_id="e", event_type="X", time=datetime.now(UTC), pipeline_version="v", replay_id="replay-1"
    )
    assert header(headers, "replay_id") == "replay-1"


def test_foreign_headers_are_read_leniently() -> None:
    headers = [("a", b"1"), ("a", b"2"), ("b", b"\xff"), ("c", b"")]
    assert header(headers, "a") == "1"
    assert header(headers, "b") == "\ufffd"
    assert header(headers, "c") == ""
    assert header(headers, "A") is None
