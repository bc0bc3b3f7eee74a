"""Identifiers that must never change, and headers that others read."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from schemas.headers import event_headers, header
from schemas.identifiers import (
    NAMESPACE,
    citation_id,
    claim_id,
    content_id,
    dead_letter_id,
    evaluation_id,
    fact_id,
    feedback_score_id,
    judgement_id,
)

A = "7d0c2f0e-6a1c-4f0e-9a59-3f1a1a6a0001"


@pytest.mark.parametrize(
    ("made", "golden"),
    [
        (judgement_id(A, "grounding"), "a82196d2-66af-56c4-a021-9a6c94427f65"),
        (judgement_id(A, "grounding", "replay-1"), "b8563f3d-7874-5231-af1d-a0a51957298a"),
        (fact_id(A, "review"), "7cff8923-223a-5f57-b6b7-0c96a9eeac02"),
        (fact_id(A, "turn"), "4522b852-aedd-59bd-b13a-f0ea9c93d2f1"),
        (claim_id(A, 0, 73), "e8f6a2d4-20e0-568c-a1e3-a4966dee53ad"),
        (citation_id(A, "runbook-loki-1"), "f3b996a6-62ef-5540-9d63-64e52cb7d2a7"),
        (dead_letter_id("answers.generated", 2, 1042, "assembly"), "cb5c472f-a864-5c39-992f-032fc3ce61d3"),
        (evaluation_id(A, "faithfulness"), "902cb689-2ab5-5d11-a729-27dd318aaaa1"),
        (feedback_score_id(A, "fb-1", "user_satisfaction"), "7d50463b-0395-5f43-9122-f6d135893034"),
        (content_id("a", "b"), "d12e6be1-b929-5d8a-80ad-4f1b69850462"),
        (fact_id("Größe\n日本", "review"), "9b4851e5-b22f-559a-81b0-48a8b5df15fb"),
    ],
)
def test_identifiers_are_what_they_have_always_been(made: str, golden: str) -> None:
    """Whoever changes one of these doubles everything that was ever stored."""
    assert made == golden


def test_identifiers_are_uuids_of_version_5() -> None:
    assert UUID("5f6d1f3e-3c55-5d55-9c2b-0f0f7a9d6c01") == NAMESPACE
    assert UUID(judgement_id(A, "quality")).version == 5


def test_what_differs_has_another_identifier() -> None:
    made = [
        judgement_id(A, "grounding"), judgement_id(A, "quality"), judgement_id(A, "grounding", "r"),
        judgement_id(A + "x", "grounding"), fact_id(A, "grounding"), claim_id(A, 1, 23), claim_id(A, 12, 3),
        citation_id(A, "1"), dead_letter_id(A, 1, 23, "a"), dead_letter_id(A, 12, 3, "a"),
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
