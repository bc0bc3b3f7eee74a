"""At the door: what is masked, what is withheld, and that nothing is done where nothing is to be masked."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from schemas.answers import GeneratedAnswer
from schemas.topics import TOPICS
from workers.delivery.followers.record_subjects import subject_of
from workers.delivery.records import Record
from workers.masking.personal_data import KINDS
from workers.pipeline.versions import pipeline_version
from workers.privacy.record_masking import Privacy
from workers.settings import PrivacySettings, Settings

KEY = SecretStr("0123456789abcdef")
ON = PrivacySettings(mask=("mail",), key=KEY)


def record(value: bytes | None, topic: str = "answers.generated", headers: Any = ()) -> Record:
    return Record(topic, 0, 0, b"k", value, list(headers))


def event(**fields: Any) -> bytes:
    return json.dumps({"answer_id": "a", "answer": "Ask jane@example.org"} | fields).encode()


def masked(value: bytes, policy: PrivacySettings = ON) -> Record:
    return Privacy(policy, 1_000).record(record(value), "assembly")


def test_only_records_that_others_write_concern_it_and_only_where_something_is_masked() -> None:
    asked = {topic.name for topic in TOPICS if Privacy(ON, 1_000).concerns(record(b"{}", topic.name))}
    assert asked == {topic.name for topic in TOPICS if topic.direction == "in"}
    assert not Privacy(PrivacySettings(), 1_000).concerns(record(b"{}"))
    assert not Privacy(ON, 1_000).concerns(record(None))


def test_rules_are_those_of_the_tenant_and_of_default_where_none_is_named() -> None:
    policy = PrivacySettings.model_validate(
        {"tenants": {"acme": {"mask": ["mail"]}, "default": {"mask": ["mail"]}}, "key": KEY}
    )
    assert b"{mail:" in masked(event(tenant="acme"), policy).value
    assert b"{mail:" in masked(event(), policy).value
    assert b"{mail:" in masked(event(tenant=["odd"]), policy).value
    plain = event(tenant="other")
    assert masked(plain, policy).value is plain


def test_a_record_without_anything_to_mask_stays_the_same_to_the_byte() -> None:
    value = b'{ "answer" : "nothing here" }'
    assert masked(value).value is value


def test_an_own_pattern_masks_values_and_free_names_and_no_names_of_fields() -> None:
    policy = PrivacySettings.model_validate({"patterns": {"name": "(?i)[a-z]+_id|context|answer"}, "key": KEY})
    value = event(
        user_id="emp_id",
        query="my emp_id",
        completed_at="2026-11-02T08:00:00Z",
        contexts=[{"chunk_id": "c", "content": "c", "metadata": {"emp_id": 1, "note": 2}}],
    )
    privacy = Privacy(policy, 10_000)
    assert "emp_id" not in (user := privacy.user_id("default", "emp_id"))
    answer = GeneratedAnswer.from_bytes(privacy.value(value))
    assert (answer.user_id, answer.answer_id) == (user, "a")
    assert "emp_id" not in answer.query
    names = list((answer.contexts or [])[0].metadata)
    assert names[1] == "note" and names[0].startswith("{name:")


def test_headers_are_masked_and_those_without_value_or_text_stay() -> None:
    headers = [("from", b"jane@example.org"), ("none", None), ("bytes", b"\xff\x00"), ("traceparent", b"00-ab-cd-01")]
    after = dict(Privacy(ON, 1_000).record(record(event(), headers=headers), "x").headers)
    assert after.pop("from").startswith(b"{mail:")
    assert after == dict(headers[1:])


@pytest.mark.parametrize("value", [b"jane@example.org", b'["jane@example.org"]', b'{"a": "jane@', b"\xff", b"[" * 900])
def test_what_cannot_be_masked_is_withheld(value: bytes) -> None:
    assert masked(value).withheld
    assert masked(value).value == value


def test_an_answer_that_is_too_large_to_be_read_is_withheld_and_other_events_are_masked() -> None:
    large = event(padding="x" * 2_000)
    assert masked(large).withheld
    assert b"{mail:" in Privacy(ON, 1_000).record(record(large, "feedback.events"), "feedback").value


def test_what_we_send_ourselves_is_masked_before_and_the_same_object_where_nothing_is() -> None:
    value = event(completed_at="2026-11-20T10:15:00Z")
    answer = GeneratedAnswer.from_bytes(value)
    assert "{mail:" in Privacy(ON, 1_000).event(answer).answer
    assert Privacy(PrivacySettings(), 1_000).event(answer) is answer
    assert b"{mail:" in Privacy(ON, 1_000).value(value)
    assert Privacy(PrivacySettings(), 1_000).value(value) is value


PERSONS = st.one_of(
    st.uuids().map(str),
    st.just("3bcf288e-6c7d-4d76-b048-23229db14e7d"),
    st.datetimes().map(str),
    st.sampled_from(["jane@example.org", "B-1234", "+49 30 901820", "0151 23456789", "plain"]).flatmap(
        lambda person: st.sampled_from([person, f" {person}", json.dumps({person: [person]}), f'["{person}", 1.10]'])
    ),
    st.text(min_size=1, max_size=20),
)


@given(PERSONS, st.sampled_from([{}, {"own": "[0-9a-f]{4}-[0-9a-f]{4}"}, {"own": "B-[0-9]+", "year": "[0-9]{4}"}]))
@settings(max_examples=300)
def test_a_person_is_found_under_the_identifier_that_masked_records_hold(user: str, patterns: dict[str, str]) -> None:
    policy = PrivacySettings(mask=KINDS, phone_regions=("DE",), patterns=patterns, key=KEY)
    stored = subject_of(masked(event(user_id=user, tenant="acme"), policy)).user_id
    assert Privacy(policy, 1_000).user_id("acme", user) == stored


@pytest.mark.parametrize("key", [None, SecretStr("short")])
def test_masking_without_a_key_is_refused_with_the_remedy(key: SecretStr | None) -> None:
    with pytest.raises(ValidationError, match="TOUCHSTONE_PRIVACY__KEY_FILE"):
        PrivacySettings(mask=("mail",), key=key)
    assert not PrivacySettings(key=key).is_on


def test_what_is_masked_is_part_of_the_pipeline_version_and_the_key_is_not() -> None:
    off = Settings(_env_file=None)
    on = Settings(_env_file=None, privacy=ON)
    other_key = Settings(_env_file=None, privacy=PrivacySettings(mask=("mail",), key=SecretStr("fedcba9876543210")))
    assert pipeline_version(off) != pipeline_version(on) == pipeline_version(other_key)
