"""Check the presentation of answers to readers in each state."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import RiskLevel
from schemas.citations import Citation, CitationReport
from schemas.enriched import Decision, EnrichedAnswer, EvaluationResult, FormattedResponse, ReleaseState
from schemas.grounding import Claim, ClaimSource, Conflict, GroundingReport, Verdict
from schemas.quality import QualityReport
from schemas.reports import Span
from workers.decision.reader_text.inline_marks import UngroundedPolicy
from workers.decision.reader_text.presentation import ReaderPolicy, present
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.decision.release_events import released_answer
from workers.evaluation.citations.citation_finder import find_citations

COMPLETED = datetime(2026, 11, 2, 8, 14, 6, tzinfo=UTC)
REPORT: dict[str, Any] = {
    "judgement_id": "j", "answer_id": "a", "pipeline_version": "v", "answer_partition": 0, "answer_offset": 0,
    "judged_at": COMPLETED,
}  # fmt: skip
CITATION = Citation(citation_id="c", number=1, chunk_id="c1", source_type="runbook", source_name="Loki")
REFERENCES = "\n\n## References\n\n[1] **Runbook**: Loki\n"


def shown(
    state: ReleaseState, risk: RiskLevel | None = "low", text: str = "* Loki restarts [1].", citations: int = 1
) -> FormattedResponse:
    answer = GeneratedAnswer(
        answer_id="a", answer=text, completed_at=COMPLETED, contexts=[ContextChunk(chunk_id="c1", content="x")]
    )
    return present(
        answer,
        CitationReport(**REPORT, agent="citations", citations=[CITATION] * citations),
        GroundingReport(**REPORT, agent="grounding", hallucination_risk=risk, suggestions=["Add more citations"]),
        QualityReport(**REPORT, agent="quality", overall_score=0.9),
        Decision(state=state),
    )


def test_released_answer_is_formatted_with_references() -> None:
    response = shown("released")
    assert response.content == "- Loki restarts [1]." + REFERENCES
    assert response.citations == [CITATION]
    assert response.quality_score == 0.9
    assert response.hallucination_risk == "low"
    assert response.suggestions == ["Add more citations"]
    assert response.metadata == {
        "timestamp": "2026-11-02T08:14:06+00:00",
        "model": "unknown",
        "context_chunks": 1,
        "state": "released",
        "style": "standard",
    }


@pytest.mark.parametrize(
    ("risk", "disclaimer"), [("high", "high"), ("medium", "medium"), ("low", "medium"), (None, "medium")]
)
def test_warned_answer_bears_its_disclaimer_above_the_references(risk: RiskLevel | None, disclaimer: RiskLevel) -> None:
    assert shown("warned", risk).content == "- Loki restarts [1]." + ENGLISH.disclaimer(disclaimer) + REFERENCES


@pytest.mark.parametrize("risk", ["high", "medium", "low", None])
@pytest.mark.parametrize("state", ["held", "released"])
def test_other_states_bear_none(state: ReleaseState, risk: RiskLevel | None) -> None:
    assert shown(state, risk).content == "- Loki restarts [1]." + REFERENCES


def test_fallback_shows_nothing_of_the_answer() -> None:
    response = shown("fallback")
    assert response.content == ENGLISH.fallback
    assert "Loki" not in response.content


def test_open_fence_hides_neither_disclaimer_nor_references() -> None:
    content = shown("warned", "high", "```\nls").content
    assert content == "```\nls\n```" + ENGLISH.disclaimer("high") + REFERENCES


def test_answer_without_any_report_is_shown() -> None:
    answer = GeneratedAnswer(answer_id="a", answer="", completed_at=COMPLETED)
    response = present(answer, None, None, None, Decision(state="released"))
    assert response.content == ""
    assert response.quality_score is None
    assert response.hallucination_risk is None


RECORD = ContextChunk(
    chunk_id="c2", content="Loki was down for 12 minutes.", source_type="database", source_table="daily_summaries",
    record_id="loki",
)  # fmt: skip


def released(
    text: str, contexts: list[ContextChunk], policy: ReaderPolicy, *claims: Claim, **fields: Any
) -> FormattedResponse:
    answer = GeneratedAnswer(answer_id="a", answer=text, completed_at=COMPLETED, contexts=contexts)
    grounding = GroundingReport(**REPORT, agent="grounding", hallucination_risk="low", claims=list(claims), **fields)
    report = CitationReport(
        **REPORT, agent="citations", **find_citations(answer).model_dump(exclude={"status", "reason"})
    )
    return present(answer, report, grounding, None, Decision(state="released"), policy=policy)


def claim(text: str, said: str, verdict: Verdict = "supported", **fields: Any) -> Claim:
    start = text.index(said)
    span = Span(start=start, end=start + len(said))
    return Claim(claim_id=said, span=span, text=said, kind="factual", verdict=verdict, **fields)


def test_reference_is_added_to_what_is_attributed() -> None:
    chunks = [ContextChunk(chunk_id="c1", content="x", source_name="Manual"), RECORD]
    text = "Loki was down for 12 minutes. It restarts."
    claims = [
        claim(text, "Loki was down for 12 minutes.", proposed_numbers=[2], primary_number=2, redundant_numbers=[1]),
        claim(text, "It restarts.", proposed_numbers=[1], primary_number=1),
    ]
    response = released(text, chunks, ReaderPolicy(), *claims)
    assert response.content.startswith(
        "Loki was down for 12 minutes [Source: daily_summaries/loki]. It restarts [1].\n\n## References\n\n[1] **Document**: Manual"
    )
    assert "[2] **Database**: c2 (primary source)\n    Source: daily_summaries/loki" in response.content
    assert [citation.forms for citation in response.citations] == [["attributed"], ["attributed"]]
    assert [each["primary"] for each in response.interactive] == [True, True]
    # Read again, the answer cites the same sources.
    again = GeneratedAnswer(
        answer_id="a", answer=response.content.split("##")[0], completed_at=COMPLETED, contexts=chunks
    )
    found = find_citations(again)
    assert found.valid and [citation.citation_id for citation in found.citations] == [
        citation.citation_id for citation in response.citations
    ]
    assert released(text, chunks, ReaderPolicy(inline_citations="link"), *claims).content == text


def test_record_that_shares_its_name_is_proposed_by_its_number() -> None:
    text = "Loki was down for 12 minutes."
    twin = RECORD.model_copy(update={"chunk_id": "c3"})
    named = claim(text, text, proposed_numbers=[2], primary_number=2)
    assert released(text, [RECORD, twin], ReaderPolicy(), named).content.startswith("Loki was down for 12 minutes [2].")
    hostile = RECORD.model_copy(update={"record_id": "x] **y**"})
    first = claim(text, text, proposed_numbers=[1], primary_number=1)
    assert released(text, [hostile], ReaderPolicy(), first).content.startswith("Loki was down for 12 minutes [1].")


def test_conflict_is_told_and_both_sources_are_listed() -> None:
    text = "The dose is 500 mg [1]."
    chunks = [
        ContextChunk(chunk_id="c1", content="The dose is 500 mg."),
        ContextChunk(chunk_id="c2", content="Give 250 mg."),
    ]
    sides = [
        ClaimSource(
            number=n, chunk_id=f"c{n}", span=Span(start=0, end=1), excerpt=chunk.content, score=0.9, verdict="supported"
        )
        for n, chunk in enumerate(chunks, 1)
    ]
    conflict = Conflict(claim_id=text, supporting=sides[0], contradicting=sides[1])
    response = released(text, chunks, ReaderPolicy(inline_citations="keep"), claim(text, text), conflicts=[conflict])
    note = "> **Note**: The sources disagree. [1] says “The dose is 500 mg.”; [2] says “Give 250 mg.”."
    assert response.content.startswith(f"{text}\n\n{note}\n\n\n## References\n\n[1]")
    assert [each["chunk_id"] for each in response.interactive] == ["c1", "c2"]


PEOPLE = (
    "Ada Brecht leads the office in Lyon and has been with the firm since 2009; she speaks French, Dutch and Polish. "
    "Before that she taught at the school of engineering in Ghent for six years. Karl Dahl leads the office in Oslo."
)
LYON, OSLO = PEOPLE.partition(" Before")[0], "Karl Dahl leads the office in Oslo."


@pytest.mark.parametrize(
    ("content", "passage", "quote"),
    [
        (PEOPLE, OSLO, f"… {OSLO}"),
        (f"{'A register of all offices and their heads, ' * 9}Karl Dahl: Oslo.", "Karl Dahl: Oslo.", "… Karl Dahl: Oslo."),
        (f"{PEOPLE} {'It was founded by her uncle. ' * 9}", OSLO, f"… {OSLO} …"),
        (f"{LYON} {'It was founded by her uncle. ' * 9}", LYON, None),
        (OSLO, OSLO, OSLO),
    ],
    ids=["about another", "cut within a sentence", "in the middle", "at the beginning", "the whole source"],
)  # fmt: skip
def test_the_list_of_references_quotes_the_passage_of_the_claim(content: str, passage: str, quote: str | None) -> None:
    text = "Karl Dahl leads it [1]."
    span = Span(start=content.index(passage), end=content.index(passage) + len(passage))
    source = ClaimSource(
        number=1, chunk_id="c1", span=span, excerpt=passage, score=0.9, verdict="supported", cited=True
    )
    found = claim(text, text)
    found = found.model_copy(update={"sources": [source], "cited_numbers": [1]})
    response = released(text, [ContextChunk(chunk_id="c1", content=content)], ReaderPolicy(), found)
    (kept,) = response.citations
    expected = quote or kept.excerpt
    assert f"    > {expected}\n" in response.content
    assert response.interactive[0]["excerpt"] == expected
    assert passage in expected
    assert expected.endswith("…") == (len(content) > 230 and not content.endswith(passage))


def test_the_list_of_references_quotes_the_passages_of_all_claims_in_their_order() -> None:
    rule, ban = "Take the tablets with or without food.", "Patients with penicillin allergy must not take amoxicillin."
    content = f"Amoxicillin is an antibiotic for adults. {'It treats many infections. ' * 9}{rule} It is old. {ban} Keep it dry."
    text = "It must not be taken with an allergy [1]. Take it with food [1]."
    claims = []
    for said, passage in (("It must not be taken with an allergy [1].", ban), ("Take it with food [1].", rule)):
        span = Span(start=content.index(passage), end=content.index(passage) + len(passage))
        source = ClaimSource(number=1, chunk_id="c1", span=span, excerpt=passage, score=0.9, verdict="supported")
        claims.append(claim(text, said, sources=[source], cited_numbers=[1]))
    response = released(text, [ContextChunk(chunk_id="c1", content=content)], ReaderPolicy(), *claims)
    assert response.interactive[0]["excerpt"] == f"… {rule} … {ban} …"


@pytest.mark.parametrize("text", ["- Loki fell.\n", "# Cause\n\nLoki fell.", "Sure! Loki fell. I hope this helps!"])
def test_answer_of_which_nothing_is_left_says_insufficient_evidence(text: str) -> None:
    chunk = ContextChunk(chunk_id="c1", content="x")
    policy = ReaderPolicy(ungrounded_claims="omit")
    response = released(text, [chunk], policy, claim(text, "Loki fell.", "unsupported"))
    assert response.content == ENGLISH.fallback


@pytest.mark.parametrize("unit", ["Note:\n", "x", "aa.The ", "* a\n"])
def test_largest_answer_with_largest_references_fits(unit: str) -> None:
    hostile = [
        CITATION.model_copy(
            update={"source_name": "*" * 200, "source_path": "`" * 2000, "excerpt": "[" * 200, "number": n}
        )
        for n in range(1, 201)
    ]
    answer = GeneratedAnswer(answer_id="a", answer=(unit * 60_000)[:60_000], completed_at=COMPLETED)
    report = CitationReport(**REPORT, agent="citations", citations=hostile)
    response = present(answer, report, None, None, Decision(state="warned"), "verbose")
    assert len(response.content) < 200_000


@pytest.mark.parametrize(("verdict", "said"), [("contradicted", False), ("supported", True)])
def test_a_reference_of_a_contradicted_claim_says_nothing_of_confidence(verdict: Verdict, said: bool) -> None:
    answer = GeneratedAnswer(
        answer_id="a", answer="Loki needs 16 GiB [1].", completed_at=COMPLETED,
        contexts=[ContextChunk(chunk_id="c1", content="Loki needs 2 GiB.", confidence="high")],
    )  # fmt: skip
    claim = Claim(
        claim_id="k", text="Loki needs 16 GiB", span=Span(start=0, end=17), kind="factual", verdict=verdict,
        cited_numbers=[1],
    )  # fmt: skip
    response = present(
        answer,
        CitationReport(**REPORT, agent="citations", citations=[CITATION.model_copy(update={"confidence": 0.9})]),
        GroundingReport(**REPORT, agent="grounding", hallucination_risk="high", claims=[claim]),
        None,
        Decision(state="warned"),
    )
    assert ("Confidence: High" in response.content) == said
    assert ("Confidence" in response.content) == said
    elements = [*response.interactive, *response.interactive_elements["citations"]]
    assert [each["metadata"]["confidence"] for each in elements] == [0.9 if said else None] * 2


@pytest.mark.parametrize("ungrounded", ["keep", "mark", "omit"])
@pytest.mark.parametrize("state", ["released", "warned", "fallback"])
def test_a_formatted_text_without_room_in_the_record_is_formatted_again(
    ungrounded: UngroundedPolicy, state: ReleaseState
) -> None:
    text = "Loki needs 2 GiB [1]. Loki was written by elves."
    answer = GeneratedAnswer(
        answer_id="a",
        answer=text,
        completed_at=COMPLETED,
        contexts=[ContextChunk(chunk_id="c1", content="Loki needs 2 GiB.")],
    )
    report = CitationReport(**REPORT, agent="citations", **find_citations(answer).model_dump())
    grounding = GroundingReport(
        **REPORT, agent="grounding", hallucination_risk="medium",
        claims=[claim(text, "Loki needs 2 GiB [1].", cited_numbers=[1]), claim(text, "Loki was written by elves.", "unsupported")],
    )  # fmt: skip
    decision, policy = (
        Decision(state=state),
        ReaderPolicy(ungrounded_claims=ungrounded, url_rules={"*": "/s/{chunk_id}"}),
    )
    whole = EnrichedAnswer(
        answer_id="a", pipeline_version="v", answer_partition=0, answer_offset=0, answer=answer, risk_mode="observer",
        citations=report, grounding=grounding, evaluation=EvaluationResult(), decision=decision, enriched_at=COMPLETED,
        formatted=present(answer, report, grounding, None, decision, "academic", policy),
    )  # fmt: skip
    bare = whole.model_copy(update={"formatted": None})
    given = {"style": "academic", "reader": policy}
    content = released_answer(bare, COMPLETED, **given).content  # type: ignore[arg-type]
    assert content == released_answer(whole, COMPLETED, **given).content  # type: ignore[arg-type]
    assert content is not None
    assert ("elves" in content) == (ungrounded != "omit" and state != "fallback")


SYSTEMS = ContextChunk(chunk_id="c1", content="Lumen runs on Windows 11 and macOS 14 or later. It costs 80 euros.")


@pytest.mark.parametrize(
    ("text", "said", "passage", "finish_reason"),
    [
        ("Lumen runs on Windows and needs", "Lumen runs on Windows and needs", (0, 47), "length"),
        ("Lumen costs 80 euros and needs the", "Lumen costs 80 euros and needs the", (48, 66), None),
        ("Lumen runs on Windows and macOS [3].", "Lumen runs on Windows and macOS [3].", (0, 47), "stop"),
        ("Lumen runs on Windows and macOS. [3]", "Lumen runs on Windows and macOS.", (0, 47), "stop"),
        ("Lumen runs on Linux, Windows and macOS.", "Lumen runs on Linux, Windows and macOS.", (0, 47), "stop"),
        ("Lumen costs 90 euros.", "Lumen costs 90 euros.", (48, 66), "stop"),
        ("Lumen costs 80 euros.", "Lumen costs 80 euros.", (0, 47), "stop"),
    ],
)
def test_no_source_is_proposed_that_would_mislead(
    text: str, said: str, passage: tuple[int, int], finish_reason: str | None
) -> None:
    assert "[1]" not in _proposed_after(text, said, passage, finish_reason).content


@pytest.mark.parametrize(
    ("text", "said", "passage", "finish_reason"),
    [
        ("Lumen runs on Windows and macOS. It needs", "Lumen runs on Windows and macOS.", (0, 47), "length"),
        ("Lumen costs 80 euros.", "Lumen costs 80 euros.", (48, 66), "stop"),
        ("Lumen runs on macOS 14.", "Lumen runs on macOS 14.", (0, 47), None),
    ],
)
def test_a_source_that_has_all_is_proposed(
    text: str, said: str, passage: tuple[int, int], finish_reason: str | None
) -> None:
    assert "[1]" in _proposed_after(text, said, passage, finish_reason).content


def _proposed_after(text: str, said: str, passage: tuple[int, int], finish_reason: str | None) -> FormattedResponse:
    """Release an answer with one claim that the evaluation wants to rest on the first source."""
    span = Span(start=passage[0], end=passage[1])
    source = ClaimSource(number=1, chunk_id="c1", span=span, excerpt="x", score=0.7, verdict="supported")
    about = claim(text, said, proposed_numbers=[1], primary_number=1, sources=[source])
    answer = GeneratedAnswer(
        answer_id="a", answer=text, completed_at=COMPLETED, contexts=[SYSTEMS], finish_reason=finish_reason
    )
    grounding = GroundingReport(**REPORT, agent="grounding", hallucination_risk="low", claims=[about])
    found = find_citations(answer).model_dump(exclude={"status", "reason"})
    report = CitationReport(**REPORT, agent="citations", **found)
    return present(answer, report, grounding, None, Decision(state="released"))


def test_a_reference_that_leads_nowhere_is_noted() -> None:
    response = released("Lumen runs on Windows [3]. It is old [4][3].", [SYSTEMS], ReaderPolicy())
    assert response.content.endswith("\n\n> **Note**: No source belongs to \\[3\\], \\[4\\].\n")
