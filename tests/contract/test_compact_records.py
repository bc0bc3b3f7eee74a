"""Records without default values say the same as records with all fields, to readers of this version and before."""

import json
import re
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from schemas.base import Event, _may_overflow
from schemas.enriched import EnrichedAnswer
from schemas.export import example, json_schema, models
from schemas.reports import Report
from schemas.topics import TOPICS, topic_named
from tests.contract.test_steps_on_examples import NOW, all_answers, outcomes_of
from tests.harness.paths import ROOT
from workers.delivery.followers.record_subjects import subject_of
from workers.delivery.records import Record
from workers.evaluation.trimming import fit_report
from workers.exporters.evaluations import evaluations
from workers.pipeline.reports import Origin, build_enriched_answer
from workers.replay.stored_reports import StoredJudgements
from workers.settings import Settings

ALL = pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)


@lru_cache(maxsize=1)
def stored_records() -> dict[str, dict[str, Any]]:
    """Return the records of one answer by topic, in two forms.

    ``value`` has all fields, as workers wrote them that knew no other form. ``without_defaults`` is what was written of
    the same event when fields were first left out. Neither file nor defaults may change: such records are on topics.
    """
    lines = (ROOT / "tests" / "contract" / "earlier_records.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["topic"]: record for record in map(json.loads, lines)}


STORED = pytest.mark.parametrize("topic", stored_records())


def stored_value(topic: str, form: str = "value") -> bytes:
    return json.dumps(stored_records()[topic][form], ensure_ascii=False).encode()


def without_copies(event: Event) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(event.to_bytes())
    for part, names in event.copies.items():
        for name in names:
            (content.get(part) or {}).pop(name, None)
    return content


@ALL
def test_a_record_without_default_values_is_read_as_the_same_event(model: type[Event]) -> None:
    event = model.model_validate(example(model))
    value = event.to_bytes(all_fields=False)
    again = model.from_bytes(value)
    assert without_copies(again) == without_copies(event)
    assert again.to_bytes(all_fields=False) == value
    assert json.loads(value)["schema_version"] == event.schema_version


@ALL
def test_a_record_without_default_values_is_valid_under_the_exported_schema(model: type[Event]) -> None:
    value = model.model_validate(example(model)).to_bytes(all_fields=False)
    assert [error.message for error in Draft202012Validator(json_schema(model)).iter_errors(json.loads(value))] == []


@ALL
def test_unknown_fields_and_a_later_version_pass_through(model: type[Event]) -> None:
    later = model.model_validate(example(model) | {"schema_version": "1.42", "added_in_1_7": [1, None]})
    written = json.loads(later.to_bytes(all_fields=False))
    assert (written["schema_version"], written["added_in_1_7"]) == ("1.42", [1, None])


@pytest.mark.parametrize("answer_id", all_answers())
def test_answers_that_are_as_strange_as_the_contract_allows_lose_nothing(answer_id: str) -> None:
    answer = all_answers()[answer_id]
    value = answer.to_bytes(all_fields=False)
    assert type(answer).from_bytes(value).to_bytes() == answer.to_bytes()
    assert len(value) <= len(answer.to_bytes())


@STORED
def test_stored_records_with_all_fields_are_read(topic: str) -> None:
    event = topic_named(topic).model.from_bytes(stored_value(topic))
    assert json.loads(event.to_bytes()) == stored_records()[topic]["value"]
    assert json.loads(event.to_bytes(all_fields=False)) == stored_records()[topic]["without_defaults"]


@STORED
def test_stored_records_without_defaults_say_the_same(topic: str) -> None:
    """Fail if a default changes: a record that lacks the field would then say something else."""
    model = topic_named(topic).model
    full = model.from_bytes(stored_value(topic))
    short = model.from_bytes(stored_value(topic, "without_defaults"))
    assert without_copies(short) == without_copies(full)
    assert len(short.to_bytes(all_fields=False)) < len(full.to_bytes())


@STORED
def test_person_answer_and_time_of_a_record_are_found_without_defaults(topic: str) -> None:
    keyed = b'["docs-portal","c4f219d6-f772-5829-9a06-3a050c983e68"]'
    subjects = [
        subject_of(Record(topic, 0, 0, keyed, stored_value(topic, form))) for form in ("value", "without_defaults")
    ]
    assert subjects[0] == subjects[1]
    assert subjects[0].tenant == "docs-portal"


def test_readers_of_enriched_answers_need_no_copies() -> None:
    before = EnrichedAnswer.from_bytes(stored_value("answers.enriched"))
    now = EnrichedAnswer.from_bytes(stored_value("answers.enriched", "without_defaults"))
    assert before.formatted is not None and before.formatted.citations
    assert now.formatted is not None and not now.formatted.citations
    events = outcomes_of(before)
    assert len(events) >= 3
    assert [event.to_bytes() for event in outcomes_of(now)] == [event.to_bytes() for event in events]
    assert evaluations(now) == evaluations(before)


def test_a_replay_finds_the_reports_in_records_of_both_versions() -> None:
    before = EnrichedAnswer.from_bytes(stored_value("answers.enriched"))
    found = []
    for value in (stored_value("answers.enriched"), stored_value("answers.enriched", "without_defaults")):
        stored = StoredJudgements(["grounding"])
        stored._note_all([Record("answers.enriched", 0, 0, None, value)])
        known = stored.of(before.answer)
        assert known is not None
        found.append({name: report.to_bytes() for name, report in known.reports.items()})
        stored.close()
    assert found[0] == found[1]
    assert set(found[0]) == {"citations", "quality"}


def test_copies_are_fields_that_have_a_default() -> None:
    for topic in TOPICS:
        for part, names in topic.model.copies.items():
            schema = json_schema(topic.model)
            (reference,) = [each["$ref"] for each in schema["properties"][part]["anyOf"] if "$ref" in each]
            described = schema["$defs"][reference.rpartition("/")[2]]
            assert names <= set(described["properties"])
            assert names.isdisjoint(described.get("required", ()))


@pytest.mark.parametrize("all_fields", [False, True])
def test_a_setting_writes_enriched_answers_with_all_fields(all_fields: bool) -> None:
    settings = Settings(_env_file=None, kafka={"all_fields": all_fields})
    before = EnrichedAnswer.from_bytes(stored_value("answers.enriched"))
    found = (before.citations, before.grounding, before.quality)
    reports: dict[str, Report] = {report.agent: report for report in found if report is not None}
    record = Record("answers.generated", 1, 2, None, b"")
    enriched, value = build_enriched_answer(before.answer, reports, record, Origin(settings, "v", NOW))
    assert value == enriched.to_bytes(all_fields=all_fields)
    assert (b'"interactive_elements"' in value) == all_fields
    assert enriched.formatted is not None and enriched.formatted.citations


def test_reports_are_written_without_default_values() -> None:
    before = EnrichedAnswer.from_bytes(stored_value("answers.enriched"))
    assert before.quality is not None
    report, value = fit_report(before.quality, 900_000)
    assert value == report.to_bytes(all_fields=False)
    assert b'"reason":null' not in value


_OVERFLOW = re.compile(r"(?:\A|[\[:, \t\r\n])[0-9.-]*[0-9][eE]\+?[0-9]{3}|[0-9]{300}")


@given(st.text('059eE+-.a:[ ,"', max_size=30) | st.integers(290, 310).map(lambda length: "7" * length))
def test_numbers_that_may_overflow_are_found_by_their_digits(text: str) -> None:
    assert _may_overflow(text.encode()) == bool(_OVERFLOW.search(text))


@given(
    st.from_regex(
        r"-?[1-9][0-9]{0,320}(\.[0-9]{1,400})?[eE]\+?0{0,2}[0-9]{3,5}",
        fullmatch=True,
        alphabet=st.characters(codec="ascii"),
    ),
    st.sampled_from(
        [
            '{"a":%s}',
            '{"a": %s, "b": 1}',
            "[1,%s]",
            "[\n\t%s]",
            '{"a":\r%s}',
            '["7e100",%s]',
            '["' + "f0e0001-" * 50 + '",%s]',
        ]
    ),
)
def test_every_number_that_overflows_is_found(number: str, document: str) -> None:
    text = document % number
    assert "inf" not in repr(json.loads(text)) or _may_overflow(text.encode())


@pytest.mark.parametrize(
    "name", ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "6e120f7a-7e100b2c", "a7e1000"]
)
def test_identifiers_are_no_numbers_that_overflow(name: str) -> None:
    """An event with one would be parsed and written once more before it is read."""
    assert not _may_overflow(json.dumps({"trace": name, "score": 0.25, "small": 1e-300}).encode())


def test_a_text_full_of_exponents_is_looked_at_in_linear_time() -> None:
    assert _may_overflow(b'"' + b"x0e000" * 100_000 + b'"')
