"""References show what is known of a source and cannot be used to forge Markdown."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from schemas.citations import Citation
from workers.decision.reader_text.reference_list import MAX_REFERENCES, format_interactive, format_references

RENDERED = MarkdownIt("commonmark", {"html": True}).enable("table")


def citation(number: int = 1, **fields: Any) -> Citation:
    known = {"citation_id": f"c{number}", "number": number, "chunk_id": f"chunk-{number}", "source_type": "runbook"}
    return Citation.model_validate(known | fields)


LOKI = citation(
    source_name="Loki Crashes",
    source_path="/runbooks/loki/crash-loop.md",
    last_updated=datetime(2025, 10, 15, 8, tzinfo=UTC),
    confidence="high",
    excerpt="Loki crashes when the ingester runs out of memory.",
)


def test_references_have_the_format_of_the_document() -> None:
    assert format_references([LOKI]) == (
        "\n\n## References\n\n"
        "[1] **Runbook**: Loki Crashes\n"
        "    Source: /runbooks/loki/crash-loop.md\n"
        "    Updated: 2025-10-15\n"
        "    Confidence: High\n"
        "    > Loki crashes when the ingester runs out of memory.\n"
    )


def test_no_citation_gives_no_heading() -> None:
    assert format_references([]) == ""


def test_what_is_unknown_is_left_out() -> None:
    assert format_references([citation(source_type="document")]) == "\n\n## References\n\n[1] **Document**: chunk-1\n"


def test_database_record_is_named_by_table_and_record() -> None:
    text = format_references([citation(source_type="database", source_table="daily_summaries", record_id="2026-01-04")])
    assert "Source: daily_summaries/2026-01-04" in text


def test_compact_references_take_one_line_each() -> None:
    text = format_references([LOKI, citation(2)], style="compact")
    assert text == (
        "\n\n## References\n\n- [1] Runbook: Loki Crashes (/runbooks/loki/crash-loop.md)\n- [2] Runbook: chunk-2\n"
    )


@pytest.mark.parametrize(
    ("confidence", "word"), [(0.9, "High"), (0.6, "Medium"), (0.3, "Low"), (1.0, "High"), (0.0, "Low")]
)
def test_confidence_is_shown_as_the_word_it_was_read_from(confidence: float, word: str) -> None:
    assert f"Confidence: {word}\n" in format_references([citation(confidence=confidence)])


HOSTILE = st.text(alphabet=st.sampled_from("a_*`[]()<>!#|&~$\\\n\r\t -=:./1\u202e\u2028\x00"), max_size=60)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_hostile_source_stays_plain_text(name: str, path: str, excerpt: str) -> None:
    entry = citation(source_name=name, source_path=path, excerpt=excerpt)
    tokens = RENDERED.parse(format_references([entry]))
    assert [token.type for token in tokens if not token.type.endswith("_close")] == [
        "heading_open", "inline", "paragraph_open", "inline",
    ]  # fmt: skip
    inline = tokens[4].children or []
    assert {token.type for token in inline} <= {"text", "softbreak", "strong_open", "strong_close", "text_special"}
    assert sum(token.type == "strong_open" for token in inline) == 1


@given(HOSTILE, HOSTILE)
def test_hostile_source_stays_plain_text_in_compact_style(name: str, path: str) -> None:
    entries = [citation(1, source_name=name, source_path=path), citation(2)]
    tokens = RENDERED.parse(format_references(entries, style="compact"))
    assert [token.type for token in tokens].count("list_item_open") == 2
    for token in tokens:
        assert {child.type for child in token.children or []} <= {"text", "softbreak"}


def test_path_stays_readable() -> None:
    assert "/var/log/loki_ingester_0.log" in format_references([citation(source_path="/var/log/loki_ingester_0.log")])


def test_longest_list_of_references_is_bounded_and_says_so() -> None:
    many = [citation(n, source_name="*" * 200, source_path="`" * 2000, excerpt="[" * 200) for n in range(1, 201)]
    text = format_references(many)
    assert len(text) < MAX_REFERENCES + 200
    assert "more sources" in text


def test_interactive_citation_has_the_shape_of_the_document() -> None:
    assert format_interactive([LOKI]) == [
        {
            "id": "citation-1",
            "citation_id": LOKI.citation_id,
            "chunk_id": LOKI.chunk_id,
            "source_table": None,
            "record_id": None,
            "primary": False,
            "number": 1,
            "type": "runbook",
            "title": "Loki Crashes",
            "url": None,
            "excerpt": "Loki crashes when the ingester runs out of memory.",
            "displayText": LOKI.display_text,
            "metadata": {"last_updated": "2025-10-15T08:00:00+00:00", "confidence": 0.9},
        }
    ]


def test_primary_source_is_marked_in_text_and_for_interfaces() -> None:
    cited = [LOKI, citation(2, source_type="database", source_table="daily_summaries", record_id="grinder-5")]
    assert "Loki Crashes (primary source)\n" in format_references(cited, primary={1})
    assert "Loki Crashes (primary source) (" in format_references(cited, style="compact", primary={1})
    first, second = format_interactive(cited, primary={2})
    assert (first["primary"], second["primary"]) == (False, True)
    assert (second["source_table"], second["record_id"]) == ("daily_summaries", "grinder-5")


@pytest.mark.parametrize("path", ["https://wiki.example.org/loki?x=1#top", "http://intranet/loki"])
def test_web_source_links_to_itself(path: str) -> None:
    assert format_interactive([citation(source_path=path)])[0]["url"] == path


@pytest.mark.parametrize(
    "path",
    [
        "", "/runbooks/loki.md", "javascript:alert(1)", "data:text/html,x", "//evil.example", "https://", "ftp://a/b",
        "https://bank.example@evil.example/", "java\nscript:alert(1)", "https://a.example/\u202egpj.exe", "https://[::1",
    ],
)  # fmt: skip
def test_anything_else_gets_no_address(path: str) -> None:
    assert format_interactive([citation(source_path=path)])[0]["url"] is None


def test_a_memory_shows_where_it_comes_from() -> None:
    memory = citation(
        source_type="memory",
        memory_id="mem-7",
        created_at=datetime(2025, 12, 1, tzinfo=UTC),
        source_event="chat # of 30 November\n## x",
    )
    text = format_references([memory])
    assert "    Remembered: 2025-12-01\n    Event: chat # of 30 November ## x" in text
    learned = memory.model_copy(update={"learned_at": datetime(2025, 11, 30, tzinfo=UTC)})
    assert "    Learned: 2025-11-30\n" in format_references([learned])
    assert format_interactive([learned])[0]["metadata"] | {"confidence": None} == {
        "last_updated": learned.last_updated.isoformat() if learned.last_updated else None,
        "confidence": None,
        "memory_id": "mem-7",
        "created_at": "2025-12-01T00:00:00+00:00",
        "source_event": "chat # of 30 November\n## x",
        "learned_at": "2025-11-30T00:00:00+00:00",
    }
