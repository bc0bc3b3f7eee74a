"""Every model has a realistic example, and every contract holds what it says."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from schemas.answers import CONFIDENCE_WORDS, MAX_CONTEXTS, GeneratedAnswer
from schemas.base import Event, UnreadableEvent
from schemas.export import example, json_schema, models
from schemas.release import ReleasedAnswer
from schemas.review import ReviewDecision
from tests.harness.paths import ROOT

SECRET = "xylophone-of-the-third-floor"
"""A value that no error may quote."""

ALL = pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)


def encoded(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


def refusal(model: type[Event], content: Any) -> UnreadableEvent:
    with pytest.raises(UnreadableEvent) as caught:
        model.from_bytes(content if isinstance(content, bytes) else encoded(content))
    assert SECRET not in str(caught.value)
    assert all(SECRET not in name for name in caught.value.fields)
    return caught.value


def answer(**changes: Any) -> dict[str, Any]:
    return example(GeneratedAnswer) | changes


def test_there_is_an_example_of_every_model_and_no_other() -> None:
    directory = ROOT / "schemas" / "examples"
    assert {path.stem for path in directory.glob("*.json")} == {model.__name__ for model in models()}


@ALL
def test_an_example_is_read_and_written_without_loss(model: type[Event]) -> None:
    event = model.from_bytes(encoded(example(model)))
    again = model.from_bytes(event.to_bytes())
    assert again == event
    assert again.to_bytes() == event.to_bytes()


@ALL
def test_nothing_of_an_example_is_lost_when_it_is_written(model: type[Event]) -> None:
    written = json.loads(model.from_bytes(encoded(example(model))).to_bytes())

    def lost(given: Any, kept: Any, path: str = "") -> list[str]:
        if isinstance(given, dict):
            return [found for name in given for found in lost(given[name], kept.get(name), f"{path}.{name}")]
        if isinstance(given, list):
            pairs = zip(given, kept, strict=True)
            return [found for number, pair in enumerate(pairs) for found in lost(*pair, f"{path}.{number}")]
        # The words for confidence become numbers; a moment may be written in another way.
        same = given == kept or CONFIDENCE_WORDS.get(str(given)) == kept or str(given)[:19] == str(kept)[:19]
        return [] if same else [path]

    assert lost(example(model), written) == []


@ALL
def test_an_example_is_valid_under_the_exported_schema(model: type[Event]) -> None:
    schema = json_schema(model)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    written = json.loads(model.from_bytes(encoded(example(model))).to_bytes())
    for content in (example(model), written):
        assert [error.message for error in validator.iter_errors(content)] == []


@ALL
def test_unknown_fields_pass_through(model: type[Event]) -> None:
    event = model.from_bytes(encoded(example(model) | {"added_in_1_7": {"deep": [1, "två", None]}}))
    assert json.loads(event.to_bytes())["added_in_1_7"] == {"deep": [1, "två", None]}


def test_unknown_fields_of_parts_pass_through() -> None:
    content = answer(contexts=[{"chunk_id": "c", "content": "x", "page": 7}], usage={"cached_tokens": 5})
    written = json.loads(GeneratedAnswer.from_bytes(encoded(content)).to_bytes())
    assert written["contexts"][0]["page"] == 7
    assert written["usage"]["cached_tokens"] == 5


@ALL
def test_a_later_minor_version_is_read(model: type[Event]) -> None:
    assert model.from_bytes(encoded(example(model) | {"schema_version": "1.42"})).schema_version == "1.42"


@ALL
def test_an_unknown_major_version_is_refused_by_name(model: type[Event]) -> None:
    error = refusal(model, example(model) | {"schema_version": "2.0"})
    assert error.code == "unknown_version"
    assert error.fields == ("schema_version",)
    assert "schema_version 2.0" in str(error)
    assert "upgrade" in str(error)


def test_an_unknown_major_version_is_told_before_what_else_is_strange() -> None:
    assert refusal(GeneratedAnswer, {"schema_version": "3.0", "text": "other shape"}).code == "unknown_version"


@pytest.mark.parametrize("version", [SECRET, "one", "1", "1.0.0", "2 " + SECRET, 1.0, None, []])
def test_what_is_no_version_is_refused_without_quoting_it(version: Any) -> None:
    assert "schema_version" in str(refusal(GeneratedAnswer, answer(schema_version=version)))


@pytest.mark.parametrize("field", ["completed_at", "requested_at"])
def test_naive_times_are_refused(field: str) -> None:
    error = refusal(GeneratedAnswer, answer(**{field: "2026-11-02T08:14:06"}))
    assert error.fields == (field,)
    assert "timezone" in str(error)


def test_times_become_utc() -> None:
    event = GeneratedAnswer.from_bytes(encoded(answer(completed_at="2026-11-02T09:14:06+01:00")))
    assert event.completed_at.isoformat() == "2026-11-02T08:14:06+00:00"


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1666-09-02T01:00:00Z", SECRET, "2026-13-40T00:00:00Z"],
)
def test_times_that_no_store_can_hold_are_refused(moment: str) -> None:
    error = refusal(GeneratedAnswer, answer(completed_at=moment))
    assert (error.code, error.fields) == ("invalid", ("completed_at",))


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (answer(answer="a" * 60_001), "answer"),
        (answer(answer=None), "answer"),
        (answer(query="q" * 20_001), "query"),
        (answer(answer_id=""), "answer_id"),
        (answer(answer_id="i" * 201), "answer_id"),
        (answer(contexts=[{"chunk_id": str(n), "content": ""} for n in range(MAX_CONTEXTS + 1)]), "contexts"),
        (answer(contexts=[{"chunk_id": "c", "content": "x" * 100_001}]), "contexts.0.content"),
        (answer(contexts=[{"chunk_id": "c", "content": "", "retrieval_score": 1.5}]), "contexts.0.retrieval_score"),
        (answer(contexts=[{"chunk_id": "c", "content": "", "retrieval_score": -0.1}]), "contexts.0.retrieval_score"),
        (answer(contexts=[{"chunk_id": "c", "content": "", "confidence": 1.5}]), "contexts.0.confidence"),
        (answer(contexts=[{"chunk_id": "c", "content": "", "confidence": SECRET}]), "contexts.0.confidence"),
        (answer(contexts=[{"chunk_id": "c", "content": "", "source_type": SECRET}]), "contexts.0.source_type"),
        (answer(risk_mode=SECRET), "risk_mode"),
        (answer(usage={"prompt_tokens": 2**40}), "usage.prompt_tokens"),
        (answer(citations=[{"number": 0}]), "citations.0.number"),
        (answer(model={"temperature": -1}), "model.temperature"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bounds_are_kept_and_the_field_is_named(content: dict[str, Any], field: str) -> None:
    error = refusal(GeneratedAnswer, content)
    assert error.code == "invalid"
    assert field in error.fields
    assert field in str(error)


def test_what_is_just_inside_the_bounds_is_read() -> None:
    content = answer(
        answer="a" * 60_000,
        query="q" * 20_000,
        contexts=[{"chunk_id": str(n), "content": "x", "confidence": 1, "retrieval_score": 0} for n in range(200)],
    )
    assert GeneratedAnswer.from_bytes(encoded(content)).contexts is not None


@ALL
@pytest.mark.parametrize("score", [1.5, -0.5, SECRET])
def test_scores_are_shares(model: type[Event], score: Any) -> None:
    """Wherever a model has a score at its top level."""
    scores = [name for name in example(model) if name.endswith("_score") or name in ("reward", "mean", "priority")]
    for name in scores:
        assert name in refusal(model, example(model) | {name: score}).fields


@ALL
@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_what_is_no_number_never_leaves(model: type[Event], number: bytes) -> None:
    """It is refused, or it is read as null; what is written is JSON and can be read again."""
    value = encoded(example(model) | {"added": "@@", "metadata": {"x": "@@"}}).replace(b'"@@"', number)
    written = model.from_bytes(value).to_bytes()
    json.loads(written, parse_constant=lambda name: pytest.fail(f"{name} was written"))
    assert model.from_bytes(written).to_bytes() == written


def test_a_score_that_is_no_number_is_refused_or_null() -> None:
    value = encoded(example(ReleasedAnswer) | {"gate_score": "@@"}).replace(b'"@@"', b"NaN")
    try:
        assert ReleasedAnswer.from_bytes(value).gate_score is None
    except UnreadableEvent as error:
        assert error.fields == ("gate_score",)


def test_metrics_of_a_decision_survive_being_written() -> None:
    value = encoded(example(ReviewDecision) | {"answer_metrics": {"relevance": "@@"}}).replace(b'"@@"', b"NaN")
    try:
        written = ReviewDecision.from_bytes(value).to_bytes()
    except UnreadableEvent:
        return
    ReviewDecision.from_bytes(written)


@pytest.mark.parametrize(
    ("word", "number"), [*CONFIDENCE_WORDS.items(), ("High", 0.9), (" medium ", 0.6), (0.42, 0.42), (1, 1.0)]
)
def test_confidence_words_become_numbers(word: Any, number: float) -> None:
    event = GeneratedAnswer.from_bytes(encoded(answer(contexts=[{"chunk_id": "c", "content": "", "confidence": word}])))
    assert event.contexts is not None
    assert event.contexts[0].confidence == number


def test_the_order_of_confidence_words_is_that_of_their_numbers() -> None:
    assert CONFIDENCE_WORDS["low"] < CONFIDENCE_WORDS["medium"] < CONFIDENCE_WORDS["high"] < 1


def test_null_collections_are_empty_ones() -> None:
    event = GeneratedAnswer.from_bytes(
        encoded(answer(citations=None, metadata=None, model=None, query=None, tenant=None, status=None, contexts=None))
    )
    assert (event.citations, event.metadata, event.query, event.tenant) == ([], {}, "", "default")
    assert event.contexts is None


@pytest.mark.parametrize("action", ["correct"])
@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_correction_needs_its_text(action: str, text: str | None) -> None:
    content = example(ReviewDecision) | {"user_action": action, "corrected_answer": text}
    assert "corrected_answer is required" in str(refusal(ReviewDecision, content))


@pytest.mark.parametrize(
    "value",
    [
        None, b"", b"null", b"[]", b'"' + SECRET.encode() + b'"', b"17", b"\xff\xfe", b'{"answer": "' + SECRET.encode(),
        b"\xef\xbb\xbf{}", b'{"answer_id": "\\ud800", "answer": "x"}', b'{"a":' + b"[" * 5_000,
    ],
)  # fmt: skip
def test_what_is_no_event_is_refused_without_quoting_it(value: bytes | None) -> None:
    with pytest.raises(UnreadableEvent) as caught:
        GeneratedAnswer.from_bytes(value)
    assert caught.value.code in ("not_json", "invalid")
    assert SECRET not in str(caught.value)


@ALL
def test_errors_never_hold_the_offending_value(model: type[Event]) -> None:
    """Whatever field is wrong: a text of the wrong type, a number where text should be, a list, a map."""
    for name in type(model.from_bytes(encoded(example(model)))).model_fields:
        for wrong in ([SECRET], {SECRET: SECRET}, SECRET * 10_000):
            content = example(model) | {name: wrong}
            try:
                model.from_bytes(encoded(content))
            except UnreadableEvent as error:
                assert SECRET not in str(error), name
                assert len(str(error)) < 2_000, name
