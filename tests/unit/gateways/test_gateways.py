"""Formats of others become answers: golden files, round trips, and what is missing, wrong or hostile."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from schemas.answers import GeneratedAnswer
from schemas.feedback import FeedbackEvent
from tests.harness.paths import DATA
from workers.agents.intake import adapted_answers
from workers.delivery.records import Output, Record
from workers.errors import PoisonError
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.quality.quality_evaluator import evaluate_quality, prepare_quality
from workers.feedback.implicit_signals import execution_signals
from workers.gateways.adapted import Adapted, Received, fitting
from workers.gateways.apis.google import span_of
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import BUILTIN, format_named
from workers.gateways.reading.envelopes import from_http, from_kafka
from workers.gateways.reading.lenient_reading import time
from workers.intake.intake_outputs import Taken, taken_of
from workers.process.plugins import UnknownPlugin
from workers.settings import Settings

FOLDER = DATA / "gateways"
GOLDEN = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
NOW = datetime(2026, 11, 3, tzinfo=UTC)
SETTINGS = Settings(_env_file=None)


def cases() -> Iterator[Any]:
    for name, golden in GOLDEN.items():
        for case in golden["cases"]:
            yield pytest.param(name, case, id=f"{name}: {case['case']}")


def adapted(name: str, record: Any, received: Received | None = None) -> list[Adapted]:
    return format_named(name).answers(json.dumps(record).encode(), received or Received(NOW))


def case_of(name: str, title: str) -> Any:
    return next(case["record"] for case in GOLDEN[name]["cases"] if case["case"] == title)


def shown(model: GeneratedAnswer | FeedbackEvent) -> dict[str, Any]:
    return dict(json.loads(model.model_dump_json(exclude_defaults=True)))


def test_every_format_has_a_golden_file_that_tells_its_version() -> None:
    assert set(GOLDEN) == set(BUILTIN)
    for name, golden in GOLDEN.items():
        assert golden["format"] == name
        assert golden["version"]


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_a_record_of_the_specification_becomes_this_answer(name: str, case: Any) -> None:
    found = adapted(name, case["record"])
    assert [shown(each.answer) for each in found] == case["answers"]
    assert [shown(event) for each in found for event in each.feedback] == case["feedback"]


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_what_comes_of_a_record_can_be_read_by_the_worker_and_is_the_same_again(name: str, case: Any) -> None:
    for first, second in zip(adapted(name, case["record"]), adapted(name, case["record"]), strict=True):
        answer, value = fitting(first.answer, SETTINGS.kafka.max_input_bytes)
        assert GeneratedAnswer.from_bytes(value) == answer
        assert fitting(second.answer, SETTINGS.kafka.max_input_bytes)[1] == value
        for event in first.feedback:
            assert FeedbackEvent.from_bytes(event.to_bytes()) == event


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_the_citations_of_a_record_resolve_to_the_contexts_that_came_with_it(name: str, case: Any) -> None:
    for each in adapted(name, case["record"]):
        findings = find_citations(each.answer)
        provided = {citation.number for citation in each.answer.citations}
        assert provided <= {citation.number for citation in findings.citations}
        assert not [wrong for wrong in findings.invalid_references if wrong.form == "provided"]


# ---------------------------------------------------------------- the golden records are those of the specifications


def test_litellms_records_have_no_field_that_its_type_has_not() -> None:
    from litellm.types.utils import StandardLoggingMetadata, StandardLoggingPayload

    for case in GOLDEN["litellm"]["cases"]:
        assert set(case["record"]) <= set(StandardLoggingPayload.__annotations__)
        assert set(case["record"]["metadata"]) <= set(StandardLoggingMetadata.__annotations__)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_openais_responses_are_read_by_its_own_client() -> None:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseOutputItem

    for case in GOLDEN["openai"]["cases"]:
        response = case["record"]["response"]
        for choice in response.get("choices", ()):
            TypeAdapter(ChatCompletionMessage).validate_python(choice["message"])
        TypeAdapter(list[ResponseOutputItem]).validate_python(response.get("output", []))


def test_attributes_of_spans_are_those_of_the_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    # Of OpenLLMetry, and newer than the package.
    others = re.compile(
        r"gen_ai\.(prompt|completion)\.\d|gen_ai\.(event\.content|retrieval\.|response\.time_to_first_chunk)"
    )
    written = json.dumps([GOLDEN["otlp"], GOLDEN["otlp-logs"]])
    keys = set(re.findall(r'"key": "(gen_ai\.[^"]+)"', written))
    assert len(keys) > 10
    assert {key for key in keys if not others.match(key)} <= known


# ---------------------------------------------------------------- what may be left out


def pruned(value: Any, draw: Any, keep: frozenset[str]) -> Any:
    """A record without some of its fields, some of them null."""
    if isinstance(value, list):
        return [pruned(each, draw, keep) for each in value]
    if not isinstance(value, dict):
        return value
    left = {}
    for name, inner in value.items():
        fate = "kept" if name in keep else draw(st.sampled_from(("kept", "kept", "kept", "gone", "null", "other")))
        if fate == "gone":
            continue
        other = draw(st.sampled_from((7, "x", [], {}, True, [None], {"a": [1]}))) if fate == "other" else None
        left[name] = pruned(inner, draw, keep) if fate == "kept" else other
    return left


@given(data=st.data())
def test_whatever_is_left_out_or_of_another_type_a_record_becomes_an_answer_or_is_refused_in_words(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(GOLDEN)))
    case = data.draw(st.sampled_from(GOLDEN[name]["cases"]))
    record = pruned(case["record"], data.draw, frozenset())
    try:
        found = adapted(name, record)
    except (UnadaptableRecord, NothingToJudge) as error:
        assert str(error)
        return
    for each in found:
        answer, value = fitting(each.answer, SETTINGS.kafka.max_input_bytes)
        assert GeneratedAnswer.from_bytes(value) == answer
        for citation in answer.citations:
            assert citation.number is None or citation.number <= len(answer.contexts or [])


ODD = (7, "x", [], {}, True, [None], {"a": [1]}, None)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Every container of a record with each of its keys or positions, and the way there.

    Of a position, the way has what its element says of itself.
    """
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        itself = [str(inner.get(each)) for each in ("key", "role", "type")] if isinstance(inner, dict) else []
        way = (*path, key if isinstance(value, dict) else tuple(itself))
        yield way, value, key
        if isinstance(inner, dict | list):
            yield from places(inner, way)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_any_single_field_may_be_of_any_type(name: str) -> None:
    """In each place all odd values once, and two in turn where a later record has the same place."""
    seen: set[tuple[Any, ...]] = set()
    turn = cycle(ODD)
    for case in GOLDEN[name]["cases"]:
        record = json.loads(json.dumps(case["record"]))
        for way, container, key in places(record):
            given, odd_values = container[key], ODD if way not in seen else (next(turn), next(turn))
            seen.add(way)
            for odd in odd_values:
                container[key] = odd
                with suppress(UnadaptableRecord, NothingToJudge):
                    adapted(name, record)
            container[key] = given


@pytest.mark.parametrize("odd", [[], {}, [None], {"a": [1]}, 7, True, None])
def test_a_part_whose_type_is_no_text_is_no_result_of_a_tool(odd: object) -> None:
    messages = [
        {"role": "user", "content": "Q?"},
        {"role": "user", "type": odd, "content": [{"type": odd, "text": "x"}]},
    ]
    record = {
        "request": {"messages": messages},
        "response": {"type": "message", "content": [{"type": "text", "text": "A."}]},
    }
    (found,) = adapted("anthropic", record)
    assert found.answer.answer == "A."


@pytest.mark.parametrize("odd", [[], {}, [None], {"a": [1]}, 7, True, None])
@pytest.mark.parametrize("name", ["cohere", "openai", "anthropic"])
def test_a_block_whose_type_is_no_text_is_read_or_refused_in_words(name: str, odd: object) -> None:
    blocks = [{"type": "text", "text": "A."}, {"type": odd, "text": ["x"]}]
    message = {"role": "assistant", "content": blocks}
    bodies = {
        "cohere": {"message": message, "finish_reason": "COMPLETE"},
        "openai": {"object": "chat.completion", "choices": [{"message": message}]},
        "anthropic": {"type": "message", **message},
    }
    record = {"request": {"messages": [{"role": "user", "content": "Q?"}]}, "response": bodies[name]}
    try:
        (found,) = adapted(name, record)
    except (UnadaptableRecord, NothingToJudge) as error:
        assert str(error)
        return
    assert found.answer.answer == "A."


@given(
    st.sampled_from(sorted(BUILTIN)),
    st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=10,
        ).map(lambda value: json.dumps(value).encode()),
    ),
)
def test_nothing_but_a_refusal_comes_of_what_is_no_record(name: str, value: bytes) -> None:
    try:
        format_named(name).answers(value, Received(NOW))
    except (UnadaptableRecord, NothingToJudge):
        return
    assert name == "touchstone" or name == "langfuse", "a record that is one by chance"


@pytest.mark.parametrize(
    ("name", "record", "told"),
    [
        ("litellm", {"messages": []}, "status and startTime are missing"),
        ("litellm", [], "the record must be a JSON object; it is a list"),
        ("otlp", {"spans": []}, "resourceSpans (or resourceLogs) is missing"),
        ("openai", {"request": {}}, "field response is missing"),
        ("langfuse", {"id": "t"}, "fields id and observations are missing"),
        ("touchstone", {"query": "?"}, "answer: Field required"),
        ("touchstone", {"answer": "a", "risk_mode": "brave"}, "risk_mode"),
    ],
)
def test_what_is_wrong_is_told_by_its_field_with_a_remedy(name: str, record: Any, told: str) -> None:
    with pytest.raises(UnadaptableRecord) as error:
        adapted(name, record)
    assert told in str(error.value)
    assert isinstance(error.value, PoisonError), "its record becomes a dead letter"


@pytest.mark.parametrize("value", [b"", None, b"\xff\xfe", b'{"a": ', b'{"a": "\\ud800"}', b"[" * 500])
@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_what_is_no_json_is_refused(name: str, value: bytes | None) -> None:
    with pytest.raises(UnadaptableRecord):
        format_named(name).answers(value, Received(NOW))


def test_a_format_that_does_not_exist_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownPlugin, match=r"install.*litellm.*mappings: none"):
        format_named("helicone")


# ---------------------------------------------------------------- bounds


def test_what_is_too_long_is_cut_and_told() -> None:
    record = {
        "id": "i" * 500,
        "request": {"messages": [{"role": "user", "content": "q" * 30_000}]},
        "response": {"choices": [{"message": {"content": "Yes."}}]},
        "contexts": [{"id": "c", "content": "x" * 150_000}, *({"content": "y"} for _ in range(300))],
    }
    (found,) = adapted("openai", record)
    answer = found.answer
    assert answer.answer_id.startswith("sha256-")
    assert len(answer.query) == 20_000
    assert answer.contexts is not None
    assert len(answer.contexts) == 200
    assert len(answer.contexts[0].content) == 100_000
    assert answer.metadata["gateway"]["cut"] == ["query", "contexts", "contexts.0.content"]


def test_an_answer_that_is_too_long_is_refused_and_not_cut() -> None:
    record = {"response": {"choices": [{"message": {"content": "x" * 60_001}}]}}
    with pytest.raises(UnadaptableRecord, match="answer is invalid"):
        adapted("openai", record)


def test_of_a_flood_of_citations_no_more_are_looked_at_than_an_answer_may_carry() -> None:
    said, many = "word " * 2_000, range(5_000)
    files = [{"type": "file_citation", "file_id": "c-1", "index": 4 + n} for n in many]
    openai = {
        "response": {"choices": [{"message": {"content": said, "annotations": files}}]},
        "contexts": [{"id": "c-1", "text": said}],
    }
    pdf = {"type": "document", "source": {"type": "base64", "data": ""}}
    cited = [{"type": "page_location", "document_index": 0, "cited_text": f"{n} {said}"} for n in range(1_500)]
    anthropic = {
        "request": {"messages": [{"role": "user", "content": [pdf]}]},
        "response": {"type": "message", "content": [{"type": "text", "text": said, "citations": cited}]},
    }
    chunk = {"retrievedContext": {"uri": "u", "text": said}}
    supports = [{"segment": {"startIndex": n, "endIndex": n + 1}, "groundingChunkIndices": [0]} for n in many]
    grounding = {"groundingChunks": [chunk], "groundingSupports": supports}
    google = {"response": {"candidates": [{"content": {"parts": [{"text": said}]}, "groundingMetadata": grounding}]}}
    for name, record in (("openai", openai), ("anthropic", anthropic), ("google", google)):
        (found,) = adapted(name, record)
        assert len(found.answer.citations) == 1_000, name
        assert len((found.answer.contexts or [])[0].content) <= 100_000


@pytest.mark.parametrize("deep", [False, True], ids=["large", "deep"])
def test_what_was_kept_aside_goes_first_where_an_answer_does_not_fit(deep: bool) -> None:
    rest: Any = "x" * 400_000
    if deep:
        rest = 1
        for _ in range(195):
            rest = [rest]
    (found,) = adapted("openai", {"note": rest, "response": {"choices": [{"message": {"content": "Yes."}}]}})
    answer, value = fitting(found.answer, SETTINGS.kafka.max_input_bytes)
    assert len(value) < 2_000
    assert "record" not in answer.metadata
    assert answer.metadata["gateway"]["cut"] == ["record"]
    large = GeneratedAnswer(answer_id="a", answer="x" * 50_000, completed_at=NOW)
    with pytest.raises(UnadaptableRecord, match="send fewer or shorter contexts"):
        fitting(large, 40_000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1793606043.25, "2026-11-02T07:54:03.250000+00:00"),
        (1793606043250, "2026-11-02T07:54:03.250000+00:00"),
        ("1793606043250000000", "2026-11-02T07:54:03.250000+00:00"),
        ("2026-11-02T08:54:03.25+01:00", "2026-11-02T07:54:03.250000+00:00"),
        ("2026-11-02 07:54:03", "2026-11-02T07:54:03+00:00"),
    ],
)
def test_a_time_is_known_in_every_unit(value: Any, expected: str) -> None:
    found = time(value)
    assert found is not None
    assert found.isoformat() == expected


@pytest.mark.parametrize("value", [None, True, "soon", "", -1e300, 1e30, "9999-01-01", {}, "0001-01-01T00:00:00"])
def test_what_is_no_time_that_stores_hold_is_missing(value: Any) -> None:
    assert time(value) is None


# ---------------------------------------------------------------- names, tenants, what the envelope says


def test_a_record_without_a_name_has_that_of_its_envelope_else_of_its_content() -> None:
    record = {"response": {"choices": [{"message": {"content": "Yes."}}]}, "request": {"model": "m", "input": "?"}}
    turned = {"request": {"input": "?", "model": "m"}, "response": record["response"]}
    first, second = (adapted("openai", each)[0].answer.answer_id for each in (record, turned))
    assert first == second, "the order of fields is no content"
    assert first != adapted("openai", record | {"request": {"model": "other"}})[0].answer.answer_id
    (named,) = adapted("openai", record, Received(NOW, identifier="/gateway/17"))
    assert named.answer.answer_id == "/gateway/17"


def test_what_nobody_has_named_is_another_answer_for_another_tenant() -> None:
    for name, record in (
        ("openai", {"response": {"choices": [{"message": {"content": "Yes."}}]}}),
        ("touchstone", {"answer": "Yes."}),
    ):
        names = {
            adapted(name, record, Received(NOW, tenant=tenant))[0].answer.answer_id
            for tenant in (None, "acme", "other")
        }
        assert len(names) == 3, name


def test_an_event_is_another_answer_for_another_fixed_tenant() -> None:
    headers = [("ce_specversion", b"1.0"), ("ce_id", b"17"), ("ce_source", b"/app"), ("ce_type", b"answer")]
    names = [
        from_kafka(b"{}", headers, Received(NOW, tenant)).received.identifier for tenant in (None, "acme", "other")
    ]
    assert names == ["/app/17", "acme:/app/17", "other:/app/17"]


def event_of(said: str, **named: str) -> dict[str, Any]:
    output = {
        "key": "gen_ai.output.messages",
        "value": {"stringValue": json.dumps([{"role": "assistant", "content": said}])},
    }
    chat = {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}
    details = {"eventName": "gen_ai.client.inference.operation.details", "timeUnixNano": "1793606046000000000"}
    return details | named | {"attributes": [chat, output]}


def logs_of(*events: dict[str, Any]) -> dict[str, Any]:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(events)}]}]}


def test_events_outside_of_a_span_are_named_each_by_itself() -> None:
    def names(*said: str, received: Received | None = None) -> list[str]:
        found = adapted("otlp-logs", logs_of(*map(event_of, said)), received)
        assert all("answer_id" in each.missing for each in found)
        return [each.answer.answer_id for each in found]

    one, two = names("One.", "Two.")
    assert one != two
    assert names("One.") == [one], "whatever else was exported with it"
    assert names("One.", "Two.", received=Received(NOW, identifier="key-0")) == ["key-0-0", "key-0-1"]


def test_an_event_outside_of_a_span_has_the_sources_of_no_other_call() -> None:
    documents = [{"id": "d", "content": "Loki has 4 GiB."}]
    retrieval = event_of("") | {
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "retrieval"}},
            {"key": "gen_ai.retrieval.documents", "value": {"stringValue": json.dumps(documents)}},
        ]
    }
    (found,) = adapted("otlp-logs", logs_of(retrieval, event_of("One.")))
    assert found.answer.contexts is None


def test_a_call_that_cannot_be_taken_costs_no_other_of_its_export() -> None:
    long = event_of("x" * 60_001)
    found = adapted("otlp-logs", logs_of(long, event_of("One."), event_of("Two."), long))
    assert [each.answer.answer for each in found] == ["One.", "Two."]
    assert sum(each.refused for each in found) == 2
    with pytest.raises(UnadaptableRecord, match="answer is invalid"):
        adapted("otlp-logs", logs_of(long))


def test_messages_without_a_span_belong_to_no_choice_but_their_own() -> None:
    def message(name: str, **body: str) -> dict[str, Any]:
        values = [{"key": key, "value": {"stringValue": value}} for key, value in body.items()]
        return {"eventName": name, "body": {"kvlistValue": {"values": values}}}

    asked = message("gen_ai.user.message", content="Of whom?")
    choice = {"eventName": "gen_ai.choice", "body": {"stringValue": '{"message": {"content": "Said."}}'}}
    (found,) = adapted("otlp-logs", logs_of(asked, choice))
    assert (found.answer.query, found.answer.answer) == ("", "Said.")
    with pytest.raises(NothingToJudge):
        adapted("otlp-logs", logs_of(asked))


def said(name: str, body: dict[str, Any], span: str = "", trace: str = "") -> dict[str, Any]:
    """A message or a choice as a log record, its body as JSON in a text."""
    return {"eventName": name, "body": {"stringValue": json.dumps(body)}, "traceId": trace, "spanId": span}


def test_of_several_calls_in_one_span_the_last_answer_is_that_of_the_last_question() -> None:
    calls = [("Q1", "A1"), ("Q2", "A2")]
    records = [
        each
        for asked, answered in calls
        for each in (
            said("gen_ai.user.message", {"content": asked}, "a" * 16, "b" * 32),
            said("gen_ai.choice", {"index": 0, "message": {"content": answered}}, "a" * 16, "b" * 32),
        )
    ]
    (found,) = adapted("otlp-logs", logs_of(*records))
    assert (found.answer.query, found.answer.answer) == ("Q2", "A2")


def test_the_answer_behind_a_tool_call_in_the_same_span_is_judged() -> None:
    span = ("a" * 16, "b" * 32)
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    (found,) = adapted(
        "otlp-logs",
        logs_of(
            said("gen_ai.user.message", {"content": "Q1"}, *span),
            said(
                "gen_ai.choice", {"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [call]}}, *span
            ),
            said("gen_ai.tool.message", {"id": "c", "content": "Loki has 4 GiB."}, *span),
            said("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "A2"}}, *span),
        ),
    )
    assert found.answer.answer == "A2"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('[{"text": "X is Y."}]', "X is Y."),
        ([{"text": "X is Y."}], "X is Y."),
        ({"content": '[{"type": "text", "text": "X is Y."}]'}, "X is Y."),
        ('{"answer": "42"}', '{"answer": "42"}'),
        ('{"content": "X is Y."}', "X is Y."),
        ("X is Y.", "X is Y."),
    ],
)
def test_a_message_is_read_as_object_parts_or_text(message: object, expected: str) -> None:
    (found,) = adapted("otlp-logs", logs_of(said("gen_ai.choice", {"index": 0, "message": message})))
    assert found.answer.answer == expected


def test_a_question_in_parts_is_read() -> None:
    asked = said("gen_ai.user.message", {"content": '[{"text": "What is X?"}]'}, "a" * 16, "b" * 32)
    choice = said("gen_ai.choice", {"message": {"content": "Y."}}, "a" * 16, "b" * 32)
    (found,) = adapted("otlp-logs", logs_of(asked, choice))
    assert found.answer.query == "What is X?"


def test_zeros_are_the_name_of_no_span() -> None:
    none = ("0" * 16, "0" * 32)
    records = [said("gen_ai.choice", {"message": {"content": text}}, *none) for text in ("One.", "Two.")]
    found = adapted("otlp-logs", logs_of(*records))
    assert [each.answer.answer for each in found] == ["One.", "Two."]
    assert len({each.answer.answer_id for each in found}) == 2


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        ({"totalCost": None, "calculatedTotalCost": 0.01}, 0.01),
        ({"totalCost": 0.02, "calculatedTotalCost": 0.01}, 0.02),
        ({"totalCost": 0.0, "calculatedTotalCost": 0.01}, 0.0),
    ],
)
def test_a_cost_that_langfuse_leaves_empty_is_read_from_the_calculated_one(
    observation: dict[str, Any], expected: float
) -> None:
    generation = {"id": "g", "type": "GENERATION", "input": "Q?", "output": "A."} | observation
    (found,) = adapted("langfuse", {"id": "t", "observations": [generation]})
    (event,) = found.feedback
    assert event.execution is not None
    assert event.execution.cost_usd == expected


EVENT_TRACE, HOP_TRACE = f"00-{'a' * 32}-{'b' * 16}-01", f"00-{'c' * 32}-{'d' * 16}-01"


@pytest.mark.parametrize(
    ("extension", "header", "expected"),
    [
        (EVENT_TRACE, HOP_TRACE, EVENT_TRACE),
        (None, HOP_TRACE, HOP_TRACE),
        (EVENT_TRACE, None, EVENT_TRACE),
        ("00-none", HOP_TRACE, HOP_TRACE),
        (None, None, None),
    ],
)
def test_the_trace_of_an_event_counts_before_that_of_the_hop_that_brought_it(
    extension: str | None, header: str | None, expected: str | None
) -> None:
    """CloudEvents, distributed tracing: the extension tells where the event comes from, headers tell each hop."""
    attributes = {"id": "1", "source": "/app", "type": "answer", "specversion": "1.0"}
    if extension is not None:
        attributes["traceparent"] = extension
    hop = {} if header is None else {"traceparent": header}
    structured = json.dumps(attributes | {"data": {"answer": "x"}}).encode()
    named = {"content-type": "application/cloudevents+json"}
    binary = {"content-type": "application/json"}
    opened = [
        *from_http(structured, named | hop, Received(NOW)),
        *from_http(
            b'{"answer": "x"}', binary | {f"ce-{key}": of for key, of in attributes.items()} | hop, Received(NOW)
        ),
        from_kafka(structured, [(key, of.encode()) for key, of in (named | hop).items()], Received(NOW)),
        from_kafka(
            b'{"answer": "x"}',
            [(key, of.encode()) for key, of in ({f"ce_{key}": of for key, of in attributes.items()} | hop).items()],
            Received(NOW),
        ),
    ]
    assert [each.received.traceparent for each in opened] == [expected] * 4


@pytest.mark.parametrize(("name", "in_part"), [("otlp", True), ("otlp-logs", True), ("langfuse", False)])
def test_only_of_calls_that_have_nothing_to_do_with_each_other_some_are_taken(name: str, in_part: bool) -> None:
    found = [*adapted("touchstone", {"answer": "Large."}), *adapted("touchstone", {"answer": "Small."})]
    large = found[0].answer.answer_id

    def outputs(each: Adapted) -> list[Output]:
        if each.answer.answer_id == large:
            raise UnadaptableRecord("too large")
        return []

    assert format_named(name).in_part is in_part
    if not in_part:
        with pytest.raises(UnadaptableRecord, match="too large"):
            taken_of(found, outputs, in_part=in_part)
        return
    assert taken_of(found, outputs, in_part=True) == Taken((found[1],), (), 1)
    with pytest.raises(UnadaptableRecord, match="too large"):
        taken_of(found[:1], outputs, in_part=True)


OWN, HOP = (f"00-{'4bf92f3577b34da6a3ce929d0e0e4736'}-{span}-01" for span in ("00f067aa0ba902b7", "11f067aa0ba902b7"))
ANOTHER = f"00-{'a' * 32}-{'b' * 16}-01"


def test_the_trace_of_a_record_counts_before_that_of_the_request_that_brought_it() -> None:
    received = Received(NOW, traceparent=ANOTHER)
    own = event_of("One.", traceId=OWN.split("-")[1], spanId=OWN.split("-")[2])
    pair = {"response": {"choices": [{"message": {"content": "Yes."}}]}}
    for name, record, expected in (
        ("otlp-logs", logs_of(own), OWN),
        ("otlp-logs", logs_of(event_of("One.")), ANOTHER),
        ("openai", pair | {"traceparent": HOP}, HOP),
        ("openai", pair, ANOTHER),
        ("touchstone", {"answer": "x", "trace": {"traceparent": HOP}}, HOP),
        ("touchstone", {"answer": "x", "trace": {}}, ANOTHER),
        ("touchstone", {"answer": "x", "trace": None}, ANOTHER),
        ("touchstone", {"answer": "x"}, ANOTHER),
    ):
        (found,) = adapted(name, record, received)
        assert found.answer.trace is not None
        assert found.answer.trace.traceparent == expected


@pytest.mark.parametrize(
    "context", ["x", "", "00-1-2-3", f"00-{'0' * 32}-{'b' * 16}-01", f"ff-{'a' * 32}-{'b' * 16}-01"]
)
def test_a_header_that_is_no_trace_context_is_left_out(context: str) -> None:
    assert from_kafka(b"{}", [("traceparent", context.encode())], Received(NOW)).received.traceparent is None
    assert from_kafka(b"{}", [("traceparent", ANOTHER.encode())], Received(NOW)).received.traceparent == ANOTHER


def test_a_tenant_that_is_set_counts_whatever_the_record_says() -> None:
    record = case_of("litellm", "contexts from the caller, streamed")
    assert adapted("litellm", record)[0].answer.tenant == "team-ops"
    (found,) = adapted("litellm", record, Received(NOW, tenant="other"))
    assert (found.answer.tenant, found.feedback[0].tenant) == ("other", "other")


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("litellm", case_of("litellm", "a failed call") | {"call_type": "aembedding", "status": "success"}),
        ("otlp", {"resourceSpans": []}),
        ("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "GET /", "attributes": []}]}]}]}),
        ("openai", {"response": {"choices": [{"message": {"content": None, "tool_calls": [{"id": "1"}]}}]}}),
        ("anthropic", {"response": {"type": "message", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}),
        ("langfuse", {"id": "t", "observations": []}),
    ],
)  # fmt: skip
def test_what_holds_no_answer_is_left_alone_and_no_error(name: str, record: Any) -> None:
    with pytest.raises(NothingToJudge):
        adapted(name, record)


def test_the_team_of_a_key_is_the_tenant_whatever_its_caller_says() -> None:
    record = case_of("litellm", "contexts from the caller, streamed")
    said = record["metadata"]["requester_metadata"] | {"tenant": "another"}
    metadata = record["metadata"] | {"requester_metadata": said, "user_api_key_team_id": "team-7"}
    assert adapted("litellm", record | {"metadata": metadata})[0].answer.tenant == "team-7"
    alone = metadata | {"user_api_key_team_id": None}
    assert adapted("litellm", record | {"metadata": alone})[0].answer.tenant == "another"


# ---------------------------------------------------------------- sources and citations that do not fit


def pair_with(*contexts: Any) -> dict[str, Any]:
    return {"response": {"choices": [{"message": {"content": "Yes [2]."}}]}, "contexts": list(contexts)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.5, 0.5), ("0.9", 0.9), ("high", 0.9), ("85%", None), ([1], None), (85, None), (True, None), ("sure", None)],
)
def test_a_confidence_that_does_not_fit_is_missing_and_refuses_no_answer(given: Any, expected: float | None) -> None:
    (found,) = adapted("openai", pair_with({"content": "x", "confidence": given}))
    (chunk,) = found.answer.contexts or []
    assert chunk.confidence == expected


def test_the_event_of_a_memory_is_cut_where_it_is_too_long() -> None:
    (found,) = adapted("openai", pair_with({"content": "x", "source_event": "e" * 2_001}))
    assert [chunk.source_event for chunk in found.answer.contexts or []] == ["e" * 2_000]


@pytest.mark.parametrize("empty", ["", "  ", None, {"id": "first", "text": ""}, {"id": "first"}])
def test_a_source_without_a_text_keeps_its_number(empty: Any) -> None:
    litellm = case_of("litellm", "contexts from the caller, streamed")
    said = litellm["metadata"]["requester_metadata"] | {"contexts": [empty, "Second."]}
    trace = case_of("langfuse", next(case["case"] for case in GOLDEN["langfuse"]["cases"]))
    retrieved = trace | {"observations": [{"type": "RETRIEVER", "output": [empty, "Second."]}, *trace["observations"]]}
    for name, record in (
        ("openai", pair_with(empty, "Second.")),
        ("litellm", litellm | {"metadata": litellm["metadata"] | {"requester_metadata": said}}),
        ("langfuse", retrieved),
    ):
        (found,) = adapted(name, record)
        texts = [chunk.content for chunk in found.answer.contexts or []]
        assert texts.index("Second.") == 1, name
        assert not texts[0].strip()
    if isinstance(empty, dict):
        (found,) = adapted("openai", pair_with(empty, "Second."))
        assert (found.answer.contexts or [])[0].chunk_id == "first"
    (none,) = adapted("openai", pair_with(empty))
    assert none.answer.contexts is None, "without any text there are no sources"


# ---------------------------------------------------------------- what was not sent


@pytest.mark.parametrize(
    "call_type", ["adelete_responses", "aget_responses", "acancel_responses", "alist_input_items", "acreate_batch"]
)
def test_a_call_about_an_answer_is_none(call_type: str) -> None:
    with pytest.raises(NothingToJudge):
        adapted("litellm", case_of("litellm", "Responses API with citations") | {"call_type": call_type})


@pytest.mark.parametrize(
    "call_type", ["allm_passthrough_route", "llm_passthrough_route", "pass_through_endpoint", "anthropic_messages", ""]
)
def test_every_call_for_an_answer_is_judged(call_type: str) -> None:
    record = case_of("litellm", "retrieval by the gateway's vector store") | {"call_type": call_type}
    assert adapted("litellm", record)[0].answer.answer


def test_blocks_that_are_all_redacted_are_no_answer() -> None:
    block = {"type": "text", "text": "redacted-by-litellm"}
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    record = case_of("litellm", "message logging turned off")
    said = {"choices": [{"message": {"content": [block, block]}}]}
    (found,) = adapted(
        "litellm", record | {"response": said, "messages": [{"role": "user", "content": [block, block]}]}
    )
    assert found.answer.answer == found.answer.query == ""
    assert set(found.answer.withheld) >= {"answer", "query"}
    said["choices"][0]["message"]["tool_calls"] = calls
    with pytest.raises(NothingToJudge, match="tool_call"):
        adapted("litellm", record | {"response": said})


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("litellm", "message logging turned off"),
        ("litellm", "message logging turned off, other call"),
        ("otlp", "no content captured, the default of instrumentations"),
    ],
)
def test_a_text_that_was_not_sent_is_judged_as_such_and_not_as_empty(name: str, title: str) -> None:
    (found,) = adapted(name, case_of(name, title))
    answer = found.answer
    assert "answer" in answer.withheld
    citations = find_citations(answer)
    assert (citations.status, citations.reason) == ("skipped", "the answer's text was not sent")
    quality = evaluate_quality(prepare_quality(answer), {}, SETTINGS.quality)
    assert quality.issues == ["Response was not sent"]
    assert quality.overall_score is None
    assert quality.signals == []
    signals = execution_signals(answer, SETTINGS.feedback, SETTINGS.quality)
    assert (signals.status, signals.error_type) == ("success", None), "no router is told of an empty response"
    empty = answer.model_copy(update={"withheld": []})
    assert find_citations(empty).reason == "the answer is empty"


# ---------------------------------------------------------------- offsets


@given(st.lists(st.text(alphabet="aä😀e\u0301 字.", max_size=12), min_size=1, max_size=3), st.data())
def test_spans_in_bytes_of_a_part_are_code_points_of_the_answer(texts: list[str], data: Any) -> None:
    part = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[part])))
    end = data.draw(st.integers(start, len(texts[part])))
    segment = {
        "partIndex": part,
        "startIndex": len(texts[part][:start].encode()),
        "endIndex": len(texts[part][:end].encode()),
        "text": texts[part][start:end],
    }
    base = sum(len(text) for text in texts[:part])
    expected = (base + start, base + end) if end > start else None
    assert span_of(segment, texts) == expected
    snake = {"part_index": part, "start_index": segment["startIndex"], "end_index": segment["endIndex"]}
    assert span_of(snake, texts) == expected


def test_a_span_that_cuts_a_character_in_two_is_found_by_its_text_or_not_at_all() -> None:
    assert span_of({"startIndex": 1, "endIndex": 3}, ["ä4"]) is None
    assert span_of({"startIndex": 1, "endIndex": 3, "text": "4"}, ["ä4"]) == (1, 2)
    assert span_of({"startIndex": 0, "endIndex": 99, "text": "nowhere"}, ["ä4"]) is None


# ---------------------------------------------------------------- protobuf


@pytest.mark.parametrize("name", ["otlp", "otlp-logs"])
def test_an_export_in_protobuf_gives_the_same_answers_as_in_json(name: str) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    message = ExportTraceServiceRequest if name == "otlp" else ExportLogsServiceRequest
    for case in GOLDEN[name]["cases"]:
        request = ParseDict(_with_bytes(case["record"]), message())
        found = format_named(name).answers(request.SerializeToString(), Received(NOW))
        assert [shown(each.answer) for each in found] == case["answers"]
        assert [shown(event) for each in found for event in each.feedback] == case["feedback"]


def export_of_length(length: int) -> bytes:
    """An export in protobuf with a call of a model, whose first message has so many bytes: a braced text by chance."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    record = case_of("otlp", "a failed call")
    request = ParseDict(_with_bytes(record), ExportTraceServiceRequest())
    first = ExportTraceServiceRequest().resource_spans.add()
    first.schema_url = "x" * (length - 2)
    assert first.ByteSize() == length
    return ExportTraceServiceRequest(resource_spans=[first, *request.resource_spans]).SerializeToString()


@pytest.mark.parametrize("length", [ord("{"), ord("["), 100])
def test_protobuf_is_no_json_whatever_the_length_of_its_first_message(length: int) -> None:
    value = export_of_length(length)
    assert value[1] == length
    (found,) = format_named("otlp").answers(value, Received(NOW))
    assert found.answer.status == "error"


def test_json_that_is_broken_is_told_as_such() -> None:
    with pytest.raises(UnadaptableRecord, match="not valid JSON"):
        format_named("otlp").answers(b'{"resourceSpans": [', Received(NOW))


# ---------------------------------------------------------------- a topic of a gateway


@pytest.mark.parametrize("seconds", [1793606046.0, 1793606046e3, 1793606046e6, -1.0, 1e300])
def test_a_record_whose_time_is_in_another_unit_or_none_is_read(seconds: float) -> None:
    settings = Settings(_env_file=None, gateways={"topics": {"calls": {"format": "touchstone"}}})
    record = Record("calls", 0, 0, None, b'{"answer": "Yes."}', timestamp=seconds)
    (found,) = adapted_answers(record, settings)
    if 0 < seconds < 1e20:
        assert found.answer.completed_at.isoformat() == "2026-11-02T07:54:06+00:00"
    else:
        assert abs(datetime.now(UTC) - found.answer.completed_at) < timedelta(hours=1)


def test_a_mapping_that_is_called_like_a_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('version = 1\n[answer]\nanswer = "text"\n')
    gateways = {"mappings": {"openai": str(tmp_path / "m.toml")}}
    with pytest.raises(ValueError, match="openai is built in"):
        Settings(_env_file=None, gateways=gateways)


def _with_bytes(value: Any) -> Any:
    """Identifiers in base64, as protobuf's own mapping wants them."""
    from base64 import b64encode

    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: b64encode(bytes.fromhex(inner)).decode() if name in ("traceId", "spanId", "parentSpanId") else _with_bytes(inner)
        for name, inner in value.items()
    }  # fmt: skip


# ---------------------------------------------------------------- shapes that no service writes


def openai_reply(**message: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", **message}}]}


@pytest.mark.parametrize(
    ("response", "field"),
    [
        ({"outputs": [{"text": "Yes."}]}, "response"),
        ({"results": [{"output": "Yes."}]}, "response"),
        ({}, "response"),
        ({"id": "r", "body": {"choices": []}}, "response"),
        ({"text": {"value": "Yes."}}, "response"),
        ({"choices": []}, "response.choices.message"),
        ({"choices": [{"finish_reason": "stop"}]}, "response.choices.0.message"),
        (openai_reply(content={"text": "Yes."}), "response.choices.0.message.content"),
        (openai_reply(content=[{"type": "hologram", "hologram": "Yes."}]), "response.choices.0.message.content.0.type"),
        (openai_reply(content=[{"type": "text", "text": {"value": 1}}]), "response.choices.0.message.content.0.text"),
        ({"message": "Yes."}, "response.message"),
        ({"output": [{"type": "hologram", "text": "Yes."}]}, "response.output.0"),
        ({"output": [{"type": "message", "content": [{"type": "hologram"}]}]}, "response.output.0.content.0.type"),
        ({"output": []}, "response.output"),
        ({"type": "message", "content": "Yes."}, "response.content"),
        ({"type": "message", "content": [{"type": "hologram"}]}, "response.content.0"),
        ({"type": "message", "stop_reason": "end_turn"}, "response.content"),
        ({"candidates": []}, "response.candidates"),
        ({"candidates": [{"content": {"parts": [{"hologram": "Yes."}]}}]}, "response.candidates.0.content.parts.0"),
        ({"candidates": [{"content": {"parts": "Yes."}}]}, "response.candidates.0.content.parts"),
    ],
)
@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
def test_a_response_of_an_unknown_shape_is_refused_and_names_its_field(name: str, response: Any, field: str) -> None:
    with pytest.raises(UnadaptableRecord, match=re.escape(f"{name}: {field} has an unknown shape")) as error:
        adapted(name, {"request": {"messages": [{"role": "user", "content": "Q?"}]}, "response": response})
    assert error.value.field == field


@pytest.mark.parametrize("response", [None, {}, [], 7, {"outputs": ["Yes."]}, {"choices": []}])
def test_a_logged_call_without_a_readable_response_is_refused(response: Any) -> None:
    record = case_of("litellm", "contexts from the caller, streamed")
    with pytest.raises(UnadaptableRecord, match="litellm: response"):
        adapted("litellm", record | {"response": response})


@pytest.mark.parametrize(
    "response",
    [
        openai_reply(content=None),
        openai_reply(content=""),
        openai_reply(content=[]),
        openai_reply(content=None, reasoning_content="Let me think."),
        {"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"output": [{"type": "reasoning", "summary": []}], "status": "incomplete"},
        {"type": "message", "content": [], "stop_reason": "end_turn"},
        {"type": "message", "content": [{"type": "thinking", "thinking": "…"}], "stop_reason": "max_tokens"},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]},
    ],
)
def test_an_answer_that_is_empty_in_a_known_shape_is_evaluated_as_empty(response: Any) -> None:
    (found,) = adapted("openai", {"response": response})
    assert found.answer.answer == ""
    assert found.answer.withheld == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": None, "refusal": "I cannot help."}, "I cannot help."),
        ({"content": [{"type": "refusal", "refusal": "I cannot help."}]}, "I cannot help."),
        ({"content": [{"type": "text", "text": "One. "}, {"type": "text", "text": "Two."}]}, "One. Two."),
        ({"content": ["One. ", "Two."]}, "One. Two."),
        ({"content": None, "audio": {"id": "a", "transcript": "Said."}}, "Said."),
        ({"content": [{"type": "image_url", "image_url": {}}, {"type": "text", "text": "A cat."}]}, "A cat."),
    ],
)
def test_refusals_sound_and_several_parts_are_the_answer(message: Any, expected: str) -> None:
    (found,) = adapted("openai", {"response": openai_reply(**message)})
    assert found.answer.answer == expected


@pytest.mark.parametrize("contexts", ["one text", {"content": "x"}, 7, [{"body": "x"}], [7], [[]]])
def test_sources_of_an_unknown_shape_are_refused_and_not_left_out(contexts: Any) -> None:
    with pytest.raises(UnadaptableRecord, match="openai: contexts") as error:
        adapted("openai", {"response": openai_reply(content="Yes."), "contexts": contexts})
    assert str(error.value.field).startswith("contexts")


@pytest.mark.parametrize("identifier", [None, "", " ", 7, "absent"])
def test_an_event_without_an_id_is_refused_since_its_repeat_would_be_another_answer(identifier: Any) -> None:
    event = {"specversion": "1.0", "id": identifier, "source": "/a", "type": "answer", "data": {"answer": "A."}}
    event = {name: value for name, value in event.items() if value != "absent"}
    structured = "application/cloudevents+json"
    headers = {f"ce-{name}": str(value) for name, value in event.items() if name != "data" and isinstance(value, str)}
    for refused in (
        lambda: from_http(json.dumps(event).encode(), {"content-type": structured}, Received(NOW)),
        lambda: from_http(json.dumps([event]).encode(), {"content-type": "application/cloudevents-batch+json"}, Received(NOW)),
        lambda: from_kafka(json.dumps(event).encode(), [("content-type", structured.encode())], Received(NOW)),
        lambda: from_http(b'{"answer": "A."}', headers, Received(NOW)),
        lambda: from_kafka(b"{}", [(name.replace("-", "_"), value.encode()) for name, value in headers.items()], Received(NOW)),
    ):  # fmt: skip
        with pytest.raises(UnadaptableRecord, match="the CloudEvent is invalid: id"):
            refused()


def test_an_event_without_its_version_keeps_its_name() -> None:
    event = {"id": "17", "source": "/a", "type": "answer", "data": {"answer": "A."}}
    structured = "application/cloudevents+json"
    headers = {f"ce-{name}": str(event[name]) for name in ("id", "source", "type")}
    (over_http,) = from_http(b"{}", headers, Received(NOW))
    opened = [
        over_http,
        *from_http(json.dumps(event).encode(), {"content-type": structured}, Received(NOW)),
        from_kafka(json.dumps(event).encode(), [("content-type", structured.encode())], Received(NOW)),
        from_kafka(b"{}", [(name.replace("-", "_"), value.encode()) for name, value in headers.items()], Received(NOW)),
    ]
    assert [each.received.identifier for each in opened] == ["/a/17"] * 4
    with pytest.raises(UnadaptableRecord, match="source, type"):
        from_http(b"{}", {"ce-id": "17"}, Received(NOW))


@pytest.mark.parametrize(
    "wrapped",
    [
        {"schema": {"type": "struct", "fields": [], "optional": False}, "payload": {"answer": "Paris."}},
        {"schema": None, "payload": {"answer": "Paris."}},
        {"schema": {"type": "string", "optional": False}, "payload": '{"answer": "Paris."}'},
        {"answer": "Paris."},
    ],
)
def test_values_of_kafka_connect_are_read_whatever_its_converter(wrapped: Any) -> None:
    for value in (json.dumps(wrapped), json.dumps(wrapped, separators=(",", ":"))):
        opened = from_kafka(value.encode(), [], Received(NOW))
        assert json.loads(opened.value or b"") == {"answer": "Paris."}


@pytest.mark.parametrize(
    "value", [b'{"schema": 1, "payload": 2, "answer": "Paris."}', b'{"schema": ', b'{"schema": {}}', b"", None]
)
def test_a_value_that_is_no_envelope_of_kafka_connect_stays_as_it_is(value: bytes | None) -> None:
    assert from_kafka(value, [], Received(NOW)).value == value
