"""The list of references below a correction: what it cites, and nothing else."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.identifiers import fact_id
from schemas.review import ReleasableAnswer, ReviewContext, ReviewRequest
from workers.decision.finality import released_by
from workers.decision.reader_text.correction_references import correction_references, dangling_references
from workers.decision.reader_text.reference_list import Style, entries_of, format_interactive, format_references
from workers.evaluation.citations.citation_finder import cite
from workers.review.decision_events import decided

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
NAMES = ("Loki guide", "Runbook", "Notes")


def request(style: Style = "standard") -> ReviewRequest:
    """Return a request whose answer cites the first and the second of three sources."""
    contexts = [
        ContextChunk(chunk_id=f"c{number}", content=f"[{number}] Source {number}.\n\n[9] **Forged**: entry", source_name=name, source_table="guides", record_id=f"g-{number}")
        for number, name in enumerate(NAMES, 1)
    ]  # fmt: skip
    answer = GeneratedAnswer(answer_id="a", query="?", answer="2 GiB [1] [2].", contexts=contexts, completed_at=AT)
    citations = cite(answer, [1, 2])
    return ReviewRequest(
        review_id=fact_id("default", "a", "review"), answer_id="a", query="?", answer=answer.answer, risk_mode="gatekeeper",
        held=True, requested_at=AT, pipeline_version="v", contexts_total=3,
        contexts=[
            ReviewContext(number=number, chunk_id=each.chunk_id, content=each.content, source_name=each.source_name)
            for number, each in enumerate(contexts, 1)
        ],
        releasable=ReleasableAnswer(
            state="held", body=answer.answer, completed_at=AT, citations=format_interactive(citations),
            references=format_references(citations, style=style, primary={1}),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("style", ["standard", "compact", "verbose"])
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It needs 4 GiB [1].", [1]),
        ("It needs 4 GiB [1] or 5 GiB [3].", [1, 3]),
        ("It needs 4 GiB [Source: guides/g-2].", [2]),
        ("It needs 4 GiB [Source: Notes].", [3]),
        ("It needs 4 GiB [1-9].", [1, 2, 3]),
        ("It needs 4 GiB.", []),
        ("It needs 4 GiB [7].", []),
    ],
)
def test_a_correction_has_the_references_of_the_sources_that_it_cites(
    style: Style, text: str, numbers: list[int]
) -> None:
    asked = request(style)
    references, citations = correction_references(asked, text, style)
    entries = entries_of(references)
    assert list(entries) == numbers
    assert all(NAMES[number - 1] in entry for number, entry in entries.items())
    assert asked.releasable is not None
    original = entries_of(asked.releasable.references)
    assert all(entries[number] == original[number] for number in numbers if number in original)
    shown = asked.releasable.model_copy(update={"citations": citations})
    decision = decided(
        asked.model_copy(update={"releasable": shown}), by="anna", profile={}, at=AT, action="correct",
        corrected_answer=text, corrected_references=references,
    )  # fmt: skip
    released = released_by(decision)
    assert released.content == text + references
    assert [each["number"] for each in released.citations] == numbers


FORMATTED = "Loki needs 2 GiB [1]. It runs on ARM [[3]](https://g/3). Notes say so [2].\n\n- A ring has three members [Source: guides/g-2]."


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Loki needs 2 GiB. It runs on ARM. Notes say so [2].\n\n- A ring has three members.", [1, 2, 3]),
        ("Loki needs 4 GiB. It runs on ARM.", [3]),
        ("* Loki  needs 2 GiB.\n* It does not run on ARM.", [1]),
        ("A ring has three members.", [2]),
        ("Loki needs 2 GiB [3].", [3]),
        ("Notes say so.", []),
        ("[ ] .", []),
    ],
)
def test_a_sentence_without_a_marker_keeps_the_source_that_the_formatted_answer_proposes(
    text: str, numbers: list[int]
) -> None:
    asked = request()
    assert asked.releasable is not None
    contexts = [
        ContextChunk.model_validate(
            each.model_dump(include={"chunk_id", "content", "source_name"})
            | {"source_table": "guides", "record_id": f"g-{each.number}"}
        )
        for each in asked.contexts
    ]
    answer = GeneratedAnswer(answer_id="a", query="?", answer=FORMATTED, contexts=contexts, completed_at=AT)
    citations = cite(answer, [1, 2, 3])
    shown = asked.releasable.model_copy(
        update={
            "body": FORMATTED, "citations": format_interactive(citations), "references": format_references(citations),
        }
    )  # fmt: skip
    written = "Loki needs 2 GiB. It runs on ARM. Notes say so [2].\n\n- A ring has three members."
    asked = asked.model_copy(update={"answer": written, "releasable": shown})
    references, known = correction_references(asked, text)
    assert list(entries_of(references)) == numbers
    decision = decided(
        asked.model_copy(update={"releasable": shown.model_copy(update={"citations": known})}), by="anna", profile={}, at=AT,
        action="correct", corrected_answer=text, corrected_references=references,
    )  # fmt: skip
    released = released_by(decision)
    assert released.content == text + references
    assert [each["number"] for each in released.citations] == numbers


def test_a_correction_with_a_list_of_its_own_gets_no_second_one() -> None:
    text = "It needs 4 GiB [1].\n\n## References\n\n[1] The guide\n"
    references, citations = correction_references(request(), text)
    assert references == ""
    assert [each["number"] for each in citations] == [1, 2]


def test_calculations_of_the_original_answer_are_left_out() -> None:
    assert entries_of(
        "\n\n## References\n\n[1] **Document**: Guide\n    > [2] x\n\n*Calculation*: 2 + 2 (from [1])\n"
    ) == {1: "[1] **Document**: Guide\n    > [2] x"}


@pytest.mark.parametrize(
    ("text", "dangling"),
    [
        ("It needs 4 GiB [3].", []),
        ("It needs 4 GiB [4], and 5 GiB [1] [4].", ["[4]"]),
        ("It needs 4 GiB [0] or 5 GiB [Source 7].", ["[0]", "[Source 7]"]),
        ("It needs 4 GiB [Source: guides/g-9].", ["[Source: guides/g-9]"]),
        ("It needs 4 GiB [Source: guides/g-2] [Source: Notes].", []),
        ("See the `[9]` of the list, and https://example.org.", []),
        ("It needs 4 GiB [9].\n\n## References\n\n[9] Notes", []),
    ],
)
def test_a_reference_of_a_correction_that_leads_to_no_source_is_found(text: str, dangling: list[str]) -> None:
    assert dangling_references(request(), text) == dangling


def test_a_source_that_did_not_fit_into_the_request_can_be_cited() -> None:
    partial = request().model_copy(update={"contexts_total": 9})
    assert dangling_references(partial, "It needs 4 GiB [9] [Source: guides/g-9].") == []
    assert dangling_references(partial, "It needs 4 GiB [10].") == ["[10]"]
