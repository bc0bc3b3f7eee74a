"""Spans of several tenants in one export, also with one trace identifier: nothing of one tenant gets into an answer of another."""

import json
from typing import Any

import pytest

from tests.unit.gateways.test_otlp_roots import NOW, answers, call, frame, retrieval, span
from workers.gateways.adapted import Adapted, Received
from workers.gateways.formats import format_named

A = {"touchstone__tenant": "a"}
B = {"touchstone__tenant": "b"}


def told(*spans: Any) -> dict[str, list[str]]:
    """The sources of the one answer of each tenant."""
    found = answers(*spans)
    assert len({each.answer.tenant for each in found}) == len(found)
    return {each.answer.tenant: sources(each) for each in found}


def sources(found: Adapted) -> list[str]:
    return [chunk.content for chunk in found.answer.contexts or ()]


def of_resources(resources: dict[str, list[Any]], received: Received) -> list[Adapted]:
    """The answers of an export of several programs, each with a tenant of its own."""
    export = {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "touchstone.tenant", "value": {"stringValue": tenant}}]},
                "scopeSpans": [{"spans": spans}],
            }
            for tenant, spans in resources.items()
        ]
    }
    return format_named("otlp").answers(json.dumps(export).encode(), received)


def test_sources_of_one_trace_are_those_of_the_calls_tenant() -> None:
    spans = (
        retrieval(1, 0, "Of a.", **A),
        retrieval(2, 0, "Of b.", **B),
        call(3, at=2, asked="One?", **A),
        call(4, at=2, asked="Two?", **B),
    )
    assert told(*spans) == {"a": ["Of a."], "b": ["Of b."]}


def test_the_resource_names_the_tenant_of_its_spans() -> None:
    spans = {
        "a": [retrieval(1, 0, "Of a."), call(3, at=2, asked="One?")],
        "b": [retrieval(2, 0, "Of b."), call(4, at=2, asked="Two?")],
    }
    found = of_resources(spans, Received(NOW))
    assert {each.answer.tenant: sources(each) for each in found} == {"a": ["Of a."], "b": ["Of b."]}
    # Whoever fixes the tenant has one tenant only, whatever its programs call themselves.
    for each in of_resources(spans, Received(NOW, "c")):
        assert (each.answer.tenant, sources(each)) == ("c", ["Of a.", "Of b."])


def test_a_span_without_a_tenant_has_that_of_the_nearest_span_around_it() -> None:
    spans = (
        frame(1, seconds=9, output__value="The answer of a.", **A),
        retrieval(2, 1, "Of a."),
        call(3, 1, at=2, asked="One?"),
        # A caller chooses the parent of its spans, too.
        frame(4, 1, seconds=9, output__value="The answer of b.", **B),
        retrieval(5, 4, "Of b."),
        call(6, 4, at=2, asked="Two?"),
    )
    assert told(*spans) == {"a": ["Of a."], "b": ["Of b."]}


def test_a_trace_of_one_tenant_is_all_of_this_tenant() -> None:
    spans = (frame(1, seconds=9, output__value="Said."), retrieval(2, 1, "Found."), call(3, 1, at=2, **A))
    assert told(*spans) == {"a": ["Found."]}
    assert told(retrieval(1, 0, "Found.", **A), call(2, at=2)) == {"a": ["Found."]}


def test_sources_of_nobody_go_to_no_tenant_of_a_shared_trace() -> None:
    spans = (retrieval(1, 0, "Of somebody."), call(2, at=2, asked="One?", **A), call(3, at=2, asked="Two?", **B))
    assert told(*spans) == {"a": [], "b": []}


def test_an_answer_is_no_step_and_no_copy_of_an_answer_of_another_tenant() -> None:
    text = "The warranty lasts 24 months."
    # The question of b quotes the answer of a; its call of another trace says the same.
    spans = (
        call(1, said=text, **A),
        call(2, at=2, asked=f"Is this right: {text}", said="Yes, it is right.", **B),
        call(3, at=10, seconds=5, trace="b", said="Another long text.", **A),
        call(4, at=11, seconds=1, trace="c", said="Another long text.", **B),
    )
    found = sorted((each.answer.tenant, each.answer.answer) for each in answers(*spans))
    assert found == [
        ("a", "Another long text."), ("a", text), ("b", "Another long text."), ("b", "Yes, it is right."),
    ]  # fmt: skip
    assert "steps" not in json.dumps([each.answer.metadata for each in answers(*spans)])


def test_a_call_below_the_span_of_another_tenant_is_an_answer_of_its_own() -> None:
    spans = (frame(1, seconds=9, output__value="Said.", **A), call(2, 1, **A), call(3, 1, said="Of b.", **B))
    found = {each.answer.tenant: each.answer for each in answers(*spans)}
    assert (found["a"].answer, found["b"].answer) == ("Said.", "Of b.")
    assert "Of b." not in json.dumps(found["a"].metadata)


@pytest.mark.parametrize("given", ["x", ""])
def test_spans_without_a_trace_share_no_tenant(given: str) -> None:
    lone = [each | {"traceId": ""} for each in (call(1, **A), call(2, said="Of nobody.", touchstone__tenant=given))]
    assert {each.answer.tenant for each in answers(*lone)} == {"a", given or "default"}


def test_messages_in_log_records_of_two_tenants_are_two_calls() -> None:
    def event(tenant: str, name: str, **body: Any) -> dict[str, Any]:
        fields = [{"key": key, "value": {"stringValue": value}} for key, value in body.items()]
        attributes = [{"key": "touchstone.tenant", "value": {"stringValue": tenant}}]
        record = span(1) | {"eventName": name, "attributes": attributes, "body": {"kvlistValue": {"values": fields}}}
        return record | {"timeUnixNano": record["endTimeUnixNano"]}

    records = [
        event("a", "gen_ai.user.message", content="The question of a?"),
        event("b", "gen_ai.user.message", content="The question of b?"),
        event("a", "gen_ai.choice", message="", content="The answer of a."),
        event("b", "gen_ai.choice", message="", content="The answer of b."),
    ]
    export = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    found = format_named("otlp-logs").answers(json.dumps(export).encode(), Received(NOW))
    assert sorted((each.answer.tenant, each.answer.query) for each in found) == [
        ("a", "The question of a?"), ("b", "The question of b?"),
    ]  # fmt: skip
