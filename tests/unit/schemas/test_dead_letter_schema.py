"""Dead letters: original bytes and headers beside the reason, there and back."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.dead_letters import HEADER_PREFIX, DeadLetter, read_dead_letter, reason_headers
from schemas.export import example
from schemas.identifiers import dead_letter_id


def letter(**changes: Any) -> DeadLetter:
    fields = {
        "dead_letter_id": dead_letter_id("answers.generated", 2, 1042, "assembly"),
        "topic": "answers.generated", "partition": 2, "offset": 1042, "agent": "assembly",
        "error_class": "UnreadableEvent", "error": "not valid JSON; send UTF-8 JSON", "attempts": 3,
        "failed_at": datetime(2026, 11, 2, 8, 14, 9, 411_000, tzinfo=UTC), "pipeline_version": "v",
    }  # fmt: skip
    return DeadLetter.model_validate(fields | changes)


def reasons(of: DeadLetter) -> dict[str, Any]:
    return of.model_dump(exclude={"key_base64", "value_base64", "headers_base64"})


@pytest.mark.parametrize("value", [None, b"", b"{", b"\x00\xff\n"])
@pytest.mark.parametrize("key", [None, b"", b"key", b"\xff"])
def test_key_and_value_come_back_to_the_byte(key: bytes | None, value: bytes | None) -> None:
    read = read_dead_letter(key, value, [("ce_id", b"\xfe"), *reason_headers(letter())])
    assert (read.key, read.value) == (key, value)
    assert read.headers == [("ce_id", b"\xfe")]
    assert reasons(read) == reasons(letter())


@given(
    st.text(max_size=300),
    st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=40)), max_size=6),
    st.none() | st.binary(max_size=100),
)
def test_any_record_comes_back(error: str, headers: list[tuple[str, bytes | None]], value: bytes | None) -> None:
    error = error.encode("utf-8", "replace").decode()
    sent = [*headers, *reason_headers(letter(error=error))]
    read = read_dead_letter(b"k", value, sent)
    assert read.error == error
    assert read.value == value
    assert read.headers == headers


def test_headers_that_only_look_like_ours_are_the_records_own() -> None:
    """A record that was a dead letter before, and a producer that knows the names."""
    own = [("dlq_evil", b"1"), *reason_headers(letter(agent="release", attempts=1))]
    read = read_dead_letter(b"k", b"v", [*own, *reason_headers(letter())])
    assert (read.agent, read.attempts) == ("assembly", 3)
    assert read.headers == own


@pytest.mark.parametrize("headers", [[], [("dlq_error", b"x")], [("ce_id", b"1")]])
def test_a_record_without_its_reason_is_no_dead_letter(headers: list[tuple[str, bytes]]) -> None:
    with pytest.raises(ValidationError):
        read_dead_letter(b"k", b"v", headers)


def test_every_reason_header_has_the_prefix_and_is_text() -> None:
    headers = reason_headers(letter(error="Größe"))
    assert all(name.startswith(HEADER_PREFIX) for name, _ in headers)
    assert dict(headers)["dlq_error"] == "Größe".encode()
    assert dict(headers)["dlq_failed_at"] == b"2026-11-02T08:14:09.411000Z"
    assert not any(content == b"None" for _, content in headers)


def test_a_value_without_room_is_named_by_length_and_digest() -> None:
    omitted = letter(value_omitted=1_000_000, value_sha256="ab" * 32)
    read = read_dead_letter(None, None, reason_headers(omitted))
    assert (read.value, read.value_omitted, read.value_sha256) == (None, 1_000_000, "ab" * 32)


def test_the_example_is_one_that_the_code_makes() -> None:
    shown = DeadLetter.model_validate(example(DeadLetter))
    assert shown.dead_letter_id == dead_letter_id(shown.topic, shown.partition, shown.offset, shown.agent)
    read = read_dead_letter(shown.key, shown.value, [*shown.headers, *reason_headers(shown)])
    assert read == shown
