"""Spans: parents, what is stamped on outputs, failures, and what happens without the libraries."""

import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schemas.headers import header
from schemas.topics import ANSWERS_CITATIONS
from workers.agents.base import read_answer
from workers.delivery.records import Output, Record, WorkItem
from workers.delivery.tracing import Tracing, TracingNotInstalled, parent_of
from workers.errors import StoreUnavailable
from workers.settings import TracingSettings

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SETTINGS = TracingSettings(endpoint="http://127.0.0.1:1/v1/traces")


def record(value: bytes = b"{}", *contexts: str, key: bytes | None = b"a") -> Record:
    return Record("answers.generated", 2, 7, key, value, [("traceparent", context.encode()) for context in contexts])


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter: InMemorySpanExporter) -> Iterator[Tracing]:
    made = Tracing(SETTINGS, "v1", exporter)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (record(b"{}", PARENT), PARENT),
        (record(b'{"trace": {"traceparent": "%s"}}' % OTHER.encode(), PARENT), PARENT),
        (record(b'{"trace": {"traceparent" : "%s"}}' % OTHER.encode()), OTHER),
        (record(b'{"answer": "\\"traceparent\\": \\"%s\\""}' % OTHER.encode()), None),
        (record(b"{}", "nonsense"), None),
        (record(b"\xff"), None),
    ],
)
def test_the_parent_is_that_of_the_headers_else_that_of_the_answer(of: Record, expected: str | None) -> None:
    assert parent_of(of) == expected


def test_outputs_carry_the_span_that_made_them_and_nothing_else_of_them_changes(
    tracing: Tracing, exporter: InMemorySpanExporter
) -> None:
    output = Output(ANSWERS_CITATIONS, b"k", b"v", [("ce_id", b"1"), ("traceparent", OTHER.encode())], 3)
    spans = tracing.begin("citations", [WorkItem(record(b"{}", PARENT))])
    ((stamped,),) = spans.stamped([[output]])
    spans.end([[stamped]])
    tracing.close()
    (span,) = exporter.get_finished_spans()
    context = header(stamped.headers, "traceparent")
    assert context == f"00-{PARENT.split('-')[1]}-{span.context.span_id:016x}-01"
    assert f"{span.parent.span_id:016x}" == PARENT.split("-")[2]
    assert (stamped.topic, stamped.key, stamped.value, stamped.partition) == (ANSWERS_CITATIONS, b"k", b"v", 3)
    assert [name for name, _ in stamped.headers] == ["ce_id", "traceparent"]
    assert span.attributes["messaging.kafka.offset"] == 7


def test_agents_that_read_one_answer_without_a_trace_meet_in_the_same(
    tracing: Tracing, exporter: InMemorySpanExporter
) -> None:
    for key in (b"a", b"a", b"b", None, None):
        tracing.begin("x", [WorkItem(record(key=key))]).end([[]])
    tracing.close()
    traces = [span.context.trace_id for span in exporter.get_finished_spans()]
    assert traces[0] == traces[1]
    assert len(set(traces)) == 4


def test_what_fails_is_told_by_its_class_and_never_by_its_words(
    tracing: Tracing, exporter: InMemorySpanExporter
) -> None:
    tracing.begin("x", [WorkItem(record())]).end([ValueError("private words")])
    tracing.begin("x", [WorkItem(record())]).fail(StoreUnavailable("private words"))
    tracing.close()
    failed = exporter.get_finished_spans()
    assert [span.attributes["error.type"] for span in failed] == ["ValueError", "StoreUnavailable"]
    assert all(not span.status.is_ok for span in failed)
    assert "private" not in "".join(span.to_json() for span in failed)


def test_a_share_of_nothing_makes_no_span_but_of_the_gateways_wish(exporter: InMemorySpanExporter) -> None:
    tracing = Tracing(SETTINGS.model_copy(update={"sample": 0.0}), "v1", exporter)
    for each in (record(), record(b"{}", PARENT)):
        tracing.begin("x", [WorkItem(each)]).end([[]])
    tracing.close()
    assert [f"{span.context.trace_id:032x}" for span in exporter.get_finished_spans()] == [PARENT.split("-")[1]]


def test_without_the_libraries_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(TracingNotInstalled, match=r"touchstone-worker\[tracing\]"):
        Tracing(SETTINGS, "v1")


def test_a_trace_in_the_headers_becomes_that_of_an_answer_that_names_none() -> None:
    plain = b'{"answer_id": "a", "answer": "x", "completed_at": "2026-11-20T10:15:00Z"}'
    own = plain[:-1] + b', "trace": {"traceparent": "%s"}}' % OTHER.encode()
    for value, contexts, expected in ((plain, [PARENT], PARENT), (own, [PARENT], OTHER), (plain, ["bad"], None)):
        answer = read_answer(record(value, *contexts), 10_000)
        assert (answer.trace.traceparent if answer.trace else None) == expected
