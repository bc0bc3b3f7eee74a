"""Texts in pages: nothing is lost or moved by marking, and nothing of theirs has power over the page."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workers.console.http.etags import matches
from workers.console.presentation.page_basics import ENVIRONMENT
from workers.console.presentation.rendering import (
    SCROLLED_CODE,
    SCROLLED_TABLE,
    Span,
    answer_runs,
    markdown,
    passage_runs,
    web_address,
)
from workers.console.presentation.views import CitationView, ClaimView
from workers.console.presentation.words import SCORES, level_of
from workers.evaluation.text.visible_text import HOSTILE, KEPT, MAX_SHOWN, visible

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
EMPTY_CITATION = {
    "valid": True, "marker": "", "reason": "", "number": 1, "chunk_id": "c", "source_type": "document",
    "source_name": "", "source_path": "", "source_table": "", "record_id": "", "memory_id": "", "entity": "",
    "display_text": "", "excerpt": "", "confidence": None, "source_digest": "", "forms": [], "last_updated": None,
    "created_at": None, "source_event": "", "learned_at": None,
}  # fmt: skip


def claim(start: int, end: int, verdict: str = "supported") -> ClaimView:
    return ClaimView(
        claim_id=f"{start}-{end}", start=start, end=end, text="", kind="factual", hedged=False, verdict=verdict, score=None,
        mismatches=[], chunk_id="", evidence="", evidence_start=None, evidence_end=None, source_digest="",
        cited_numbers=[], primary_number=None, redundant_numbers=[], proposed_numbers=[], cited_unsupported=[],
        better_number=None, conflicting=False, verifier_score=None,
    )  # fmt: skip


def citation(*spans: tuple[int, int]) -> CitationView:
    return CitationView.model_validate(EMPTY_CITATION | {"citation_id": "c", "spans": spans})


SPANS = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=8)


@given(TEXTS, SPANS, SPANS)
def test_marking_loses_moves_and_doubles_nothing(
    text: str, claims: list[tuple[int, int]], markers: list[tuple[int, int]]
) -> None:
    runs = answer_runs(text, [claim(*span) for span in claims], [citation(*markers)])
    joined = "".join(piece.text for run in runs for piece in run.pieces)
    # A line end of two characters may be cut in two; alone it is shown by its number.
    assert joined.replace("⟨U+000D⟩", "") == visible(text).replace("⟨U+000D⟩", "")


def test_a_run_is_marked_with_its_claim_and_its_markers() -> None:
    text = "It is 4.2 bar [1]. Good 😀 news [AI Inference - mine]."
    first, second = claim(0, 18), claim(19, 53, "unsupported")
    runs = answer_runs(text, [first, second], [citation((14, 17))])
    assert [(run.owner, "".join(piece.text for piece in run.pieces)) for run in runs] == [
        (first, "It is 4.2 bar [1]."), (None, " "), (second, "Good 😀 news [AI Inference - mine]."),
    ]  # fmt: skip
    assert [piece.text for piece in runs[0].pieces if piece.citation] == ["[1]"]
    assert [piece.text for piece in runs[2].pieces if piece.inference] == ["[AI Inference - mine]"]


def test_of_two_claims_that_overlap_the_inner_one_is_shown() -> None:
    outer, inner = claim(0, 10), claim(3, 5)
    assert [run.owner for run in answer_runs("0123456789", [outer, inner], [])] == [outer, inner, outer]


@given(TEXTS, st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), max_size=6))
def test_passages_that_do_not_fit_their_source_are_left_out(text: str, spans: list[tuple[int, int]]) -> None:
    runs = passage_runs(text, [Span(start, end, number) for number, (start, end) in enumerate(spans)])
    fitting = {number for number, (start, end) in enumerate(spans) if 0 <= start < min(end, len(text))}
    # A claim may have its evidence in a passage of another claim: each keeps its own.
    assert {number for run in runs for number in run.owner or ()} == fitting
    assert "".join(piece.text for run in runs for piece in run.pieces) == visible(text)


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_no_control_or_direction_character_reaches_a_page(text: str) -> None:
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) in HOSTILE and c not in KEPT]


def test_a_text_of_a_million_characters_is_cut() -> None:
    assert len(visible("x" * 1_000_000)) == len(visible("é" * 1_000_000)) == MAX_SHOWN


HTML = st.sampled_from(
    [
        "<script>x</script>", "<img src=x onerror=y>", "[a](javascript:x)", "[a](data:text/html,x)", "![i](http://t/x)",
        "[a](//t/x)", "[a](/x)", "<http://t/>", "<javascript:x>", "`<b>`", "\n\n", "    code", "> ", "- ", "| a |\n|-|\n",
        "[r]: javascript:x\n\n[r]", "&lt;script&gt;", "&#106;avascript:x", "[a](JaVaScRiPt:x)", "[a]( javascript:x)",
        "<a href='javascript:x'>", "[a](http://t/\"onmouseover=x)", "<style>*{}</style>", "<!-- -->", "\u202e", "<iframe>",
        "[a](java\nscript:x)", "**b**", "```\n", "<svg/onload=x>", "[a](vbscript:x)", "[a](file:///etc)",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(HTML, TEXTS), max_size=8).map("".join))
@example("    code")
@example("```\ncode\n```")
@example("| a |\n|-|\n| b |")
@settings(max_examples=300)
def test_markdown_makes_no_tag_and_no_address_that_can_do_anything(text: str) -> None:
    # The frames of tables and of code are the console's own; everything else comes from the text.
    html = str(markdown(text)).replace(SCROLLED_TABLE, "<table>").replace(SCROLLED_CODE, "<pre>")
    tags = {tag.lower() for tag in re.findall(r"<\s*/?\s*([a-zA-Z!][^\s>/]*)", html)}
    assert not tags & {
        "script",
        "img",
        "iframe",
        "svg",
        "style",
        "object",
        "embed",
        "form",
        "base",
        "link",
        "meta",
        "!--",
    }
    for attributes in re.findall(r"<[a-zA-Z][a-zA-Z0-9]*\s([^>]*)>", html):
        names = set(re.findall(r'([^\s="]+)="[^"]*"', attributes))
        assert names <= {"href", "rel"}, html
        for address in re.findall(r'href="([^"]*)"', attributes):
            assert re.match(r"https?://", address, re.I), html


def test_only_a_plain_web_address_becomes_a_link() -> None:
    assert web_address("https://docs.example/a?b=c#d") == "https://docs.example/a?b=c#d"
    for path in (
        "javascript:alert(1)", "data:text/html,x", "//docs.example/", "/runbooks/a.md", "http://a\u202eb", " http://a",
        "http://a b", "java\nscript:x", "", "ftp://a", "http://a\x00",
    ):  # fmt: skip
        assert web_address(path) is None, path


def test_a_tag_is_compared_weakly() -> None:
    tag = 'W/"abc"'
    for header in ('W/"abc"', '"abc"', '"x", W/"abc"', "*"):
        assert matches(header, tag), header
    for header in ("", "abc", '"abcd"', 'W/"x"'):
        assert not matches(header, tag), header


@pytest.mark.parametrize(
    ("text", "end", "place"),
    [
        ("One. Two.", 4, 4),
        ("One.\r\nTwo.", 10, 9),
        ("One.\r\nTwo.", 4, 4),
        ("One.\rTwo.", 9, 9),
        ("\nOne.", 5, 4),
        ("\r\nOne.", 6, 4),
        ("\r\n\r\n🙂.", 6, 3),
    ],
)
def test_a_place_of_an_answer_is_found_in_the_text_field_of_its_correction(text: str, end: int, place: int) -> None:
    assert ENVIRONMENT.filters["in_editor"](end, text) == place


@pytest.mark.parametrize(
    ("score", "words"),
    [(1.0, "no contradiction found"), (0.95, "little contradiction found"), (0.5, "medium"), (None, "unknown")],
)
def test_a_correctness_near_one_does_not_read_as_proven(score: float | None, words: str) -> None:
    assert level_of(score, "correctness") == words
    assert level_of(1.0, "faithfulness") == "very high"
    assert "not that the answer is correct" in SCORES["correctness"]
