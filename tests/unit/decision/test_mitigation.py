"""Disclaimers are added once and stay readable, whatever the answer contains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from schemas.base import RiskLevel
from schemas.grounding import Claim, ClaimSource, Conflict, EarlierContradiction, EarlierStatement
from schemas.reports import Span
from workers.decision.mitigation import mitigate, note_conflicts, note_earlier_turns
from workers.decision.reader_text.reader_texts import ENGLISH

RISKY: list[RiskLevel] = ["medium", "high"]


def test_disclaimers_are_those_of_the_document() -> None:
    assert mitigate("Text.", ENGLISH.disclaimer("medium")) == (
        "Text.\n\n> **Note**: This response may contain information not fully verified against the source material."
        " Please verify critical details.\n"
    )
    assert mitigate("Text.", ENGLISH.disclaimer("high")) == (
        "Text.\n\n> **Warning**: This response has high hallucination risk. Consider rephrasing your query or requesting"
        " more specific information.\n"
    )


@pytest.mark.parametrize("risk", ["low", None])
@pytest.mark.parametrize("text", ["", "Text.", "```\nopen", "<!-- open"])
def test_answer_without_risk_stays_as_it_is(text: str, risk: RiskLevel | None) -> None:
    assert mitigate(text, ENGLISH.disclaimer(risk)) == text


@given(st.text(max_size=200), st.sampled_from(RISKY))
def test_disclaimer_is_added_once(text: str, risk: RiskLevel) -> None:
    once = mitigate(text, ENGLISH.disclaimer(risk))
    assert once.endswith(ENGLISH.disclaimer(risk))
    assert mitigate(once, ENGLISH.disclaimer(risk)) == once


@pytest.mark.parametrize("risk", RISKY)
@pytest.mark.parametrize(
    "text",
    [
        "```\nopen fence", "````\n```\n", "~~~python\nx = 1\n", "<!-- open comment", "<script>\nalert(1)", "<pre>\nopen",
        "- item\n\n  ```\n  open in a list", "> ```\n> open in a quotation", "```\nclosed\n```", "<![CDATA[ x", "<?php",
    ],
)  # fmt: skip
def test_disclaimer_cannot_be_hidden_by_an_open_block(text: str, risk: RiskLevel) -> None:
    tokens = MarkdownIt("commonmark").parse(mitigate(text, ENGLISH.disclaimer(risk)))
    assert tokens[-1].type == "blockquote_close"


def test_disclaimer_inside_an_open_fence_does_not_count() -> None:
    forged = "```\n" + ENGLISH.disclaimer("high")
    assert mitigate(forged, ENGLISH.disclaimer("high")).count("high hallucination risk") == 2


def test_fallback_says_insufficient_evidence() -> None:
    assert "insufficient evidence" in ENGLISH.fallback.lower()


def source(number: int, excerpt: str) -> ClaimSource:
    span = Span(start=0, end=1)
    return ClaimSource(number=number, chunk_id="c", span=span, excerpt=excerpt, score=0.9, verdict="supported")


def test_conflict_of_sources_is_told_with_both_passages() -> None:
    conflict = Conflict(
        claim_id="1", supporting=source(1, "The dose is 500 mg."), contradicting=source(3, "Give 250 mg.")
    )
    told = note_conflicts("```\n500 mg", [conflict, conflict])
    assert told == (
        "```\n500 mg\n```\n\n> **Note**: The sources disagree. [1] says “The dose is 500 mg.”; [3] says “Give 250 mg.”.\n"
    )
    assert note_conflicts("500 mg", []) == "500 mg"


def test_hostile_passage_of_a_conflict_stays_plain_text() -> None:
    conflict = Conflict(
        claim_id="1", supporting=source(1, "a\n\n# x"), contradicting=source(2, "[y](https://evil.example)")
    )
    (*_, note) = note_conflicts("Text.", [conflict]).splitlines()
    assert note.startswith("> **Note**") and "# x" in note and "\\[y\\]" in note


def test_readers_are_told_what_an_earlier_answer_said_and_what_no_source_says() -> None:
    earlier = EarlierStatement(turn=2, role="assistant", span=Span(start=0, end=9), excerpt="Within *30* days.")
    opposed = EarlierContradiction(claim_id="1", earlier=earlier)
    said = Claim(claim_id="1", span=Span(start=0, end=4), text="Text", kind="factual", verdict="said_before")
    told = note_earlier_turns("Text.", [said], [opposed, opposed])
    assert told.count("Earlier in this conversation") == 1 and "*30*" not in told
    assert told.count("the sources do not say it") == 1
    assert note_earlier_turns("Text.", [said.model_copy(update={"verdict": "supported"})], []) == "Text."
