from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer, ProvidedCitation, Turn
from schemas.citations import MAX_EXCERPT
from schemas.identifiers import citation_id
from workers.evaluation.citations.citation_finder import excerpt, find_citations

DONE = datetime(2026, 11, 2, tzinfo=UTC)
RUNBOOK = ContextChunk(
    chunk_id="runbook-1",
    content="Loki crash loop. The ingester exceeds its limit.",
    source_type="runbook",
    source_name="Loki crash loop",
    source_path="https://wiki.example.org/loki/crash-loop.md",
    confidence="high",
)
SUMMARY = ContextChunk(
    chunk_id="c2",
    content='{"asset_id": "grinder-5", "downtime_minutes": 47}',
    source_type="database",
    source_table="daily_summaries",
    record_id="2026-01-04/asset-grinder-5",
)
COSTS = ContextChunk(
    chunk_id="c3", content="rate: 3000", source_type="database", source_table="cost_centers", record_id="cc-1"
)
MEMORY = ContextChunk(
    chunk_id="c4",
    content="Bearings failed on Monday.",
    source_type="memory",
    record_id="abc123",
    created_at=datetime(2025, 12, 1, tzinfo=UTC),
)


def answer(text: str, contexts: list[ContextChunk] | None = None, **fields: Any) -> GeneratedAnswer:
    given = [RUNBOOK, SUMMARY, COSTS, MEMORY] if contexts is None else contexts
    return GeneratedAnswer(answer_id="a1", answer=text, contexts=given, completed_at=DONE, **fields)


def numbers(text: str, **fields: Any) -> list[int]:
    return [citation.number for citation in find_citations(answer(text, **fields)).citations]


def test_a_cited_chunk_carries_its_source() -> None:
    text = "The ingester exceeds its limit [1]."
    citation = find_citations(answer(text)).citations[0]
    assert citation.citation_id == citation_id("default", "a1", "runbook-1")
    assert citation.display_text == "[1] Runbook: Loki crash loop"
    assert citation.confidence == 0.9
    assert citation.forms == ["numeric"]
    assert [text[span.start : span.end] for span in citation.spans] == ["[1]"]


def test_the_seed_004_example_resolves() -> None:
    findings = find_citations(
        answer(
            "Based on yesterday's data, Grinder 5 had the highest downtime at 47 minutes\n"
            "[Source: daily_summaries/2026-01-04/asset-grinder-5], costing approximately\n"
            "$2,350 in lost production [Evidence: cost_centers calculation @ $3000/hr].\n\n"
            "This is consistent with the pattern we've seen over the past week\n"
            "[Memory: asset-history/grinder-5/mem-id-abc123] where similar issues\noccurred on Monday and Wednesday.\n\n"
            "**Recommendation:** Schedule preventive maintenance before next shift.\n[AI Inference - based on pattern analysis]"
        )
    )
    assert [(citation.number, citation.forms) for citation in findings.citations] == [
        (2, ["source"]),
        (3, ["evidence"]),
        (4, ["memory"]),
    ]
    assert findings.citations[2].memory_id == "abc123"
    assert findings.citations[2].display_text == "[4] Memory: abc123 (2025-12-01)"
    assert findings.valid is True
    assert (findings.claims, findings.cited_claims) == (2, 2)
    assert len(findings.inference_spans) == 1
    assert [source.number for source in findings.unused_sources] == [1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Loki failed [0].", "out_of_range"),
        ("Loki failed [5].", "out_of_range"),
        ("Loki failed [1-999999999].", "out_of_range"),
        ("Loki failed [Source: daily_summaries/2026-01-05/asset-grinder-5].", "unknown_record"),
        ("Loki failed [Source: weekly/2026-01-04].", "unknown_record"),
        ("Loki failed [Evidence: humidity at noon].", "unknown_record"),
        ("Loki failed [Memory: mem-zzz].", "unknown_record"),
        ("Loki failed, see [docs](https://made.up/page).", "unknown_link"),
    ],
)
def test_a_reference_to_nothing_is_invalid(text: str, reason: str) -> None:
    findings = find_citations(answer(text))
    assert findings.valid is False
    assert [reference.reason for reference in findings.invalid_references] == [reason]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x [Source: daily_summaries] y", [2]),
        ("x [Source: Loki crash loop] y", [1]),
        ("x [Source: runbook-1; cc-1] y", [1, 3]),
        ("x [Source: 3] y", [3]),
        ("x [Evidence: downtime_minutes at 2026-01-04] y", [2]),
        ("x [docs](https://wiki.example.org/loki/crash-loop.md#limits) y", [1]),
        ("x https://wiki.example.org/loki/crash-loop.md y", [1]),
        ("x 【4】 y", [4]),
    ],
)
def test_sources_are_found_by_any_of_their_names(text: str, expected: list[int]) -> None:
    assert numbers(text) == expected


GIVEN = ContextChunk(
    chunk_id="c",
    content="Details: https://example.org/limits. Returns: www.acme.example/returns",
    source_path="https://wiki.example.org/loki/crash-loop.md",
    metadata={"url": "https://blog.example.org/loki"},
)


@pytest.mark.parametrize(
    "written",
    [
        "[limits](https://example.org/limits)",
        "https://example.org/limits",
        "<https://example.org/limits>",
        "http://example.org/limits#upper",
        "https://acme.example/returns",
        "www.acme.example",
        "https://wiki.example.org/loki",
        "https://blog.example.org/loki/",
        "https://asked.example.org/page",
        "https://said.example.org/page",
        "http://localhost:3000/login",
        "https://{tenant}.acme.example/sign-in",
        "`https://made.up/page`",
        "help@made.up",
    ],
)
def test_an_address_that_was_given_was_not_made_up(written: str) -> None:
    turns = [Turn(role="assistant", content="As in https://said.example.org/page.")]
    asked = "What is https://asked.example.org/page?"
    findings = find_citations(answer(f"See {written}.", [GIVEN], query=asked, conversation=turns))
    assert findings.valid is True


@pytest.mark.parametrize(
    "written",
    [
        "https://example.org/limit",
        "<https://example.org/limits-2024>",
        "https://example.org/limits/upper",
        "https://other.example.org/limits",
        "www.acme.example/refunds",
        "**https://acme.example/returns.pdf**",
        "(https://blog.example.org/loki?page=2)",
        "\n\n1. https://doi.example.org/10.1/abc",
        "[1]\n\n[1]: https://made.up/page",
    ],
)
def test_an_address_that_nobody_gave_is_unknown_however_it_is_written(written: str) -> None:
    findings = find_citations(answer(f"See {written}", [GIVEN]))
    assert [each.reason for each in findings.invalid_references] == ["unknown_link"]


def test_provided_citations_are_resolved_and_checked() -> None:
    text = "Bearings failed on Monday. Loki failed."
    findings = find_citations(
        answer(
            text,
            citations=[
                ProvidedCitation(chunk_id="c4", start=0, end=26),
                ProvidedCitation(cited_text="The ingester exceeds its limit."),
                ProvidedCitation(number=9),
                ProvidedCitation(chunk_id="nope"),
            ],
        )
    )
    assert [(citation.number, citation.forms) for citation in findings.citations] == [
        (1, ["provided"]),
        (4, ["provided"]),
    ]
    assert [reference.reason for reference in findings.invalid_references] == ["out_of_range", "unknown_record"]
    assert (findings.claims, findings.cited_claims) == (2, 1)


def test_coverage_counts_only_claims_that_need_grounding() -> None:
    findings = find_citations(
        answer(
            "# Cause\n\nHello! Loki fails [1]. It restarts. Shall I go on?\n\n```\ncode [2]\n```\n\n## References\n\n[1] Loki\n"
        )
    )
    assert (findings.claims, findings.cited_claims, findings.coverage) == (2, 1, 0.5)


def test_an_invalid_marker_covers_nothing() -> None:
    assert find_citations(answer("Loki fails [9].")).coverage == 0.0


def test_coverage_counts_claims_and_not_sentences() -> None:
    findings = find_citations(
        answer(
            "Loki was down [1], and the limit is 2 GiB. Bearings failed last Monday; grinder 5 stood for 47 minutes [4]."
        )
    )
    assert (findings.claims, findings.cited_claims) == (4, 3)


def test_the_share_of_recommendations_that_are_cited_is_told() -> None:
    findings = find_citations(answer("Loki fails. Raise the limit to 4 GiB [1]. Restart the pod."))
    assert (findings.recommendations, findings.cited_recommendations) == (2, 1)
    assert findings.recommendation_coverage == 0.5
    assert find_citations(answer("Loki fails.")).recommendation_coverage is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Grinder 3 was down for 47 minutes [Source: daily_summaries/2026-01-04/asset-grinder-5].", "other_entity"),
        ("Grinder 3 was down for 47 minutes [2].", "other_entity"),
        ("Grinder 3 failed. It was down for 47 minutes [2].", "other_entity"),
        ("It was down for 47 minutes on 5 January 2026 [Source: daily_summaries].", "other_time"),
        ("It was down for 47 minutes [Evidence: downtime_minutes at 2026-01-05].", "other_time"),
    ],
)
def test_a_record_of_another_entity_or_time_is_no_source(text: str, reason: str) -> None:
    findings = find_citations(answer(text))
    assert [(reference.reason, reference.number) for reference in findings.invalid_references] == [(reason, 2)]
    assert findings.citations == []
    assert findings.cited_claims == 0


@pytest.mark.parametrize(
    "text",
    [
        "Grinder 5 was down for 47 minutes [2].",
        "Grinder 3 ran better than Grinder 5 [2].",
        "It was down for 47 minutes on 4 January 2026 [2].",
        "In January 2026 it was down for 47 minutes [2].",
        "Grinder 3 needs a higher limit [1].",
        "The bearings failed on 1 December [4].",
    ],
)
def test_a_record_that_says_nothing_else_stays_a_source(text: str) -> None:
    assert find_citations(answer(text)).valid is True


def test_of_several_records_with_a_metric_the_one_of_the_time_is_cited() -> None:
    days = [
        ContextChunk(chunk_id=f"d{day}", content=f'{{"downtime_minutes": {day}}}', record_id=f"2026-01-0{day}")
        for day in (3, 4, 5)
    ]
    findings = find_citations(answer("It stood [Evidence: downtime_minutes at 2026-01-04].", days))
    assert [citation.chunk_id for citation in findings.citations] == ["d4"]


def test_two_contexts_of_one_name_are_two_citations() -> None:
    twice = [ContextChunk(chunk_id="c", content=text) for text in ("Loki needs 2 GiB.", "Loki needs a disk.")]
    findings = find_citations(answer("Loki needs 2 GiB [1]. Loki needs a disk [2].", twice))
    assert len({citation.citation_id for citation in findings.citations}) == 2
    assert findings.citations[0].citation_id == citation_id("default", "a1", "c")


def test_a_memory_carries_its_provenance() -> None:
    preference = ContextChunk(
        chunk_id="m1",
        content="Prefers minutes.",
        source_type="memory",
        record_id="mem-7",
        created_at=datetime(2025, 12, 1, tzinfo=UTC),
        source_event="chat of 30 November",
        learned_at=datetime(2025, 11, 30, tzinfo=UTC),
    )
    citation = find_citations(answer("Times are in minutes [Memory: mem-7].", [preference])).citations[0]
    assert citation.memory_id == "mem-7"
    assert citation.created_at == preference.created_at
    assert citation.source_event == "chat of 30 November"
    assert citation.learned_at == preference.learned_at
    assert citation.display_text == "[1] Memory: mem-7 (learned 2025-11-30)"


class TestStructured:
    """The formats of Anthropic and OpenAI, as their services return them."""

    TEXT = "The ingester exceeds its limit. Bearings failed on Monday."

    def found(self, metadata: dict[str, Any], text: str = TEXT) -> tuple[list[tuple[int, list[str]]], list[str], int]:
        findings = find_citations(answer(text, metadata=metadata))
        cited = [(c.number, [text[s.start : s.end] for s in c.spans]) for c in findings.citations]
        return cited, [reference.reason for reference in findings.invalid_references], findings.cited_claims

    def block(self, text: str, **citation: Any) -> dict[str, Any]:
        return {"type": "text", "text": text, "citations": [citation] if citation else None}

    def test_anthropic_names_a_document_by_its_index_and_quotes_it(self) -> None:
        content = [
            self.block(
                "The ingester exceeds its limit.",
                type="char_location",
                document_index=0,
                document_title=None,
                cited_text="The ingester exceeds its limit.",
                start_char_index=17,
                end_char_index=48,
            ),
            self.block(" "),
            self.block("Bearings failed on Monday."),
        ]
        expected = ([(1, ["The ingester exceeds its limit."])], [], 1)
        assert self.found({"content": content}) == expected
        assert self.found({"response": {"content": content}}) == expected

    def test_anthropic_search_results_are_named_by_source_and_title(self) -> None:
        citation = {
            "type": "search_result_location",
            "source": "https://wiki.example.org/loki/crash-loop.md",
            "title": "Loki crash loop",
            "search_result_index": 5,
            "cited_text": "Loki crash loop.",
        }
        assert self.found({"content": [self.block(self.TEXT[:31], **citation)]})[0] == [(1, [self.TEXT[:31]])]

    def test_a_quotation_that_no_context_has_is_reported(self) -> None:
        citation = {"type": "char_location", "document_index": 0, "cited_text": "Loki needs 64 GiB."}
        cited, reasons, _ = self.found({"content": [self.block(self.TEXT[:31], **citation)]})
        assert (cited, reasons) == ([], ["quote_not_found"])

    def test_openai_file_search_explains_its_marker(self) -> None:
        text = "The ingester exceeds its limit【4:7†source】. Bearings failed."
        annotation = {
            "type": "file_citation",
            "text": "【4:7†source】",
            "start_index": 30,
            "end_index": 42,
            "file_citation": {"file_id": "runbook-1"},
        }
        assert self.found({"annotations": [annotation]}, text) == ([(1, ["【4:7†source】"])], [], 1)
        assert self.found({}, text)[1] == ["out_of_range"]

    def test_openai_url_citations_are_found_by_address(self) -> None:
        inner = {"start_index": 0, "end_index": 31, "url": "https://wiki.example.org/loki/crash-loop.md", "title": "x"}
        nested = {"choices": [{"message": {"annotations": [{"type": "url_citation", "url_citation": inner}]}}]}
        assert self.found(nested)[0] == [(1, [self.TEXT[:31]])]
        flat = {"output": [{"type": "message", "content": [{"type": "output_text", "text": self.TEXT,
                "annotations": [{"type": "url_citation", **inner}]}]}]}  # fmt: skip
        assert self.found(flat)[0] == [(1, [self.TEXT[:31]])]

    def test_openai_files_are_found_by_name_and_unknown_ones_reported(self) -> None:
        known = {"type": "file_citation", "index": 31, "file_id": "file-1", "filename": "crash-loop.md"}
        unknown = {"type": "file_citation", "index": 31, "file_id": "file-2", "filename": "other.md"}
        cited, reasons, claims = self.found({"annotations": [known, unknown]})
        assert ([number for number, _ in cited], reasons, claims) == ([1], ["unknown_record"], 1)

    @pytest.mark.parametrize(
        "metadata",
        [
            {"content": "text", "annotations": {}, "choices": [None, 3], "message": []},
            {"content": [None, {"text": 3}, {"text": "x", "citations": [1, None]}]},
            {"annotations": [{"type": "file_citation"}, {"type": "url_citation", "url_citation": 3}, "x"]},
            {"content": [{"text": "The", "citations": [{"document_index": True}, {"document_index": -4}]}]},
            {"annotations": [{"type": "url_citation", "url": "https://a.b", "start_index": -5, "end_index": 10**9}]},
        ],
    )
    def test_any_other_shape_is_left_alone(self, metadata: dict[str, Any]) -> None:
        assert self.found(metadata)[0] == []


def test_nothing_to_cite_has_no_coverage() -> None:
    assert find_citations(answer("Hello!")).coverage is None


@pytest.mark.parametrize("contexts", [None, []])
def test_without_contexts_every_reference_is_invalid(contexts: list[ContextChunk] | None) -> None:
    text = "Berlin is the capital of France [1]."
    given = GeneratedAnswer(answer_id="a1", answer=text, contexts=contexts, completed_at=DONE)
    findings = find_citations(given)
    assert (findings.status, findings.valid, findings.claims, findings.coverage) == ("ok", False, 1, 0.0)
    assert [(each.marker, each.reason) for each in findings.invalid_references] == [("[1]", "out_of_range")]


@pytest.mark.parametrize("text", ["Hello! How can I help you?", "Thank you."])
def test_without_contexts_an_answer_that_states_nothing_has_no_claims(text: str) -> None:
    findings = find_citations(GeneratedAnswer(answer_id="a1", answer=text, contexts=[], completed_at=DONE))
    assert (findings.claims, findings.coverage, findings.invalid_references) == (0, None, [])


def test_contexts_that_were_withheld_leave_the_references_unchecked() -> None:
    given = GeneratedAnswer(answer_id="a1", answer="Loki [1].", contexts=None, withheld=["contexts"], completed_at=DONE)
    assert find_citations(given).status == "skipped"


def test_an_empty_answer_is_skipped() -> None:
    findings = find_citations(answer(" \n"))
    assert (findings.status, findings.reason) == ("skipped", "the answer is empty")


def test_a_failed_call_is_skipped() -> None:
    assert find_citations(answer("x", status="error")).status == "skipped"


class TestExcerpt:
    def test_short_content_is_whole(self) -> None:
        assert excerpt("Short.") == "Short."

    def test_it_ends_at_the_last_sentence_in_the_second_half(self) -> None:
        first = "A" + "a" * 120 + "."
        assert excerpt(first + " " + "B" * 300) == f"{first} …"

    def test_a_decimal_or_abbreviation_is_no_sentence_end(self) -> None:
        content = "The value of this measurement was found to be " + "x" * 90 + " about 3.5 e.g. " + "y" * 200
        assert excerpt(content).endswith("…")

    def test_an_early_sentence_end_is_not_worth_the_loss(self) -> None:
        assert excerpt("Yes. " + "b" * 300).endswith("…")

    @settings(max_examples=200, deadline=None)
    @given(st.text(max_size=700))
    def test_it_is_never_too_long(self, content: str) -> None:
        assert len(excerpt(content)) <= MAX_EXCERPT + 1


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="[]()^【】SourceEvidnMmy: /12-a.\n`", max_size=150), st.integers(1, 4))
def test_findings_are_consistent_whatever_the_text(text: str, count: int) -> None:
    findings = find_citations(answer(text, [RUNBOOK, SUMMARY, COSTS, MEMORY][:count]))
    if findings.status == "ok":
        cited = {citation.number for citation in findings.citations}
        unused = {source.number for source in findings.unused_sources}
        assert cited | unused == set(range(1, count + 1))
        assert not cited & unused
        assert findings.valid is (not findings.invalid_references)
        assert findings.cited_claims <= findings.claims


@pytest.mark.parametrize(
    "marker",
    [
        *("[Source: 1, 2]", "[Source: 1-2]", "[Source: #1, #2]", "[Source: Document 1, Document 2]", "[Source 1, 2]"),
        *("[Doc 1, Doc 2]", "[cite: 1, 2]", "[1 and 2]", "[1, 2, p. 3]", "[^1^][^2^]"),
    ],
)
def test_numbers_are_citations_however_they_are_listed(marker: str) -> None:
    findings = find_citations(answer(f"The ingester exceeds its limit {marker}."))
    assert [citation.number for citation in findings.citations] == [1, 2]
    assert (findings.valid, findings.coverage) == (True, 1.0)
    wrong = find_citations(answer(f"The ingester exceeds its limit {marker}.", [RUNBOOK]))
    assert (wrong.valid, [each.reason for each in wrong.invalid_references]) == (False, ["out_of_range"])


def test_a_context_with_the_name_of_a_list_is_that_context() -> None:
    record = ContextChunk(chunk_id="x", content="Loki failed.", source_type="database", record_id="1-2")
    assert [
        each.number for each in find_citations(answer("Loki failed [Source: 1-2].", [RUNBOOK, record])).citations
    ] == [2]
